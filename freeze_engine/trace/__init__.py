"""The recording as plain data: what a freeze did, pass by pass.

Nothing here imports torch or touches files. Every type is frozen, compares by value, and holds only
strings, numbers, booleans, ``None``, tuples and other types of this package, so that a trace can be
hashed, compared, serialised (`freeze_engine.serde`) and read on a machine without torch.

A trace is taken from here, whichever module has the type: ``from freeze_engine.trace import Step``.
"""

from freeze_engine.trace.aliases import (
    AliasAnalysis as AliasAnalysis,
    AliasEntry as AliasEntry,
    Write as Write,
)
from freeze_engine.trace.attributes import (
    ASSUMED as ASSUMED,
    AttributeFate as AttributeFate,
    AttributeKind as AttributeKind,
    ChainLink as ChainLink,
    Evidence as Evidence,
    Fate as Fate,
    Location as Location,
    Reason as Reason,
)
from freeze_engine.trace.baselines import (
    BASELINES as BASELINES,
    COMPILED_FROZEN as COMPILED_FROZEN,
    COMPILED_UNFROZEN as COMPILED_UNFROZEN,
    EAGER as EAGER,
    PACKAGED as PACKAGED,
    SCRIPTED as SCRIPTED,
)
from freeze_engine.trace.environment import (
    Environment as Environment,
    Failure as Failure,
    InputSpec as InputSpec,
    Notice as Notice,
)
from freeze_engine.trace.graph import (
    Block as Block,
    Constant as Constant,
    GraphSnapshot as GraphSnapshot,
    Node as Node,
    Value as Value,
    ValueSummary as ValueSummary,
    graph_lines as graph_lines,
    node_line as node_line,
)
from freeze_engine.trace.measurements import (
    Baseline as Baseline,
    Claim as Claim,
    Contribution as Contribution,
    Interval as Interval,
    Latency as Latency,
    LayerError as LayerError,
    Numerics as Numerics,
    OutputError as OutputError,
    Payoff as Payoff,
)
from freeze_engine.trace.notice_codes import (
    FACT_CODES as FACT_CODES,
    NOTICE_CODES as NOTICE_CODES,
    NoticeCode as NoticeCode,
)
from freeze_engine.trace.package import (
    Package as Package,
    PackagedConstant as PackagedConstant,
)
from freeze_engine.trace.post_freeze import (
    Check as Check,
    MemoryLedger as MemoryLedger,
)
from freeze_engine.trace.programs import (
    Kernel as Kernel,
    Program as Program,
    ProgramPass as ProgramPass,
)
from freeze_engine.trace.rewrites import (
    NearMiss as NearMiss,
    Rewrite as Rewrite,
)
from freeze_engine.trace.runtime import (
    RuntimeGraph as RuntimeGraph,
    RuntimeKernel as RuntimeKernel,
    RuntimeTime as RuntimeTime,
)
from freeze_engine.trace.source import (
    CallPath as CallPath,
    SourceLines as SourceLines,
    SourceRef as SourceRef,
)
from freeze_engine.trace.steps import (
    Backend as Backend,
    GraphInput as GraphInput,
    Origin as Origin,
    Step as Step,
    Trace as Trace,
)
