"""Texts of advice on preserved attributes. An attribute freezes when the user follows the advice on it.

``tests/torch/test_advice.py`` follows every one of them.
"""

from __future__ import annotations

from typing import Final

TEXTS: Final = {
    "not_assigned": "in {places} do not assign {path}: keep the new value in a local variable, or return it",
    "written_and_assigned": "in {places} neither write to {path} nor assign it: compute the new value out of place "
    "(b + x, not b += x), and keep it in a local variable, or return it",
    "traced": "trace the model (torch.jit.trace), which records no assignment, since {places} is in the installed "
    "package {package}, or put a layer of your own in its place",
    "clone": "in {places} write to a clone of {what} (.clone()), or use the out-of-place operator",
    "copy": "in {places} write to a copy of {what} (.copy())",
    "wildcard": "in {places} write to a clone, or use the out-of-place operator: torch cannot tell that "
    "{path} is not what is written",
    "wildcard_copy": "in {places} write to a copy (.copy()): torch cannot tell that {path} is not what is written",
    "taken": "in {places} give the operator a clone of {path} (.clone()), or register it with alias information, "
    "without which torch assumes that it writes what it takes",
    "waited": "call directly what torch.jit.fork runs, without the wait in {places}",
    "statistics": "call .eval() on the model and trace it (torch.jit.trace): then a constant says that the instance "
    "norm in {places} writes no running statistics",
    "with_owner": "free {other}, too, which keeps the submodule around both",
    "not_inplace": "call {what} in the place of the layer or function that writes in {places}, whose branch for "
    "inplace=True torch compiles in any case, or trace the model (torch.jit.trace) with inplace=False",
    "own_layer": "put a layer of your own in the place of the one that writes in {places}, which is in the installed "
    "package {package}",
    "own_layer_or_traced": "trace the model (torch.jit.trace) if your calls do not take the branch that writes in "
    "{places}, which is in the installed package {package}, or put a layer of your own in its place",
    "evaluation": "call .eval() on {what} before it is scripted and frozen",
    "evaluation_traced": "call .eval() on {what} before it is traced: a trace keeps the mode that it was made in",
    "wrapped": "freeze a module of your own whose forward calls this one, or name a method of it in preserved_attrs",
    "same_tensor": "free {other}, too, which is the same tensor",
    "own_memory": "give {what} memory of its own (.clone() when the module is built)",
    "own_class": "give {owner} a class of its own (a subclass is one), or free {other}, too",
    "own_class_around": "free {other}, too, a slot of the same class",
    "single_attributes": "name the attributes that must stay in preserved_attrs, instead of the submodule {other}",
    "dense": "hold {path} dense (.to_dense() when the module is built)",
    "detached": "detach the tensors in {path} (.detach() when the module is built)",
    "constant_type": "hold {path} in a type TorchScript has constants for: a tensor, number or string, or a list, "
    "tuple or dictionary of these",
    "straight": "read what you need of {path} straight from self, not through a variable that may be one of several "
    "modules",
    "not_returned": "do not return {path} from {method}",
    "not_returned_of_class": "do not return {other} from {method}, or give {path} a class of its own (a subclass is "
    "one)",
    "no_any": "do not return a value of type Any from {method}",
    "not_assigned_to": "do not assign {path} to another attribute in {method}",
    "not_in_fork": "call {path} outside of torch.jit.fork, or declare it by its class instead of an interface",
    "unforked": "call {path} outside of torch.jit.fork",
    "not_collected": "do not return or collect the submodule {path} in {method}",
}
"""Texts by name, with placeholders in braces."""


def text(name: str, **names: str) -> str:
    """Returns a text, filled in.

    Args:
        name: its key in `TEXTS`.
        names: values of the placeholders; paths come unquoted and are inserted quoted.
    """
    quoted = {key: repr(value) if key in ("path", "other", "owner") else value for key, value in names.items()}
    return TEXTS[name].format(**quoted)
