"""Control flow as functions: branches, loops, maps and folds, which here simply run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import arrays, dtypes, errors, nest
from ..arrays.tensor_array import TensorArray
from ..core import apply
from ..core.record import Value, threads
from ..framework import convert
from ..framework.shapes import CompositeTensor, TensorSpec
from ..math import reductions
from .rows import has_parts, map_rows


# --- branches -------------------------------------------------------------------------------------
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`true_fn()` if `pred` holds, else `false_fn()`: only one of them is called.

    >>> import gradtape as tf
    >>> tf.cond(tf.constant(2.0) > 1.0, lambda: "larger", lambda: "smaller")
    'larger'
    """
    for label, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{label}' argument required")
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    if pred is None:
        raise convert.unsupported(pred)
    if not getattr(getattr(pred, "_value", None), "size", 1):
        raise ValueError(
            f"The truth value of an empty tensor is ambiguous (this one has the shape "
            f"{pred.shape}): ask for its size with tf.size(x) > 0."
        )
    recording = threads.recording
    if recording is not None and recording.sketches and is_recorded(pred):
        return recording.either(true_fn(), false_fn())  # type: ignore[misc]
    holds = bool(pred)
    with _branch(holds):
        return true_fn() if holds else false_fn()  # type: ignore[misc]


def _branch(number: int) -> Any:
    """In a function that is recorded, a branch is a graph of its own."""
    return nullcontext() if threads.recording is None else threads.recording.block(number)()


def _turns(function: Callable[..., Any], number: int = 0) -> Callable[..., Any]:
    """A part of a loop, which is a graph of its own, too: one for all turns."""
    if threads.recording is None:
        return function
    entered = threads.recording.block(number)

    def turn(*args: Any) -> Any:
        with entered():
            return function(*args)

    return turn


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the function beside the first condition that holds, else of `default`."""
    if isinstance(pred_fn_pairs, Mapping):
        if not exclusive:
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when "
                "`exclusive=False` and eager mode is enabled."
            )
        pairs = [(key.deref(), function) for key, function in pred_fn_pairs.items()]
    elif isinstance(pred_fn_pairs, (list, tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError(
            f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}"
        )
    if not pairs:
        raise ValueError("not enough values to unpack: tf.case needs at least one pair.")
    for pair in pairs:
        _check_pair(pair)
    if default is not None and not callable(default):
        raise TypeError("'default' must be callable.")
    for k, (pred, function) in enumerate(pairs):
        if pred:
            with _branch(k):
                return function()
    if default is None:
        raise errors.invalid(
            "Input error: None of conditions evaluated as True, and tf.case has no default."
        )
    return default()


def _check_pair(pair: Any) -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
    pred, function = pair
    if not convert.is_tensor_like(pred):
        raise TypeError(f"pred must be a Tensor, got: {pred}")
    if pred.dtype != dtypes.bool:
        raise TypeError(f"pred must be a Tensor of type bool, got: {pred.dtype.name}")
    if not callable(function):
        raise TypeError(f"fn for pred {pred} must be callable.")


def switch_case(
    branch_index: Any, branch_fns: Any, default: Any = None, name: str = "switch_case"
) -> Any:
    """The result of the function with this number, else of `default` or the last one."""
    if not convert.is_tensor_like(branch_index):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype!r}")
    branches = _branches(branch_fns)
    fallback = default if default is not None else branches[max(branches)]
    number = int(branch_index)
    with _branch(number if number in branches else -1):
        return branches.get(number, fallback)()


def _branches(given: Any) -> dict[int, Callable[[], Any]]:
    if not given:
        raise ValueError("Must provide at least one item in 'branch_fns'.")
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif all(isinstance(branch, tuple) for branch in given):
        pairs = list(given)
    else:
        pairs = list(enumerate(given))
    found = dict(pairs)
    if sorted(found) != list(range(len(pairs))):
        raise ValueError(
            f"branch indices must form contiguous range of [0 to {len(pairs)}) but found "
            f"{sorted(key for key, _ in pairs)}"
        )
    for branch in found.values():
        if not callable(branch):
            raise TypeError(f"branches must be callable, got {branch!r}")
    return found


# --- loops ----------------------------------------------------------------------------------------
# Steps that are recorded one by one before a loop becomes one equation.
UNROLLED = 16


def is_recorded(value: Any) -> bool:
    """Whether this is a tensor whose value differs from call to call."""
    return type(getattr(value, "_value", None)) is apply.Traced is not None


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Call `body` on the loop's variables as long as `cond` holds for them.

    >>> import gradtape as tf
    >>> tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), (tf.constant(0), 1.0))[1]
    <tf.Tensor: shape=(), dtype=float32, numpy=8.0>
    """
    for label, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"'{label}' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    left = None if maximum_iterations is None else int(maximum_iterations)
    recording, steps = threads.recording, 0
    if recording is not None:
        if shape_invariants is not None:
            nest.assert_same_structure(loop_vars, shape_invariants)
        body = _as_in_graphs(body, len(loop_vars) == 1, shape_invariants is None)
    asked, turn = _turns(cond, 0), _turns(body, 1)
    while left is None or left > 0:
        holds = asked(*loop_vars)
        if recording is not None and not steps and not is_recorded(holds):
            found = recording.counted_loop(cond, body, loop_vars, left, UNROLLED)
            if found is not None:
                return nest.map_structure(_settled, found)
        if recording is not None and (steps >= UNROLLED or is_recorded(holds)):
            found = recording.while_loop(cond, body, loop_vars, left)
            if found is not None:
                return nest.map_structure(_settled, found)
            recording = None
        if not holds:
            break
        steps += 1
        results = turn(*loop_vars)
        nest.assert_same_structure(list(loop_vars), list(results))
        loop_vars = results
        if left is not None:
            left -= 1
    return nest.map_structure(_settled, loop_vars)


