"""Which models are opened in a sandbox, and what it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from freeze_engine.worker import sandbox


def test_a_float_model_is_confined_and_seen_as_the_model_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sandbox.Sandbox("bwrap", "1.0", ())
    monkeypatch.setattr(sandbox, "find_sandbox", lambda: made)
    model, float_model = tmp_path / "model.pt", tmp_path / "float.pt"
    for path in (model, float_model):
        path.touch()

    def confinement(spec: str, other: str | None) -> sandbox.Confinement | None:
        return sandbox.confinement_of(spec, (), float_model=other, trusted=False, sandbox=None)

    assert confinement("example:mlp", None) is None
    assert confinement("example:mlp", "example:mlp") is None
    assert confinement("example:mlp", str(float_model)) == sandbox.Confinement(made, (float_model,))
    assert confinement(str(model), str(float_model)) == sandbox.Confinement(made, (model, float_model))
