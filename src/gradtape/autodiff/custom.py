"""Gradients by the user's own functions: `custom_gradient` and `recompute_grad`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any, ClassVar

import numpy as np

from .. import nest
from ..core.apply import followers, several, tensor
from ..core.operand import Operand
from ..core.record import Recorder, threads
from ..framework import convert
from ..framework.indexed_slices import IndexedSlices
from ..ops import shape as shape_ops
from ..ops.rows import Slices
from .recording import resume
from .sweep import settled
from .tape import GradientTape


class _Watcher(Recorder):
    """Records nothing: it only learns which variables are read while it is at work."""

    pauses = False

    def push(self, op: Any, operands: Any, params: dict, results: Any) -> None:
        pass


class _Graphs(local):
    """Per thread: whether a function runs eagerly that is a graph in TensorFlow."""

    eager = False


graphs = _Graphs()


@contextmanager
def paused() -> Iterator[None]:
    """Within this block nothing is recorded in this thread."""
    working = [r for r in threads.active if r.pauses]
    try:
        for recorder in working:
            recorder.stop()
        yield
    finally:
        try:
            resume(working)
        except BaseException:  # Ctrl-C in the middle of it
            resume(working)
            raise


@contextmanager
def suspended() -> Iterator[None]:
    """A block outside of the function that is being recorded: ops simply compute."""
    recording = threads.recording
    try:
        threads.recording = None
        with paused():
            yield
    finally:
        threads.recording = recording


class Call:
    """One call of a function, as the sweep sees an op: `pull` takes the cotangents of all results
    and gives those of all operands."""

    push = None
    real, batches, joint, broadcasts = True, False, True, False
    names: tuple = ((),)
    plans: ClassVar[dict] = {}

    def __init__(self, name: str, label: str, pull: Callable[[list], list]) -> None:
        self.name, self.label, self.kind, self.rules = name, label, label, (pull,)

    def plan(self, tracked: tuple[bool, ...]) -> tuple[tuple, Callable[..., list]]:
        return (), lambda *_: []


class _Custom(Call):
    """One call of a function with a gradient of its own."""

    def __init__(self, grad: Any, operands: list, variables: list, results: list) -> None:
        pull = Pull(grad, operands, variables, results)
        super().__init__("custom_gradient", "CustomGradient", pull)
        # What ran inside, from where eager code has its tangents, as in TensorFlow; those of graphs
        # come from the gradient function.
        self.inside = results
        self.of_graph = graphs.eager or threads.recording is not None


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that returns `(result, grad)` so that `grad` is its derivative.

    >>> import gradtape as tf
    >>> @tf.custom_gradient
    ... def log1pexp(x):
    ...     e = tf.exp(x)
    ...     return tf.math.log(1 + e), lambda g: g * (1 - 1 / (1 + e))
    >>> x = tf.Variable(100.0)
    >>> with tf.GradientTape() as tape:
    ...     y = log1pexp(x)
    >>> float(tape.gradient(y, x))
    1.0
    """
    if f is None:
        return custom_gradient

    return _WithGradient(f)