def _as_in_graphs(body: Callable[..., Any], alone: bool, same_shapes: bool) -> Callable[..., Any]:
    """A loop's body as TensorFlow's graphs have it: it may give its only variable as it is, and
    without `shape_invariants` the shapes stay what they are."""

    def turn(*loop_vars: Any) -> Any:
        results = body(*loop_vars)
        if alone and not isinstance(results, (list, tuple)):
            results = [results]
        if same_shapes and threads.recording is not None and threads.recording.knows_shapes:
            for before, after in zip(nest.flatten(loop_vars), nest.flatten(results), strict=False):
                if isinstance(before, Value) and isinstance(after, Value):
                    _check_same_shape(before, after)
        return results

    return turn


def _check_same_shape(before: Any, after: Any) -> None:
    if before._value.shape != after._value.shape:
        raise ValueError(
            f"A variable of tf.while_loop enters the loop with shape {before.shape}, but has shape "
            f"{after.shape} after one iteration. To allow the shape to vary across iterations, use "
            "the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )


def _settled(value: Any) -> Any:
    kept = isinstance(value, (Value, TensorArray, CompositeTensor))
    return value if kept else convert.to_tensor(value)


# --- maps and folds -------------------------------------------------------------------------------
def _parts(elems: Any, label: str) -> tuple[list, int]:
    """The leaves of `elems` as tensors, and how many elements they have."""
    flat = [convert.to_tensor(leaf) for leaf in nest.flatten(elems)]
    if not flat:
        raise ValueError(
            f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}, which "
            "does not contain any Tensors."
        )
    for leaf in flat:
        if not leaf._value.ndim:
            first = leaf is flat[0] and label not in ("map_fn", "scan")
            kind = IndexError if first else ValueError
            raise kind(
                f"Elements in elems must be 1+ dimensional Tensors, not scalars (tf.{label} goes "
                "along the first axis)"
            )
    counts = [leaf._value.shape[0] for leaf in flat]
    for count in counts:
        if count != counts[0]:
            raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
    return flat, counts[0]


def _check_callable(fn: Any, label: str) -> None:
    if not callable(fn):
        raise TypeError(f"fn of tf.{label} must be callable, got {fn!r}")


def _one_truth(back_prop: Any) -> None:
    """TensorFlow compares it with False, and arrays have more than one answer to that."""
    held = getattr(back_prop, "_value", None)
    if isinstance(held, (np.ndarray, np.generic)):
        convert.to_tensor(False, held.dtype)
    if back_prop is not True and np.size(getattr(back_prop, "_value", back_prop)) != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous: 'back_prop' is "
            f"True or False, not {back_prop!r}."
        )


