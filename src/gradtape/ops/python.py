"""Python functions as ops. They run outside of the op, where their exceptions and their warnings
are their own: `results` hands on what they gave, `function` is what the user wrote."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from .declare import op
from .reasons import Discrete


def _forward(*arrays: Any, results: Any, **_: Any) -> tuple:
    return results(*arrays)


def _function(name: str, label: str, pull: Any, params: tuple[str, ...], **more: Any) -> Op:
    return op(
        name, _forward, pull, label=label, params=params, real=True,
        shape=lambda *shapes, **_: None,  # only the function knows
        **more,
    )  # fmt: skip


numpy_function = _function(
    "numpy_function", "PyFunc", Discrete("a Python function on arrays has no derivative"),
    ("function", "results"),
    sample=lambda d: [([d()], {"function": np.sin, "results": lambda a: (np.sin(a),)})],
)  # fmt: skip
py_function = _function(
    "py_function", "EagerPyFunc", lambda g, pull: pull(g), ("function", "results", "pull"),
    joint=True,
    sample=lambda d: [
        ([d()], {
            "function": np.negative, "results": lambda a: (-a,), "pull": lambda g: [-g[0]],
        })
    ],
)  # fmt: skip