class _WithGradient:
    """A function with a gradient of its own; in a class, it binds as a method does."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self._f = f

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else _WithGradient(self._f.__get__(instance, owner))

    @property
    def __signature__(self) -> inspect.Signature:
        """Its arguments, for `inspect`, which takes what binds as a method for a builtin."""
        try:
            return inspect.signature(self._f)
        except ValueError as error:
            raise AttributeError("__signature__") from error

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if threads.recording is not None:
            threads.recording.program.custom = True
            # As TensorFlow does in graphs only: what stands for a variable is an input like others.
            args = nest.map_structure(_tensor_of_variable, args)
        watcher = _Watcher(auto_watch=True)
        watcher.start()
        try:
            answer = self._f(*args, **kwargs)
        finally:
            watcher.stop()
            used = watcher.variables
            watcher.close()
        if not (isinstance(answer, (tuple, list)) and len(answer) == 2 and callable(answer[1])):
            # A tensor of one row, or of three, is too short or too long for a pair.
            shape = getattr(getattr(answer, "_value", None), "shape", ())
            raise (ValueError if shape and shape[0] != 2 else TypeError)(
                "A function with @tf.custom_gradient must return a pair, its result and the "
                f"function that computes its gradient, but returned {answer!r}."
            )
        result, grad = answer
        given = {id(a) for a in nest.flatten((args, kwargs))}
        variables = [used[i] for i in sorted(used) if id(used[i]) not in given]
        _check_variables(grad, variables)
        inputs = nest.flatten(args)
        operands = [convert.to_tensor(a) for a in (*inputs, *variables)]
        mark = followers(operands)
        flat = [convert.to_tensor(r) for r in nest.flatten(result)]
        if mark is None:
            # Nobody follows an input, so what ran inside stays as it was recorded.
            made: Any = [shape_ops.identity.apply(r) for r in flat]
        else:
            op = _Custom(grad, operands, variables, flat)
            made = several(op, operands, {}, tuple(r._value for r in flat), mark)
        return nest.pack_sequence_as(result, list(made))


def _tensor_of_variable(value: Any) -> Any:
    return convert.to_tensor(value) if hasattr(value, "_read") else value


def _check_variables(grad: Any, variables: list) -> None:
    if not variables:
        return
    import inspect

    parameters = inspect.signature(grad).parameters.values()
    if not any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )


class Pull:
    """The user's gradient function as a joint rule: cotangents in, one cotangent an operand out."""

    def __init__(self, grad: Any, operands: list, variables: list, results: list) -> None:
        self.grad, self.variables = grad, variables
        self.count = len(operands) - len(variables)
        self.shapes = [a._value.shape for a in operands]
        self.likes = [(r._value.shape, r._value.dtype) for r in results]
        self._checks_shapes = graphs.eager or threads.recording is not None

    def __call__(self, g: list) -> list:
        recorded = any(part.__class__ is Operand for part in g)
        seeds = [
            tensor(np.zeros(*like)[()]) if part is None else settled(part)
            for part, like in zip(g, self.likes, strict=True)
        ]
        if self.variables:
            grads, for_variables = self.grad(*seeds, variables=self.variables)
            for_variables = nest.flatten(for_variables)
            if len(for_variables) != len(self.variables):
                raise ValueError(
                    f"Must return gradient for each variable from @custom_gradient grad_fn: "
                    f"{len(self.variables)} variables, {len(for_variables)} gradients."
                )
        else:
            grads, for_variables = self.grad(*seeds), []
        flat = nest.flatten(grads) if isinstance(grads, (list, tuple, dict)) else [grads]
        if len(flat) != self.count:
            raise ValueError(
                f"custom_gradient function expected to return {self.count} gradients, one for "
                f"each input, but returned {len(flat)} instead."
            )
        if self._checks_shapes:
            self._check_shapes((*flat, *for_variables))
        every = zip((*flat, *for_variables), self.shapes, strict=True)
        return [_cotangent(h, shape, recorded) for h, shape in every]

    def _check_shapes(self, gradients: tuple) -> None:
        """As TensorFlow does in graphs only."""
        for k, (gradient, shape) in enumerate(zip(gradients, self.shapes, strict=True)):
            found = getattr(gradient, "shape", None)
            if found is not None and found != shape:
                raise ValueError(
                    "Incompatible shapes between op input and calculated input gradient of a "
                    f"@tf.custom_gradient function. Input index: {k}. Original input shape: "
                    f"{shape}. Calculated input gradient shape: {found}"
                )


def _cotangent(h: Any, shape: tuple[int, ...], recorded: bool) -> Any:
    if h is None:
        return None
    if isinstance(h, IndexedSlices):
        indices = convert.to_tensor(h.indices)._value
        return Slices(_cotangent(h.values, (), recorded), indices, shape)
    h = convert.to_tensor(h)
    return Operand(h) if recorded else h._value


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Save memory: forget what `f` computed, and compute it again for its gradient."""

    @custom_gradient
    @functools.wraps(f)
    def forgetful(*args: Any, **kwargs: Any) -> Any:
        with paused():
            result = f(*args, **kwargs)

        def grad(*cotangents: Any, variables: Any = None) -> Any:
            variables = list(variables or ())

            @custom_gradient
            def again(*cotangents: Any) -> Any:
                with GradientTape() as tape:
                    copies = nest.map_structure(shape_ops.identity.apply, args)
                    tape.watch(copies)
                    tape.watch(variables)
                    repeated = f(*copies, **kwargs)
                grads = tape.gradient(
                    repeated, [list(copies), variables], output_gradients=list(cotangents),
                    unconnected_gradients="zero",
                )  # fmt: skip

                def transpose(*_: Any, **__: Any) -> Any:
                    raise NotImplementedError(
                        f"recompute_grad tried to transpose grad of {f!r}. Consider not using "
                        "recompute_grad in forward mode autodiff"
                    )

                return grads, transpose

            for_inputs, for_variables = again(*cotangents)
            return (for_inputs, for_variables) if variables else for_inputs

        return result, grad

    return forgetful


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Run `f`, but let gradients pass as if it were the identity."""

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*cotangents: Any, variables: Any = None) -> Any:
            if variables is not None:
                return cotangents, [None] * len(variables)
            return cotangents

        return f(*args, **kwargs), grad

    return functools.wraps(f)(passing)