def _some(parallel_iterations: Any) -> None:
    """TensorFlow's loops look at this number too: it must be one, and positive."""
    if parallel_iterations.__class__ is int and parallel_iterations > 0:
        return
    array = np.asarray(getattr(parallel_iterations, "_value", parallel_iterations))
    if isinstance(parallel_iterations, (list, tuple)) or array.dtype.kind not in "biuf":
        raise TypeError(f"parallel_iterations must be a number, got {parallel_iterations!r}.")
    if array.size != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous: "
            f"'parallel_iterations' is a positive integer, not {parallel_iterations!r}."
        )
    if array.reshape(()) < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of each element along the first axis, the results stacked.

    The results must have the structure and dtypes of `elems`, or those of `fn_output_signature`.
    """
    _one_truth(back_prop)
    _check_callable(fn, "map_fn")
    given = dtype if fn_output_signature is None else fn_output_signature
    if has_parts(elems) or has_parts(given):
        return map_rows(fn, elems, given)
    flat, count = _parts(elems, "map_fn")
    if parallel_iterations is not None and parallel_iterations.__class__ is not int:
        _some(parallel_iterations)
    signature = dtype if fn_output_signature is None else fn_output_signature
    like = elems if signature is None else signature
    specs = [t.dtype for t in flat] if signature is None else nest.flatten(signature)
    if (recording := threads.recording) is not None and count > UNROLLED:

        def of_row(*row: Any) -> list:
            result = fn(nest.pack_sequence_as(elems, list(row)))
            nest.assert_same_structure(like, result)
            made = [convert.to_tensor(leaf) for leaf in nest.flatten(result)]
            for spec, one in zip(specs, made, strict=True):
                if one.dtype != getattr(spec, "dtype", spec):
                    raise TypeError(f"{one.dtype.name} is not {spec}")
            return made

        stacked = recording.map_rows(of_row, flat, range(count))
        if stacked is not None:
            return nest.pack_sequence_as(like, stacked)
    results = [_results_array(spec, count, infer_shape) for spec in specs]
    turn = _turns(fn)
    for k in range(count):
        result = turn(nest.pack_sequence_as(elems, [leaf[k] for leaf in flat]))
        nest.assert_same_structure(like, result)
        for array, leaf in zip(results, nest.flatten(result), strict=True):
            array.write(k, leaf)
    return nest.pack_sequence_as(like, [array.stack() for array in results])


def _results_array(spec: Any, size: int, infer_shape: bool) -> TensorArray:
    if isinstance(spec, TensorSpec):
        return TensorArray(spec.dtype, size, infer_shape=infer_shape, element_shape=spec.shape)
    return TensorArray(spec, size, infer_shape=infer_shape)


def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """`fn` of each element along the first axis, the results stacked.

    Differs from TensorFlow: the elements are taken one by one, not all at once.
    """
    _check_callable(fn, "vectorized_map")
    flat = [convert.to_tensor(leaf) for leaf in nest.flatten(elems)]
    if any(not leaf._value.ndim for leaf in flat):
        raise IndexError(
            "tf.vectorized_map goes along the first axis: its elems must not be scalars"
        )
    counts = {leaf._value.shape[0] for leaf in flat}
    count = max(counts) if 0 not in counts else 0
    if counts - {1, count}:
        raise errors.invalid(
            f"tf.vectorized_map: the first axes of elems differ in size: {sorted(counts)}"
        )

    def call(k: int) -> Any:
        if count == 1:  # as TensorFlow, where the gradient of a single row has its index
            rows = [arrays.gather(leaf, 0) for leaf in flat]
        else:
            rows = [leaf[k if leaf._value.shape[0] > 1 else 0] for leaf in flat]
        return fn(nest.pack_sequence_as(elems, rows))

    if not count:  # one call on zeros tells the shapes of the results that there are none of
        sample = fn(nest.pack_sequence_as(elems, [_zeros(leaf) for leaf in flat]))
        return nest.map_structure(lambda leaf: arrays.stack([leaf])[:0], sample)
    rows = [call(k) for k in range(count)]
    return nest.map_structure(
        lambda *leaves: None if leaves[0] is None else arrays.stack(leaves), *rows
    )


def _zeros(leaf: Any) -> Any:
    """A row of zeros for a tensor without rows; its derivatives still lead to the tensor."""
    if leaf.dtype.is_floating or leaf.dtype.is_complex:
        return reductions.reduce_sum(leaf, axis=0)
    return arrays.zeros(leaf.shape[1:], leaf.dtype)


def _start(flat: list, elems: Any, initializer: Any, order: Any, label: str) -> tuple[Any, list]:
    """What a fold begins with, and the places it goes through."""
    places = list(order)
    if initializer is not None:
        return initializer, places
    if not places:
        raise errors.OutOfRangeError(
            None, None, "Tried to read from index 0 but array size is: 0 "
            f"(tf.{label} of nothing needs an initializer)",
        )  # fmt: skip
    return nest.pack_sequence_as(elems, [leaf[places[0]] for leaf in flat]), places[1:]


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All steps of a fold: `fn(result so far, element)` for each element, stacked.

    >>> import gradtape as tf
    >>> tf.scan(lambda total, x: total + x, tf.constant([1.0, 2.0, 3.0]))
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 3., 6.], dtype=float32)>
    """
    _one_truth(back_prop)
    _check_callable(fn, "scan")
    flat, count = _parts(elems, "scan")
    order = range(count - 1, -1, -1) if reverse else range(count)
    state, places = _start(flat, elems, initializer, order, "scan")
    state = nest.map_structure(convert.to_tensor, state)
    _some(parallel_iterations)
    results = [
        TensorArray(
            t.dtype, count, infer_shape=infer_shape, element_shape=t.shape if infer_shape else None
        )
        for t in nest.flatten(state)
    ]
    if (recording := threads.recording) is not None and len(places) > UNROLLED:
        rows = range(places[0], places[-1] + order.step, order.step)
        found = recording.scan(fn, state, flat, rows, elems, True)
        if found is not None:
            return nest.pack_sequence_as(state, _with_first(state, found[1], order, places))
    if len(places) < count:
        _write(results, order[0], state)
    turn = _turns(fn)
    for k in places:
        result = turn(state, nest.pack_sequence_as(elems, [leaf[k] for leaf in flat]))
        nest.assert_same_structure(state, result)
        _write(results, k, result)
        state = result
    return nest.pack_sequence_as(state, [array.stack() for array in results])


