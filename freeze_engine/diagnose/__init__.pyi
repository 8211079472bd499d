"""What this room exports, beyond what `freeze_engine` itself does, and the modules that define it."""

from .bisection.result import (
    Culprit as Culprit,
    GuiltyRewrite as GuiltyRewrite,
    Probe as Probe,
    Reproduction as Reproduction,
    bisection_json as bisection_json,
)
