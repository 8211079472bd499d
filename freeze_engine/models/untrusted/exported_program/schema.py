"""Allowed contents of an exported program: torch's schema, with a rule for each text, number and name.

The schema is that of ``torch/_export/serde/schema.py``, from torch 2.6 (8.3) to 2.13 (8.20). What only says where a
node comes from is left out: torch looks operators up by some of it, and writes some of it into sources.
"""

from __future__ import annotations

from typing import Any

from freeze_engine.models.untrusted.exported_program.rules import (
    Rule,
    boolean,
    integer,
    left_out,
    listed,
    mapped,
    maybe,
    number,
    record,
    refused,
    union,
)
from freeze_engine.models.untrusted.exported_program.texts import (
    dotted_path,
    guard_text,
    identifier,
    identifier_or_none,
    matching,
    message,
    operator,
    option,
    size_text,
    symbol,
)
from freeze_engine.models.untrusted.exported_program.tree_specs import input_spec, output_spec

_device = record({"type": matching(r"[a-z]{2,15}")}, {"index": maybe(integer)})
_hint = union(as_int=integer, as_bool=boolean, as_float=number)
_expression = record({"expr_str": size_text}, {"hint": maybe(_hint)})
_sym_int = union(as_expr=_expression, as_int=integer)
_sym_float = union(as_expr=_expression, as_float=number)
_sym_bool = union(as_expr=_expression, as_bool=boolean)

tensor_meta = record(
    {
        "dtype": integer,
        "sizes": listed(_sym_int),
        "requires_grad": boolean,
        "device": _device,
        "strides": listed(_sym_int),
        "storage_offset": _sym_int,
        "layout": integer,
    }
)

_sym_int_argument = union(as_name=identifier, as_int=integer)
_sym_float_argument = union(as_name=identifier, as_float=number)
_sym_bool_argument = union(as_name=identifier, as_bool=boolean)
_tensor = record({"name": identifier_or_none})
_optional_tensor = union(as_tensor=_tensor, as_none=boolean)
_custom_object = refused("an object that is not a tensor")


def _graph_argument(value: Any) -> Any:
    return record({"name": identifier, "graph": _graph})(value)


def _arguments(text: Rule) -> dict[str, Rule]:
    """Returns the rules for all kinds of arguments.

    Args:
        text: the rule for texts.
    """
    return {
        "as_none": boolean,
        "as_tensor": _tensor,
        "as_tensors": listed(_tensor),
        "as_int": integer,
        "as_ints": listed(integer),
        "as_float": number,
        "as_floats": listed(number),
        "as_string": text,
        "as_strings": listed(text),
        "as_sym_int": _sym_int_argument,
        "as_sym_ints": listed(_sym_int_argument),
        "as_scalar_type": integer,
        "as_memory_format": integer,
        "as_layout": integer,
        "as_device": _device,
        "as_bool": boolean,
        "as_bools": listed(boolean),
        "as_sym_bool": _sym_bool_argument,
        "as_sym_bools": listed(_sym_bool_argument),
        "as_graph": _graph_argument,
        "as_optional_tensors": listed(_optional_tensor),
        "as_custom_obj": _custom_object,
        "as_operator": operator,
        "as_sym_float": _sym_float_argument,
        "as_sym_floats": listed(_sym_float_argument),
        "as_optional_tensor": _optional_tensor,
        "as_complex": record({"real": number, "imag": number}),
        "as_nested_tensors": listed(listed(_tensor)),
        "as_int_lists": listed(listed(integer)),
        "as_float_lists": listed(listed(number)),
        "as_string_to_argument": mapped(identifier, lambda value: _argument(value)),
    }


_argument = union(**_arguments(option))
_assertion = union(**_arguments(message))


def _named_argument(value: Any) -> Any:
    name = value.get("name") if type(value) is dict else None
    rule = _assertion if name == "assert_msg" else _argument
    return record({"name": identifier_or_none, "arg": rule}, {"kind": maybe(integer)})(value)


_node = record(
    {"target": operator, "inputs": listed(_named_argument), "outputs": listed(_argument), "metadata": left_out({})},
    {"is_hop_single_tensor_return": maybe(boolean), "name": maybe(identifier)},
)


def _graph(value: Any) -> Any:
    return _graph_record(value)


_graph_record = record(
    {
        "inputs": listed(_argument),
        "outputs": listed(_argument),
        "nodes": listed(_node),
        "tensor_values": mapped(identifier, tensor_meta),
        "sym_int_values": mapped(identifier, _sym_int),
        "sym_bool_values": mapped(identifier, _sym_bool),
    },
    {
        "is_single_tensor_return": boolean,
        "custom_obj_values": mapped(identifier, _custom_object),
        "sym_float_values": mapped(identifier, _sym_float),
    },
)

_constant = union(as_none=boolean, as_int=integer, as_float=number, as_string=option, as_bool=boolean)
_token = record({"name": identifier_or_none})


def _lifted(name: str, **more: Rule) -> Rule:
    """Returns a rule for a tensor of the graph that stands for one of the module."""
    return record({"arg": _tensor, name: dotted_path, **more})


_input_spec = union(
    user_input=record({"arg": _argument}),
    parameter=_lifted("parameter_name"),
    buffer=_lifted("buffer_name", persistent=boolean),
    tensor_constant=_lifted("tensor_constant_name"),
    custom_obj=_custom_object,
    token=record({"arg": _token}),
    constant_input=record({"name": identifier_or_none, "value": _constant}),
)
_output_spec = union(
    user_output=record({"arg": _argument}),
    loss_output=record({"arg": _tensor}),
    buffer_mutation=_lifted("buffer_name"),
    gradient_to_parameter=_lifted("parameter_name"),
    gradient_to_user_input=_lifted("user_input_name"),
    user_input_mutation=_lifted("user_input_name"),
    token=record({"arg": _token}),
    parameter_mutation=_lifted("parameter_name"),
)
_call_signature = record(
    {"inputs": listed(_argument), "outputs": listed(_argument), "in_spec": input_spec, "out_spec": output_spec},
    {"forward_arg_names": maybe(listed(identifier))},
)
_module = record(
    {
        "graph": _graph,
        "signature": record({"input_specs": listed(_input_spec), "output_specs": listed(_output_spec)}),
        "module_call_graph": listed(record({"fqn": dotted_path}, {"signature": maybe(_call_signature)})),
    },
    {"metadata": left_out({}), "treespec_namedtuple_fields": left_out({})},
)

exported_program = record(
    {
        "graph_module": _module,
        "opset_version": mapped(matching(r"\w{1,40}"), integer),
        "range_constraints": mapped(symbol, record({"min_val": maybe(number), "max_val": maybe(number)})),
        "schema_version": record({"major": integer, "minor": integer}),
    },
    {
        "verifiers": listed(matching(r"ATEN|TRAINING")),
        "torch_version": matching(r"[\w.+<=-]{1,100}"),
        "guards_code": listed(guard_text),
    },
)


def _not_pickled(value: Any) -> Any:
    return value if value is False else refused("something pickled that is not a tensor")(value)


def payloads(is_there: Rule) -> Rule:
    """Returns a rule for what says which file holds which weight.

    Args:
        is_there: a rule for the name of a file.
    """
    payload = record(
        {
            "path_name": is_there,
            "is_param": boolean,
            "use_pickle": _not_pickled,
            "tensor_meta": tensor_meta,
        }
    )
    return record({"config": mapped(dotted_path, payload)})