def _with_first(state: Any, stacked: list, order: Any, places: list) -> list:
    """The steps of a scan whose first one was the first element itself."""
    if len(places) == len(order):
        return stacked
    first = [arrays.expand_dims(t, 0) for t in nest.flatten(state)]
    pairs = zip(first, stacked, strict=True)
    return [arrays.concat([one, rest] if order.step > 0 else [rest, one], 0) for one, rest in pairs]


def _write(arrays: list[TensorArray], k: int, values: Any) -> None:
    for array, leaf in zip(arrays, nest.flatten(values), strict=True):
        array.write(k, leaf)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(result so far, element)` for each element, from the first to the last."""
    _one_truth(back_prop)
    return _fold(fn, elems, initializer, "foldl", parallel_iterations)


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(result so far, element)` for each element, from the last to the first."""
    _one_truth(back_prop)
    return _fold(fn, elems, initializer, "foldr", parallel_iterations)


def _fold(fn: Any, elems: Any, initializer: Any, label: str, parallel: Any) -> Any:
    _check_callable(fn, label)
    flat, count = _parts(elems, label)
    order = range(count) if label == "foldl" else range(count - 1, -1, -1)
    state, places = _start(flat, elems, initializer, order, label)
    _some(parallel)
    if (recording := threads.recording) is not None and len(places) > UNROLLED:
        rows = range(places[0], places[-1] + order.step, order.step)
        found = recording.scan(fn, state, flat, rows, elems, False)
        if found is not None:
            return nest.map_structure(_settled, found[0])
    turn = _turns(fn)
    for k in places:
        result = turn(state, nest.pack_sequence_as(elems, [leaf[k] for leaf in flat]))
        nest.assert_same_structure(state, result)
        state = result
    return nest.map_structure(_settled, state)
