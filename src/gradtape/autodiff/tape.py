"""`GradientTape`: records the ops that run in its block, then differentiates what they computed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import contextmanager
from operator import is_, itemgetter
from sys import modules
from threading import get_ident
from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..core.apply import tensor
from ..core.op import registry
from ..core.operand import Operand
from ..core.place import caller
from ..core.record import Value, everyone, threads
from ..framework import convert
from ..framework.enums import UnconnectedGradients
from ..framework.indexed_slices import from_sweep
from ..framework.memory import patience
from ..framework.shapes import CompositeTensor, TensorShape
from ..framework.variable import Variable
from ..ops.kernels.forks import in_children
from ..ops.rows import Slices
from ..ops.shape import broadcast_to, concat, reshape, transpose
from .recording import Tape, close_lost, follow, follows, lost
from .sweep import prune, settled, sweep

log = logging.getLogger("gradtape")
_USED_UP = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or "
    "jacobians); make it with tf.GradientTape(persistent=True), or ask for all sources in one "
    "call. A tape that was never entered has nothing to differentiate."
)
CALLS = 4  # at the death of a tape, behind what gives the collector its setting back
_warned = 0
_said: set[tuple] = set()  # places in the user's code
_NONE = np.zeros(())
_CASTS = {op for op in registry.values() if op.casts}
# Elements of the widest stack that a Jacobian sweeps at once.
_STACK = 1 << 24


def _unexplained(tape: GradientTape, target: Any, sources: Any) -> Any:
    raise RuntimeError("tape.explain needs the doctor, which `import gradtape` brings along")


# What `tape.explain` calls: the doctor is above the tape, and the package sets this.
explain: Callable[[GradientTape, Any, Any], Any] = _unexplained


class GradientTape:
    """Record operations for automatic differentiation.

    >>> import gradtape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape: Tape | None = None
        self._recording = False
        self._watched: dict[int, Variable] = {}  # what was watched, once the tape is used up

    # --- its life ---------------------------------------------------------------------------------
    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an "
                "already-active tape."
            )
        if lost:
            close_lost()
        tape = self._tape
        if tape is None:
            tape = self._tape = Tape(self._watch_accessed_variables)
            tape.persistent = self._persistent
            tape.belong_to(self, tape.records.clear, tape.variables.clear)
        tape.start()
        self._recording = True
        back = patience.begin(tape.serial)
        if back is not None:
            # Of a tape that is never left, the collector has its setting back all the same.
            tape.last_calls.insert(0, back)
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._recording:
            self._pop()

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        tape = self._tape
        assert tape is not None
        tape.stop()
        self._recording = False
        patience.end(tape.serial)
        del tape.last_calls[:-CALLS]

    def reset(self) -> None:
        """Forget everything that was recorded and watched; recording goes on."""
        self._pop()
        self._drop()
        self.__enter__()

    def _drop(self) -> None:
        assert self._tape is not None
        self._tape.close()
        self._tape = None

    @contextmanager
    def stop_recording(self) -> Any:
        """Within this block, this tape (and no other) does not record."""
        if self._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self.__enter__()

    # --- watching ---------------------------------------------------------------------------------
    def watch(self, tensor: Any) -> None:
        """Follow a tensor, or a nest of them, from now on; a tape that is paused does not.

        Differs from TensorFlow: ops that used a tensor before it was watched, and that were
        recorded for another operand, have no gradient to it.
        """
        for t in nest.flatten(tensor, expand_composites=True):
            t = t.value if acting(t) else t
            if not isinstance(t, (Value, Variable)):
                raise ValueError(
                    f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            if not _differentiable(t):
                _warn_integer(t)
                continue
            if self._tape is None:
                raise AttributeError(
                    "This tape has not been entered: call watch inside `with tf.GradientTape()`."
                )
            if self._recording:
                follow(t, self._tape)
                if isinstance(t, Variable):
                    self._tape.variables[t._id] = t

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables watched so far, in the order in which they were made."""
        variables = self._watched if self._tape is None else self._tape.variables
        return tuple(variables[i] for i in sorted(variables))

    # --- differentiating --------------------------------------------------------------------------
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the (sum of the) target with respect to each source, nested as they are.

        A source that no recorded path joins to the target has None, or zeros on request.
        """
        tape = self._begin("gradient")
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but received None."
            )
        unconnected = _unconnected(unconnected_gradients)
        flat_targets = _parts(nest.flatten(target))
        leaves = nest.flatten(sources)
        flat_sources = _parts(leaves)
        seeds = _seeds(flat_targets, output_gradients, asked=bool(leaves))
        answers = _differentiate(tape, flat_targets, flat_sources, seeds)
        if unconnected is UnconnectedGradients.ZERO:
            for k, source in enumerate(flat_sources):
                if answers[k] is None:
                    answers[k] = _zeros(source._value.shape, source)
        self._finish()
        if flat_sources is not leaves:
            answers = _joined(leaves, answers)
        if sources.__class__ is Variable:  # the usual case, and lists of them
            return answers[0]
        flat = sources.__class__ is list and len(leaves) == len(sources)
        if flat and all(map(is_, leaves, sources)):
            return answers
        return nest.pack_sequence_as(sources, answers)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of every element of the target: its axes, then the source's.

        All rows are swept at once, as a stack of cotangents.
        """
        tape = self._begin("jacobian", experimental_use_pfor, parallel_iterations)
        unconnected = _unconnected(unconnected_gradients)
        flat_sources = _parts(nest.flatten(sources))
        _check_target(target, AttributeError)
        shape = target._value.shape
        size = int(np.prod(shape, dtype=np.int64))
        dtype = target._value.dtype

        def seeds(start: int, stop: int) -> np.ndarray:
            return np.eye(stop - start, size, start, dtype).reshape(stop - start, *shape)

        # Of truth values no row is asked for, so that no op's missing gradient is met.
        truths = dtype.kind == "b"
        answers = (
            [None] * len(flat_sources)
            if truths
            else _sweep_rows(tape, target, flat_sources, size, seeds)
        )
        for k, source in enumerate(flat_sources):
            full = shape + source._value.shape
            if answers[k] is not None:
                answers[k] = reshape.apply(answers[k], shape=full)
            elif unconnected is UnconnectedGradients.ZERO:
                answers[k] = _zeros(full, source)
        self._finish()
        return nest.pack_sequence_as(sources, answers)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each row of the target with respect to the same row of the source."""
        if self._tape is None:
            raise RuntimeError(_USED_UP)
        unconnected = _unconnected(unconnected_gradients)
        _check_target(target, AttributeError)
        if not isinstance(source, (Value, Variable)):
            raise _not_a_source(source, AttributeError)
        shape, source_shape = target._value.shape, source._value.shape
        if not shape or not source_shape or shape[0] != source_shape[0]:
            raise (ValueError if shape else IndexError)(
                f"Need first dimension of target shape ({TensorShape.known(shape)}) and source "
                f"shape ({TensorShape.known(source_shape)}) to match."
            )
        if len(shape) < 2 or len(source_shape) < 2:
            raise ValueError(
                f"Target and source must have rank at least 2 (their first axis is the batch), "
                f"got shapes {shape} and {source_shape}: both must have rank at least 2."
            )
        tape = self._begin("batch_jacobian", experimental_use_pfor, parallel_iterations)
        size = int(np.prod(shape[1:], dtype=np.int64))
        dtype = target._value.dtype

        def seeds(start: int, stop: int) -> np.ndarray:
            rows = np.zeros((stop - start, shape[0], size), dtype)
            rows[np.arange(stop - start), :, np.arange(start, stop)] = 1
            return rows.reshape(stop - start, *shape)

        (stack,) = _sweep_rows(tape, target, [source], size, seeds)
        full = shape + source_shape[1:]
        if stack is None:
            zero = unconnected is UnconnectedGradients.ZERO
            answer = _zeros(full, source if zero else target)
        else:
            axes = (1, 0, *range(2, stack._value.ndim))
            answer = reshape.apply(transpose.apply(stack, axes=axes), shape=full)
        self._finish()
        return answer

    def explain(self, target: Any, sources: Any) -> Any:
        """Say why the gradient of the target with respect to the sources is what it is.

        The answer is a `gradtape.doctor.Report`; the tape can still be asked for the gradient. In
        `with gradtape.doctor.watch():` (or a program that `gradtape doctor` runs) it has the cause.
        Otherwise it has what the tape's own record proves: the cause, if the record shows it for
        certain, or how far the tape followed a source.

        >>> import gradtape as tf
        >>> w = tf.Variable([0.0, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     loss = tf.reduce_sum(tf.math.log(w))
        >>> tape.explain(loss, w).findings[0].name
        'log-of-zero'

        Differs from TensorFlow: its tape has no such method.
        """
        return explain(self, target, sources)

    def _begin(self, method: str, whole_stack: bool = True, iterations: int | None = None) -> Tape:
        """Check that the tape can be asked, and stop it if it is still recording."""
        if self._tape is None:
            raise RuntimeError(_USED_UP)
        if whole_stack and iterations is not None and (iterations == 1 or not self._persistent):
            raise ValueError(
                f"parallel_iterations={iterations} of {method} needs a tape with persistent=True "
                "and more than one iteration; leave it out, the whole stack is swept at once. "
                "Vectorization can be disabled by setting experimental_use_pfor to False."
            )
        if not whole_stack and not self._persistent:
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {method} with "
                "eager execution enabled and with experimental_use_pfor set to False."
            )
        if self._recording:
            if self._persistent:
                _say_once(method)
            else:
                self._pop()
        return self._tape

    def _finish(self) -> None:
        if not self._persistent:
            assert self._tape is not None
            self._watched = self._tape.variables
            self._drop()


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", gate_gradients: bool = False,
    aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> Any:  # fmt: skip
    """TensorFlow's way to differentiate graphs, which there are none of: an error, as there."""
    raise RuntimeError(
        "tf.gradients is not supported when eager execution is enabled. "
        "Use tf.GradientTape instead."
    )


