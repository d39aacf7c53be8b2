"""`tf.function`: a Python function that is recorded when it is called, and played from then on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import ref

from ..config import functions_run_eagerly
from .backends import choice as backend
from .draws import Kernels
from .hearing import only_to_ops
from .shortcut import MISSED, Tried, shortcut
from .signature import Bound, Signature, why
from .specialised import ConcreteFunction
from .traces import Traces, printed
from .tree import FIRST, RAISED, Tree, run_eagerly


class Function:
    """A decorated Python function. Its tensors are arguments of a program that was recorded in the
    first call with such shapes and dtypes; other arguments are part of what was recorded.

    Differs from TensorFlow: a Python `if` or `while` on a tensor is not converted, but followed:
    the function is recorded for each way it goes. Sizes that an `input_signature` leaves open are
    recorded one by one.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        reduce_retracing: bool = False,
        jit_compile: bool | None = None,
    ) -> None:
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._given = input_signature, reduce_retracing, jit_compile
        self._signature_of: Signature | None = None
        self._trees: dict[Any, Tree] = {}
        self._first: dict[Any, Tree] = {}  # of each of TensorFlow's traces
        self._kernels: dict[Any, Kernels] = {}  # of each trace, too
        self._concrete: dict[Any, ConcreteFunction] = {}
        self._created = False  # whether variables were made when it was recorded
        self._twice = 0  # how often that made it trace twice
        self._short: Callable[[tuple], Any] | None = None  # for arguments like the last ones
        self._instances: dict[int, tuple[Any, Function]] = {}
        if input_signature is not None:
            self._signature  # noqa: B018 - what does not fit is said at once

    @property
    def _signature(self) -> Signature:
        if self._signature_of is None:
            signature, reduce, _ = self._given
            self._signature_of = Signature(self._python_function, signature, reduce)
            self._traces = Traces(self._signature_of)
        return self._signature_of

    @property
    def python_function(self) -> Callable[..., Any]:
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._signature.input_signature

    @property
    def function_spec(self) -> Function:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tried = None
        if self._short is not None and not kwargs:
            found = self._short(args)
            if found.__class__ is Tried:
                tried = found.take, found.failed
            elif found is not MISSED:
                return found
        bound = self._signature.bind(args, kwargs)
        if functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        if backend.NAME == "eager" or only_to_ops():
            return run_eagerly(self._python_function, *bound.rebuild(bound.leaves))
        tree = self._tree(bound)
        with self._counted(tree, bound):
            result = tree.call(bound, self._may_create, tried)
        self._short = None if kwargs else shortcut(args, tree, RAISED)
        return result

    @property
    def _may_create(self) -> bool:
        """Variables are created when the function is first recorded, and never again."""
        return not self._created

    def _tree(self, bound: Bound) -> Tree:
        """The recordings for these arguments."""
        tree = self._trees.get(bound.key)
        if tree is None:
            last = next(reversed(self._trees), None)
            cause = FIRST if last is None else why(last, bound.key)
            trace = self._traces.of(bound)
            kernels = self._kernels.setdefault(trace, Kernels())
            tree = Tree(self._python_function, self._name, cause, kernels, self._given[2])
            self._trees[bound.key] = tree
            self._first.setdefault(trace, tree)
        return tree

    @contextmanager
    def _counted(self, tree: Tree, bound: Bound) -> Iterator[None]:
        """A trace counts unless it raises, and twice when variables were made."""
        if tree.takes or tree.eager:
            yield
            return
        try:
            yield
        except BaseException:
            if tree.created and len(self._first) > 1:  # on a later call: all begins anew
                self._created, self._short = True, None
                self._trees.clear()
            elif not (tree.takes or tree.created):
                self._trees.pop(bound.key, None)
                if tree in self._first.values():
                    self._first.pop(trace := self._traces.of(bound))
                    self._traces.forget(trace)
            raise
        if tree.created and not self._created:
            self._created = True
            self._twice += 1

    @property
    def _name(self) -> str:
        return getattr(self._python_function, "__name__", type(self._python_function).__name__)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        known = self._instances.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        key, instances = id(instance), self._instances
        try:
            weak: Any = ref(instance, lambda _: instances.pop(key, None))
        except TypeError:  # an object that nobody can refer to weakly lives as long as the function
            weak = partial(_same, instance)
        made = Function(_Method(self._python_function, weak, owner), *self._given)
        instances[key] = weak, made
        return made

    # --- what was recorded ------------------------------------------------------------------------
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one kind, given by example or by TensorSpec."""
        bound = self._signature.bind(args, kwargs, specs=True)
        trace = self._traces.of(bound)
        if trace not in self._concrete:
            self._concrete[trace] = ConcreteFunction(self, bound, trace)
        return self._concrete[trace]

    def experimental_get_tracing_count(self) -> int:
        """How often TensorFlow would have traced the function."""
        return self._twice + (len(self._traces) if self._signature_of is not None else 0)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        shown = []
        for trace, tree in self._first.items():
            for take in tree.takes[:1]:
                held = [variable for variable, _ in take.program.variables]
                shown.append(printed(self._signature, trace, take.outputs, held, verbose))
        return ("\n\n" if verbose else "\n").join(shown)

    def source(self, form: str = "numpy") -> str:
        """The programs as Python, each statement with the line of yours that it comes from; with
        the form "llvm" their native parts in LLVM's language, each loop and product with your
        lines."""
        from .explaining import source

        return source(self, form)

    def explain(self) -> Any:
        """What was recorded, and why; what the passes made of it; where it runs; print it."""
        from .explaining import explain

        return explain(self)

    def profile(self, *args: Any, **kwargs: Any) -> Any:
        """The time that each of your lines takes in a call with these arguments; print it."""
        from .explaining import profile

        return profile(self, args, kwargs)

    def __repr__(self) -> str:
        name = getattr(self._python_function, "__qualname__", self._name)
        return f"<gradtape.function.Function {name}>"


def _same(instance: Any) -> Any:
    return instance


class _Method:
    """A method of an object that it does not keep alive."""

    def __init__(self, function: Callable[..., Any], instance: Any, owner: type | None) -> None:
        functools.update_wrapper(self, function, updated=())
        bound = function.__get__(instance(), owner)
        self.__signature__ = inspect.signature(bound)
        self._function, self._instance = bound.__func__, instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        instance = self._instance()
        if instance is None:
            raise ReferenceError("The object whose method this is does not exist any more.")
        return self._function(instance, *args, **kwargs)


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
    """Decorate a function so that it is recorded once and played from then on.

    >>> import gradtape as tf
    >>> @tf.function
    ... def double(x):
    ...     print("recording")
    ...     return x * 2
    >>> double(tf.constant(2.0))
    recording
    <tf.Tensor: shape=(), dtype=float32, numpy=4.0>
    >>> double(tf.constant(3.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

    As in TensorFlow, Python itself runs when the function is recorded: for arguments of new
    shapes, dtypes or Python values. `step.source()` shows the program, `step.explain()` what was
    recorded and why.

    Differs from TensorFlow: a Python `if` or `while` on a tensor is not converted, but followed:
    the function is recorded for each way it goes.
    """
    reduce = reduce_retracing or bool(experimental_relax_shapes)
    compiled = experimental_compile if jit_compile is None else jit_compile
    if func is None:
        return lambda f: Function(f, input_signature, reduce, compiled)
    return Function(func, input_signature, reduce, compiled)
