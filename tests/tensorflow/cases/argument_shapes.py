"""Every function with operands of other shapes: empty ones, scalars, a rank too many or too few."""

from __future__ import annotations

from typing import Any

from tests.tensorflow.cases._tables import ROWS, X, ask
from tests.tensorflow.harness import cases

CHANGES = {
    "scalar": lambda shape: (),
    "empty": lambda shape: (0,),
    "no_rows": lambda shape: (0, *shape[1:]),
    "no_columns": lambda shape: (*shape[:-1], 0),
    "deeper": lambda shape: (1, *shape),
    "flatter": lambda shape: shape[1:],
    "longer": lambda shape: (*shape[:-1], shape[-1] + 1) if shape else (2,),
}


# TensorFlow gives back memory that it has not written.
UNDEFINED = [
    "\n    nn.depthwise_conv2d.input no_rows ",
    " nn.depthwise_conv2d.filter no_columns ",
    "\n    nn.separable_conv2d.input no_rows ",
    " nn.separable_conv2d.depthwise_filter no_columns ",
    "\n    nn.conv3d_transpose no_columns\n",
]
_UNDEFINED = {tuple(one.split()) for one in UNDEFINED}


def _undefined(name: str, change: Any) -> bool:
    return any((name, label) in _UNDEFINED for label, one in CHANGES.items() if one is change)


def _changed(value: Any, change: Any) -> Any:
    if isinstance(value, X):
        return value.like(change(value.shape))
    if isinstance(value, list | tuple):
        return type(value)(_changed(item, change) for item in value)
    return value


@cases(
    excuses=True,
    op={f"{name}.{key}": (row, key) for name, row in ROWS.items() for key in row.operands},
    change=CHANGES,
)
def of_shape(tf, op, change):
    row, key = op
    if _undefined(f"{row.name}.{key}", change):
        return None
    given = {**row.args, key: _changed(row.args[key], change)}
    return ask(tf, row, given, row.dtype or "float32", min(row.order, 1))


@cases(
    excuses=True,
    op={name: row for name, row in ROWS.items() if len(row.operands) > 1},
    change=CHANGES,
)
def all_of_shape(tf, op, change):
    if _undefined(op.name, change):
        return None
    given = {key: _changed(value, change) for key, value in op.args.items()}
    return ask(tf, op, given, op.dtype or "float32", min(op.order, 1))
