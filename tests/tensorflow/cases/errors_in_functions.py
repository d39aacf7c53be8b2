"""The exceptions of wrong arguments inside of a function, whose shapes and dtypes are known before
anything is computed: TensorFlow raises other types there than in eager code."""

from __future__ import annotations

from typing import Any

from tests.tensorflow.cases._common import fill, named
from tests.tensorflow.cases._tables import ROWS, Of, Row, X, materialise
from tests.tensorflow.harness import attempt, cases

WRONG: dict[str, Any] = {
    "wide": Of(lambda tf: tf.constant(fill((2, 3)), tf.float64)),
    "whole": Of(lambda tf: tf.constant([[1, 2, 0], [0, 1, 1]])),
    "texts": Of(lambda tf: tf.constant([["a", "b", "c"]] * 2)),
    "truths": Of(lambda tf: tf.constant([True, False])),
    "number": Of(lambda tf: tf.constant(2.5)),
    "row": X((7,)),
    "rows": X((5, 7)),
    "deep": X((2, 1, 3, 1, 2)),
}


@cases(op={name: row for name, row in ROWS.items() if row.operands and name != "gather"})
def raised(tf: Any, op: Row) -> Any:
    """The type of what is raised for each wrong operand, or that there is none.

    Not of `gather`, whose gradient of texts ends TensorFlow's process.
    """
    return {
        f"{key}={label}": _type(attempt(lambda key=key, value=value: _asked(tf, op, key, value)))
        for key in op.operands
        for label, value in WRONG.items()
    }


def _type(answer: Any) -> str:
    return type(answer).__name__ if isinstance(answer, Exception) else "a value"


def _asked(tf: Any, op: Row, key: str, value: Any) -> Any:
    operands: list[Any] = []
    given = {
        name: materialise(tf, one, op.dtype or "float32", operands)
        for name, one in {**op.args, key: value}.items()
    }
    inputs = given.pop("*", [])
    tensors = {name: one for name, one in given.items() if tf.is_tensor(one)}

    @tf.function(autograph=False)
    def call(inputs: Any, tensors: Any) -> Any:
        answer = named(tf, op.name)(*inputs, **{**given, **tensors})
        # All of it: TensorFlow drops what nobody asks for, with its errors.
        return [one for one in tf.nest.flatten(answer, True) if tf.is_tensor(one)]

    return call(inputs, tensors)
