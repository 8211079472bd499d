"""Finds the error of a quantised layer against the float model."""

from __future__ import annotations

from collections.abc import Sequence

from freeze_engine.trace import LayerError, Trace


class LayerErrors:
    """The errors of a trace, by layer and by attribute.

    Args:
        trace: the recording.
    """

    def __init__(self, trace: Trace) -> None:
        self._held = {fate.path for fate in trace.attributes}
        self._by_layer: dict[str, LayerError] = {}
        self._by_weight: dict[str, LayerError] = {}
        for error in trace.layer_errors:
            self._by_layer.setdefault(error.layer, error)
            for path in error.weights:
                self._by_weight.setdefault(path, error)

    def of(self, name: str, weights: Sequence[str]) -> LayerError | None:
        """Returns the error of a layer, found by the attributes of its weight, else by its path.

        Args:
            name: of the layer; several that one module computes have the same.
            weights: paths of the attributes that its weight is made of; of a tensor subclass those of the tensors
                inside.
        """
        for weight in weights:
            path = weight
            while path:
                if path in self._by_weight:
                    return self._by_weight[path]
                path = path.rpartition(".")[0]
        found = self._by_layer.get(name)
        is_another = found is not None and weights and not self._held.isdisjoint(found.weights)
        return None if is_another else found
