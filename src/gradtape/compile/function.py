"""`tf.function`: for now the function itself, run eagerly, with the face of a compiled one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays, nest
from ..core.record import Value
from ..framework import convert
from ..framework.shapes import TensorShape, TensorSpec
from ..framework.tensor import Tensor
from ..framework.variable import Variable


class Function:
    """A decorated Python function; its results are tensors, whatever it returns.

    Differs from TensorFlow: nothing is traced, so Python code in it (also `print`) runs at every
    call, and control flow on tensors needs no conversion.
    """

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._input_signature = None if input_signature is None else tuple(input_signature)
        self._calls = 0

    @property
    def python_function(self) -> Callable[..., Any]:
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._input_signature

    @property
    def function_spec(self) -> Function:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._input_signature is not None:
            args = _fit(self._input_signature, self._in_order(args, kwargs))
        self._calls += 1
        args, kwargs = nest.map_structure(_as_input, (args, kwargs))
        return nest.map_structure(_as_result, self._python_function(*args, **kwargs))

    def _in_order(self, args: tuple, kwargs: dict) -> tuple:
        """The arguments of the signature by position, also those given by name."""
        function = self._python_function
        code = getattr(function, "__code__", None)
        if code is None or not kwargs:
            return args
        names = code.co_varnames[: code.co_argcount]
        names = names[1:] if getattr(function, "__self__", None) is not None else names
        named = [n for n in names[len(args) : len(self._input_signature or ())] if n in kwargs]
        return (*args, *(kwargs.pop(n) for n in named))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return Function(self._python_function.__get__(instance, owner), self._input_signature)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        return ConcreteFunction(self)

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced: once it was called, once."""
        return min(self._calls, 1)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        return f"{self._python_function.__name__}(*args, **kwargs)"

    def __repr__(self) -> str:
        return f"<gradtape.function.Function {self._python_function.__qualname__}>"


class ConcreteFunction:
    """One signature of a function (here they all run the same code)."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self.name = function._python_function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Decorate a function as TensorFlow does; its meaning does not change.

    Differs from TensorFlow: nothing is traced, so Python code in it (also `print`) runs at every
    call, and control flow on tensors needs no conversion.
    """
    if func is None:
        return lambda f: Function(f, input_signature)
    return Function(func, input_signature)


def _as_input(value: Any) -> Any:
    return convert.to_tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def _as_result(value: Any) -> Any:
    if isinstance(value, Variable):
        return value.read_value()
    # Never the very tensor that was given or captured, which would have derivative 1 to itself.
    if isinstance(value, Tensor) and value._mark is None:
        return arrays.identity(value)
    if isinstance(value, TensorShape):
        return convert.to_tensor(np.array(value.as_list(), np.int32))
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return convert.to_tensor(value)
    return value


def _fit(signature: Any, args: Any) -> tuple:
    """Positional arguments made to fit the declared specs."""
    fitted = []
    for spec, value in zip(signature, args, strict=False):
        if isinstance(spec, TensorSpec):
            value = convert.to_tensor(value, hint=np.dtype(spec.dtype.as_numpy_dtype))
            if isinstance(value, Value) and not spec.is_compatible_with(value):
                raise TypeError(
                    f"Binding inputs to tf.function failed: {value!r} does not fit the "
                    f"input_signature {spec!r}."
                )
        fitted.append(value)
    return (*fitted, *args[len(fitted) :])
