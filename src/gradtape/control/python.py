"""`tf.py_function` and `tf.numpy_function`: Python code as one op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays, dtypes, errors, nest
from ..autodiff.custom import Pull, custom_gradient, paused
from ..autodiff.tape import GradientTape
from ..core.apply import tensor
from ..core.record import threads
from ..framework import convert
from ..framework.shapes import TensorSpec
from ..ops import python

# How TensorFlow's runtime reports what Python raised.
_REPORTED = (
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    ((TypeError, ValueError), errors.InvalidArgumentError),
)


def reported(error: Exception) -> Exception:
    """The error by which TensorFlow's runtime tells of what Python raised."""
    kind = next((k for raised, k in _REPORTED if isinstance(error, raised)), errors.UnknownError)
    return kind(None, None, f"{type(error).__name__}: {error}")


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
    if threads.recording is not None:
        played = _when_played(func, inputs, wanted)
        return played if several else played[0]
    with paused(), GradientTape(persistent=True) as tape:
        tape.watch([x for x in inputs if _floating(x)])
        results = _results(func, inputs, wanted)
    made = python.py_function.apply(
        *inputs, function=func, results=_given(results),
        pull=Pull(_Derivative(tape, inputs, results).pull, inputs, [], results),
    )  # fmt: skip
    return list(made) if several else made[0]


def _when_played(func: Callable[..., Any], inputs: list, wanted: list[np.dtype]) -> list:
    """A call at every call of the function that is being recorded."""

    def run(*arrays: Any) -> list:
        given = [tensor(array) for array in arrays]
        with GradientTape(persistent=True) as tape:
            tape.watch([x for x in given if _floating(x)])
            results = _results(func, given, wanted)
        kept = np.empty((), object)
        kept[()] = _Derivative(tape, given, results)
        return [*(r._value for r in results), kept]

    def pull(kept: Any, *cotangents: Any) -> list:
        return [g._value for g in kept.item().pull(*map(tensor, cotangents))]

    def push(kept: Any, *tangents: Any) -> list:
        return [t._value for t in kept.item().push(*map(tensor, tangents))]

    @custom_gradient
    def call(*inputs: Any) -> Any:
        recording = threads.recording
        *made, kept = recording.effect("py_function", run, [x._value for x in inputs], True)

        def when_played(function: Callable[..., list], tensors: Any) -> list:
            values = [kept, *(t._value for t in tensors)]
            return list(
                map(tensor, threads.recording.effect(function.__name__, function, values, True))
            )

        @custom_gradient
        def grad(*cotangents: Any) -> Any:
            return when_played(pull, cotangents), lambda *tangents: when_played(push, tangents)

        return list(map(tensor, made)), grad

    call.__wrapped__ = func
    return call(*inputs)


def _given(results: list) -> Any:
    """What a function gave already, as arrays."""
    arrays = tuple([r._value for r in results])
    return lambda *_: arrays


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
        raise reported(error) from error
    if len(made) < len(wanted):
        raise errors.invalid(
            f"{getattr(func, '__name__', 'func')} returns {len(made)} values, but expects to see "
            f"{len(wanted)} values. [Op:EagerPyFunc]"
        )
    return made


class _Derivative:
    """The derivative of what ran under an inner tape, both ways."""

    def __init__(self, tape: GradientTape, inputs: list, results: list) -> None:
        self._tape, self._inputs = tape, inputs
        self._floating = [k for k, r in enumerate(results) if _floating(r)]
        self._results = results

    def pull(self, *cotangents: Any) -> Any:
        with paused():  # Python that no outer tape sees, as the function itself
            return self._pulled(cotangents)

    def push(self, *tangents: Any) -> Any:
        """The transpose of the pull, which is linear: it does not matter where it is asked."""
        seeds = [arrays.ones_like(r) for r in self._results]
        with paused(), GradientTape() as tape:
            tape.watch([seeds[k] for k in self._floating])
            pulled = self._pulled(seeds)
        return tape.gradient(
            pulled, seeds, output_gradients=list(tangents), unconnected_gradients="zero"
        )

    def _pulled(self, cotangents: Any) -> Any:
        return self._tape.gradient(
            [self._results[k] for k in self._floating], self._inputs,
            output_gradients=[cotangents[k] for k in self._floating], unconnected_gradients="zero",
        )  # fmt: skip


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
    inp = list(inp)
    if threads.recording is not None:
        several = isinstance(Tout, (list, tuple))
        wanted = [_dtype(t) for t in (Tout if several else [Tout])]
        values = [convert.to_tensor(one)._value for one in inp]
        made = _called_when_played(func, values, wanted)
        return made if several else made[0]
    result = func(*[np.array(one) for one in inp])
    flat = [None if one is None else convert.to_tensor(one) for one in nest.flatten(result)]
    inputs = [one for one in nest.flatten(inp) if convert.is_tensor_like(one)]
    results = _given([one for one in flat if one is not None])
    made = iter(python.numpy_function.apply(*inputs, function=func, results=results))
    flat = [None if one is None else next(made) for one in flat]
    return flat[0] if len(flat) == 1 else flat


def _called_when_played(func: Callable[..., Any], values: list, wanted: list[np.dtype]) -> list:
    """A call at every call of the function that is being recorded; the tensors have no history."""

    def run(*arrays: Any) -> list:
        try:
            result = func(*[np.array(a) for a in arrays])
        except Exception as error:
            raise reported(error) from error
        return _declared(getattr(func, "__name__", "func"), result, wanted)

    run.__wrapped__ = func  # type: ignore[attr-defined]
    return list(map(tensor, threads.recording.effect("numpy_function", run, values, True)))


def _declared(name: str, result: Any, wanted: list[np.dtype]) -> list:
    """The arrays that a function gave, which must be as many and of the dtypes as declared: nothing
    is cast, and Python's numbers are of NumPy's dtypes."""
    parts = list(result) if isinstance(result, (list, tuple)) else [result]
    arrays = [convert.array(np.asarray(p)) for p in parts if result is not None]
    if len(arrays) != len(wanted):
        raise errors.at_run(
            f"{name} returns {len(arrays)} values, but expects to see {len(wanted)} values."
        )
    for k, (array, dtype) in enumerate(zip(arrays, wanted, strict=True)):
        if array.dtype != dtype:
            raise errors.at_run(
                f"{k}-th value returned by {name} is {convert.c_name(array.dtype)}, but expects "
                f"{convert.c_name(dtype)}: Tout says what the function returns."
            )
    return arrays
