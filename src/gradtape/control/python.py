"""`tf.py_function` and `tf.numpy_function`: Python code as one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..autodiff.custom import custom_gradient, paused
from ..autodiff.tape import GradientTape
from ..framework import convert
from ..framework.shapes import TensorSpec

# How TensorFlow's runtime reports what Python raised.
_REPORTED = (
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    ((TypeError, ValueError), errors.InvalidArgumentError),
)


def _missing(name: str) -> TypeError:
    return TypeError(
        f"Missing required argument: 'Tout'\n  If using {name} as a decorator, set `Tout`\n  **by "
        f"name** above the function:\n  `@{name}(Tout=tout)`"
    )


def py_function(
    func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None, name: Any = None
) -> Any:
    """Call a function of tensors; its results have the dtypes `Tout`.

    As in TensorFlow, gradients reach the tensors in `inp` and nothing else that `func` uses, and
    there are no second derivatives; call `func` itself to have both.
    """
    if Tout is None:
        raise _missing("tf.py_function")
    if func is None:
        return lambda f: lambda *args: py_function(f, args, Tout)
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    several = isinstance(Tout, (list, tuple))
    wanted = [_dtype(t) for t in (Tout if several else [Tout])]
    inputs = [convert.to_tensor(one) for one in inp]
    with paused(), GradientTape(persistent=True) as tape:
        tape.watch([x for x in inputs if _floating(x)])
        results = _results(func, inputs, wanted)
    if any(_floating(r) for r in results):
        followed = iter(_with_slopes(tape, inputs, [r for r in results if _floating(r)]))
        results = [next(followed) if _floating(r) else r for r in results]
    return results if several else results[0]


def _floating(x: Any) -> bool:
    return x._value.dtype.kind in "fcV"


def _dtype(given: Any) -> np.dtype:
    found = given.dtype if isinstance(given, TensorSpec) else dtypes.as_dtype(given)
    return np.dtype(found.as_numpy_dtype)


def _results(func: Callable[..., Any], args: Any, wanted: list[np.dtype]) -> list:
    try:
        given = func(*args)
        found = list(given) if isinstance(given, (list, tuple)) else [given]
        found = [] if given is None else found
        made = [convert.to_tensor(v, t) for v, t in zip(found, wanted, strict=False)]
    except Exception as error:
        kind = next(
            (k for raised, k in _REPORTED if isinstance(error, raised)), errors.UnknownError
        )
        raise kind(None, None, f"{type(error).__name__}: {error}") from error
    if len(made) < len(wanted):
        raise errors.invalid(
            f"{getattr(func, '__name__', 'func')} returns {len(made)} values, but expects to see "
            f"{len(wanted)} values. [Op:EagerPyFunc]"
        )
    return made


def _with_slopes(tape: GradientTape, inputs: list, results: list) -> Any:
    """The results as those of one op of the inputs, whose derivative is the inner tape's."""

    @custom_gradient
    def op(*inputs: Any) -> Any:
        def grad(*cotangents: Any) -> Any:
            with paused():  # Python that no outer tape sees, as the function itself
                return tape.gradient(
                    results, list(inputs), output_gradients=list(cotangents),
                    unconnected_gradients="zero",
                )  # fmt: skip

        return results, grad

    return op(*inputs)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a function of NumPy arrays; no gradient flows through it."""
    if Tout is None:
        raise _missing("tf.numpy_function")
    if func is None:
        return lambda f: lambda *args: numpy_function(f, args, Tout)
    result = func(*[np.array(one) for one in inp])
    flat = nest.flatten(result)
    made = [None if one is None else convert.to_tensor(one) for one in flat]
    return made[0] if len(made) == 1 else made