def _differentiate(tape: Tape, targets: list, sources: list, seeds: list) -> list:
    keys = [_key(tape, source) for source in sources]
    recorded = bool(threads.active) or _some_bfloat16(tape, (*targets, *sources))
    grads: dict = {}
    for target, seed in zip(targets, seeds, strict=True):
        _check_target(target)
        # A test such as is_nan is followed though its result is true or false, to say so.
        followed = isinstance(target, Value) and follows(tape, target)
        key = target._id if followed else _key(tape, target)
        # Whole numbers and truth values have a gradient with respect to themselves only.
        itself = key in keys and target._value.dtype.kind != "O"
        if not (followed or itself or _differentiable(target)):
            continue
        g = _seed(target, seed)
        g = Operand(g) if recorded else g._value
        grads[key] = grads[key] + g if key in grads else g
    wanted = set(keys)
    found = sweep(_backward(tape, wanted), grads, wanted, recorded)
    answers = [found.get(key) for key in keys]
    return [tensor(g) if g.__class__ is np.ndarray and g.ndim else _answer(g) for g in answers]


def _backward(tape: Tape, wanted: set) -> Any:
    """The records to sweep, newest first."""
    if tape.leaves <= wanted and tape.variables.keys() <= wanted:
        return reversed(tape.records)
    return reversed(prune(tape.records, wanted))


