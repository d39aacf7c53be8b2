"""Every function with operands of every dtype: value and gradient, or the exception."""

from __future__ import annotations

from tests.tensorflow.cases._tables import DTYPES, ROWS, ask
from tests.tensorflow.harness import cases


@cases(excuses=True, op={name: row for name, row in ROWS.items() if row.operands}, dtype=DTYPES)
def of_dtype(tf, op, dtype):
    return ask(tf, op, op.args, dtype, min(op.order, 1))
