"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .change_kinds import (
    CHANGES as CHANGES,
    ChangeKind as ChangeKind,
)
from .check import (
    CheckedRow as CheckedRow,
    check_sweep as check_sweep,
)
from .compare import (
    SweepChange as SweepChange,
    SweepDiff as SweepDiff,
    diff_sweeps as diff_sweeps,
)
from .folder import (
    Sweep as Sweep,
    is_sweep as is_sweep,
    read_sweep as read_sweep,
)
from .machine_lock import (
    WAITING_FOR_ANY as WAITING_FOR_ANY,
    WAITING_FOR_MEASURING as WAITING_FOR_MEASURING,
)
from .plan import (
    PlannedRow as PlannedRow,
    PythonEnvironment as PythonEnvironment,
    SweepPlan as SweepPlan,
)
from .plan_file import (
    read_plan as read_plan,
)
from .row import (
    SweepRow as SweepRow,
    row_columns as row_columns,
)
from .run import (
    SweepOptions as SweepOptions,
    run_sweep as run_sweep,
)
from .table import (
    can_write_table as can_write_table,
)
from .watcher import (
    SweepWatcher as SweepWatcher,
)