def _sweep_rows(tape: Tape, target: Any, sources: list, count: int, seeds: Any) -> list:
    """Sweep a stack of cotangents, in parts that bound the memory: `seeds(start, stop)` each."""
    if not follows(tape, target) and not getattr(target, "trainable", False):
        return [None] * len(sources)  # also with respect to itself, as in TensorFlow
    recorded = bool(threads.active) or _some_bfloat16(tape, (target, *sources))
    keys = [_key(tape, source) for source in sources]
    widest = max([target._value.size, *[s._value.size for s in sources]])
    step = max(1, _STACK // max(widest, 1))
    records = prune(tape.records, set(keys))
    parts: list[dict] = []
    for start in range(0, max(count, 1), step):
        g = tensor(seeds(start, min(start + step, count)))
        grads = {_key(tape, target): Operand(g) if recorded else g._value}
        parts.append(sweep(reversed(records), grads, set(keys), recorded, lead=1))
    answers: list = []
    for key in keys:
        rows = [_answer(part.get(key), stack=True) for part in parts]
        if rows[0] is None:
            answers.append(None)
        else:
            answers.append(rows[0] if len(rows) == 1 else concat.apply(*rows, axis=-rows[0].ndim))
    return answers


def _key(tape: Tape, value: Any) -> Any:
    """The number of a value on this tape; of one it does not follow, a name nobody else has."""
    if value.__class__ is Variable or isinstance(value, Variable):
        return value._id if value._id in tape.variables else ("free", id(value))
    if not isinstance(value, Value):
        raise _not_a_source(value)
    return value._id if follows(tape, value) else ("free", id(value))


def _seeds(targets: list, given: Any, asked: bool = True) -> list:
    """The cotangents of the targets: ones where none are given (also for the last of several)."""
    flat = [None] if given is None else nest.flatten(given)
    if given is not None and asked and any(g is None for g in flat):
        raise ValueError(
            "output_gradients has a None among its entries: leave the argument out for ones, or "
            "give a tensor for every target."
        )
    flat += [None] * (len(targets) - len(flat))
    return flat[: len(targets)]


def _seed(target: Any, seed: Any) -> Any:
    dtype = target._value.dtype
    if seed is None:
        shape = target._value.shape
        return tensor(np.ones(shape, dtype) if shape else dtype.type(1))
    numbers = isinstance(seed, (bool, int, float, complex))
    seed = convert.to_tensor(seed, hint=dtype if numbers else None)
    if seed._value.dtype != dtype:
        raise errors.invalid(
            f"an output gradient must have the dtype of its target, {target.dtype.name}, "
            f"but is {seed.dtype.name}: cast it with tf.cast."
        )
    return _shaped(seed, target._value.shape)


def _shaped(seed: Any, shape: tuple[int, ...]) -> Any:
    """An output gradient need only be broadcastable to its target, or have as many elements."""
    given = seed._value.shape
    if given == shape:
        return seed
    if seed._value.size == np.prod(shape, dtype=np.int64):
        return reshape.apply(seed, shape=shape)
    if len(given) <= len(shape) and all(
        m in (1, n) for m, n in zip(given[::-1], shape[::-1], strict=False)
    ):
        return broadcast_to.apply(seed, shape=shape)
    raise errors.invalid(
        f"Incompatible shapes: an output gradient of shape {list(given)} does not fit its target "
        f"of shape {list(shape)}."
    )


def _answer(g: Any, stack: bool = False) -> Any:
    if g is None:
        return None
    if g.__class__ is Slices:
        if stack:
            g = g.dense()
        else:
            return from_sweep(g, settled)
    return settled(g)


def _some_bfloat16(tape: Tape, values: tuple) -> bool:
    """Of bfloat16 arrays and Python's numbers NumPy makes float32; operands keep the dtype."""
    if "ml_dtypes" not in modules:  # without it there is no bfloat16
        return False
    if "V" in [getattr(value, "_value", _NONE).dtype.kind for value in values]:
        return True
    # In the middle of other dtypes there is a cast out of it: 0.03 us a record to look for one.
    return not _CASTS.isdisjoint(map(itemgetter(0), tape.records)) and any(
        record[0] in _CASTS and record[6][0].kind == "V" for record in tape.records
    )


def _differentiable(value: Any) -> bool:
    return value._value.dtype.kind in "fcV"


def _check_target(target: Any, error: type[Exception] | None = None) -> None:
    if target is None:
        raise (error or TypeError)(
            "A target of GradientTape.gradient is None: a tensor or variable is wanted. Was it "
            "the result of a function that returns nothing?"
        )
    if not isinstance(target, (Value, Variable)):
        raise (error or _error_of_stray(target))(
            f"A target of GradientTape.gradient must be a tf.Tensor or tf.Variable, got {target!r} "
            f"of type {type(target).__name__!r}: a value that left the tape has no gradient."
        )


def _error_of_stray(value: Any) -> type[Exception]:
    """What TensorFlow raises: it asks a plain value for its dtype first, then for its tensor."""
    try:
        dtypes.as_dtype(value)
    except TypeError:
        return TypeError
    return AttributeError


def _parts(leaves: list) -> list:
    """The leaves of a structure (the same list); of a ragged tensor or of slices, their values."""
    for leaf in leaves:
        if not isinstance(leaf, (Value, Variable)) and (
            isinstance(leaf, CompositeTensor) or acting(leaf)
        ):
            return [_values_of(leaf) for leaf in leaves]
    return leaves


def acting(thing: Any) -> bool:
    """Does it stand for the variable that is its `value`, as variables of Keras do?"""
    return hasattr(thing, "_should_act_as_resource_variable")


def _values_of(leaf: Any) -> Any:
    if acting(leaf):
        return leaf.value
    if not isinstance(leaf, CompositeTensor):
        return leaf
    if leaf._differentiable_part is not None:
        return getattr(leaf, leaf._differentiable_part)
    raise ValueError(
        f"Type {type(leaf).__name__} is not supported as a gradient source or gradient target."
    )


def _joined(leaves: list[Any], answers: list) -> list:
    """The gradient of a ragged source is ragged as it is."""
    return [
        leaf.with_flat_values(answer)
        if hasattr(leaf, "flat_values") and answer is not None
        else answer
        for leaf, answer in zip(leaves, answers, strict=True)
    ]


def _not_a_source(source: Any, error: type[Exception] | None = None) -> Exception:
    if source is None:
        return (error or TypeError)(
            "A source of GradientTape is None: a tensor or variable is wanted to differentiate "
            "with respect to."
        )
    return (error or _error_of_stray(source))(
        f"A source of GradientTape must be a tf.Tensor or tf.Variable, got {source!r} of type "
        f"{type(source).__name__!r}: a plain value is not on the tape."
    )


def _unconnected(choice: Any) -> UnconnectedGradients:
    if choice.__class__ is UnconnectedGradients:
        return choice
    try:
        return UnconnectedGradients(choice)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {choice!r}") from None


def _zeros(shape: tuple[int, ...], source: Any) -> Any:
    dtype = source._value.dtype
    return tensor(np.full(shape, b"", object) if dtype.kind == "O" else np.zeros(shape, dtype)[()])


@in_children
def _end_lost_tapes() -> None:
    """Stop what other threads recorded when this process was forked: none of them lives on."""
    mine = get_ident()
    lost = [r for thread, active in everyone.items() if thread != mine for r in active]
    for active in [everyone.pop(thread) for thread in list(everyone) if thread != mine]:
        active.clear()
    for recorder in lost:
        recorder.stop()
    patience.renew([recorder.serial for recorder in lost])


def _warn_integer(value: Any) -> None:
    global _warned
    if _warned < 5:
        _warned += 1
        log.warning(
            "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
            value.dtype,
        )


def _say_once(method: str) -> None:
    user = caller()
    place = user.f_code, user.f_lineno
    if place in _said:
        return
    _said.add(place)
    log.warning(
        "Calling GradientTape.%s on a persistent tape inside its context records the computation "
        "of the gradient itself, which costs time and memory. Call it outside the context, unless "
        "you want to differentiate the gradient.",
        method,
    )
