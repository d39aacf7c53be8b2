"""The part of `tf.nn` about sequences without alignment: CTC's loss and decoders."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..framework import arguments, convert
from ..framework.arguments import allow, as_input, matching, truth
from ..ops import ctc as ctc_ops
from ..ops import shape
from ..sparse import SparseTensor
from .losses import precise


def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Any:
    """-log(probability) that the frames spell the labels, whatever the alignment.

    `logits` is [frames, batch, classes] (or batch first, if not `logits_time_major`); the labels
    are a dense tensor with their `label_length` or a `SparseTensor`. `unique` changes nothing.
    Differs from TensorFlow: the second derivative is there.

    >>> import gradtape as tf
    >>> tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 2]), [1], [2]).numpy().round(4)
    array([0.2877], dtype=float32)
    """
    sparse = isinstance(labels, SparseTensor)
    if sparse and blank_index is None:
        raise ValueError(
            "Argument `blank_index` must be provided when `labels` is a `SparseTensor`."
        )
    x = convert.to_tensor(logits)
    if x._value.ndim != 3:
        raise errors.invalid(
            f"logits must be [frames, batch, classes], got shape {list(x._value.shape)} "
            "[Op:CTCLoss] name: "
        )
    if not logits_time_major:
        x = shape.transpose.apply(x, axes=(-2, -3, -1))
    frames = convert.to_tensor(logit_length)._value
    if sparse:
        given, lengths = _rows(labels, x._value.shape[1])
        _check(x, given, lengths, np.asarray(frames))
    else:
        given, lengths = (convert.to_tensor(t)._value for t in (labels, label_length))
        if x._value.dtype == np.float64:
            raise errors.wrong_dtype(
                "cannot compute Mul as input #1(zero-based) was expected to be a double tensor but "
                "is a float tensor: with dense labels the logits are float32 [Op:Mul] name: "
            )
    x, narrow = precise(x)
    blank = int(blank_index or 0) % x._value.shape[-1]
    if not sparse and blank:
        # As TensorFlow, to whose dense loss a label that is the blank means the class before it.
        given = convert.computed(lambda given: np.where(given == blank, blank - 1, given), given)
    floor = -np.inf if sparse else ctc_ops.FLOOR
    parts = [tensor(part) for part in (given, lengths, frames)]
    loss = ctc_ops.ctc.apply(x, *parts, blank=blank, floor=floor)[0]
    return loss if narrow is None else shape.cast.apply(loss, dtype=narrow)


def _whole(value: Any) -> Any:
    return np.asarray(convert.to_tensor(value)._value)


def _rows(labels: SparseTensor, batch: int) -> tuple[Any, Any]:
    """The labels of each sequence from the left, and how many there are."""
    rows, values = labels.indices._value[:, 0], labels.values._value
    lengths = np.bincount(rows, minlength=batch)
    dense = np.zeros((batch, int(lengths.max(initial=0))), np.int64)
    dense[np.arange(dense.shape[1]) < lengths[:, None]] = values[np.argsort(rows, kind="stable")]
    return dense, lengths


def _check(x: Any, labels: Any, lengths: Any, frames: Any) -> None:
    most, batch, classes = x._value.shape
    if frames.shape != (batch,):
        raise errors.invalid(
            f"len(sequence_length) != batch_size. len(sequence_length): {frames.size} "
            f"batch_size: {batch} [Op:CTCLoss] name: "
        )
    for k, n in enumerate(frames.tolist()):
        if n > most:
            raise errors.invalid(f"sequence_length({k}) <= {most} [Op:CTCLoss] name: ")
    for k, n in enumerate(lengths.tolist()):
        if not n:
            raise errors.invalid(f"Labels length is zero in batch {k} [Op:CTCLoss] name: ")
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        raise errors.invalid(
            f"labels must be classes, in [0, {classes}), got {labels.tolist()} [Op:CTCLoss] name: "
        )


# --- helpers of the loss --------------------------------------------------------------------------
def ctc_unique_labels(labels: Any, name: str | None = None) -> list[Any]:
    """The distinct labels of each row, filled up with 0, and which of them each label is."""
    rows = _whole(labels)
    if not rows.ndim:
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    if rows.ndim != 2 and len(rows):
        raise errors.invalid(f"unique expects a 1D vector, got rows of {rows.shape} [Op:Unique]")
    found = np.zeros(rows.shape, np.int64)
    places = np.zeros(rows.shape, np.int32)
    for k, row in enumerate(rows):
        values, first, which = np.unique(row, return_index=True, return_inverse=True)
        order = np.argsort(first)
        found[k, : len(values)] = values[order]
        places[k] = np.argsort(order)[which.reshape(-1)]
    return [tensor(found), tensor(places)]


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """The labels of each row without repetitions, filled up with 0, and how many are left."""
    rows, lengths = _whole(labels), _whole(seq_length)
    if rows.ndim != 2:
        raise errors.invalid(
            f"Index out of range using input dim {rows.ndim}; labels must be [batch, time], got "
            f"{list(rows.shape)} [Op:StridedSlice]"
        )
    if not len(rows):
        raise errors.at_run(
            "Requires start <= limit when delta > 0: labels has no rows, and so no longest one "
            "[Op:Range]"
        )
    if lengths.shape not in ((1,), (len(rows),)):
        raise errors.at_run(
            f"Incompatible shapes: {list(rows.shape)} vs. {[*lengths.shape, rows.shape[1]]}: "
            "seq_length has one length for each row of labels [Op:LogicalAnd]"
        )
    kept = np.ones(rows.shape, bool)
    kept[:, 1:] = rows[:, 1:] != rows[:, :-1]
    kept &= np.arange(rows.shape[1]) < lengths[:, None]
    counts = kept.sum(axis=1)
    out = np.zeros((len(rows), int(counts.max(initial=0))), rows.dtype)
    out[np.arange(out.shape[1]) < counts[:, None]] = rows[kept]
    return tensor(out), tensor(counts.astype(lengths.dtype))


# --- decoders -------------------------------------------------------------------------------------
def ctc_greedy_decoder(
    inputs: Any,
    sequence_length: Any,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[Any], Any]:
    """The likeliest class of each frame, without blanks and repetitions, and -sum(its logits)."""
    truth(merge_repeated, "merge_repeated")
    x, lengths = _scores(inputs, sequence_length, "CTCGreedyDecoder")
    frames, batch, classes = x.shape
    blank = classes - 1 if blank_index is None else int(blank_index)
    if not -classes <= blank < classes:
        raise errors.invalid(
            f"blank_index expected to be between {-classes} and {classes - 1} but was {blank} "
            "[Op:CTCGreedyDecoder] name: "
        )
    live = np.arange(frames)[:, None] < lengths
    path = np.argmax(x, axis=-1)
    kept = live & (path != blank % classes)
    if merge_repeated:
        kept[1:] &= path[1:] != path[:-1]
    total = -np.sum(np.where(live, np.max(x, axis=-1), x.dtype.type(0)), axis=0, dtype=x.dtype)
    rows = [path[kept[:, k], k] for k in range(batch)]
    return [_sparse(rows)], tensor(total[:, None])


def _scores(inputs: Any, sequence_length: Any, label: str) -> tuple[Any, Any]:
    slow = not all(map(convert.quickly, (inputs, sequence_length)))
    if slow and convert.is_tensor_like(sequence_length):
        convert.to_tensor(sequence_length, np.dtype(np.int32))
    (given,) = matching(label, [inputs], default=("float32", "float64"))
    allow(given, label, "float32 float64")
    lengths = np.asarray(as_input(sequence_length, np.int32, label)._value)
    x = given._value
    if x.ndim != 3:
        raise errors.invalid(f"inputs is not a 3-Tensor [Op:{label}] name: ")
    if not x.size:
        raise errors.invalid(f"inputs must not be empty [Op:{label}] name: ")
    if lengths.shape != x.shape[1:2]:
        raise errors.FailedPreconditionError(
            None, None, f"len(sequence_length) != batch_size: {lengths.size} vs. {x.shape[1]} "
            f"[Op:{label}] name: ",
        )  # fmt: skip
    for k, n in enumerate(lengths.tolist()):
        if n > len(x):
            raise errors.FailedPreconditionError(
                None, None, f"sequence_length({k}) <= {len(x)} [Op:{label}] name: "
            )
    return x, lengths


def _sparse(rows: list[Any]) -> SparseTensor:
    """A row of labels for each sequence."""
    places = [(k, n) for k, row in enumerate(rows) for n in range(len(row))]
    values = np.array([value for row in rows for value in row], np.int64)
    size = [len(rows), max(map(len, rows), default=0)]
    return SparseTensor(np.array(places, np.int64).reshape(-1, 2), values, np.array(size, np.int64))


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[Any], Any]:
    """The likeliest spellings that a search with `beam_width` prefixes finds; the blank is last."""
    beam_width = arguments.integer(beam_width, "beam_width")
    top_paths = arguments.integer(top_paths, "top_paths")
    x, lengths = _scores(inputs, sequence_length, "CTCBeamSearchDecoder")
    if top_paths < 1:
        raise errors.invalid(
            f"Value for attr 'top_paths' of {top_paths} must be at least minimum 1 "
            "[Op:CTCBeamSearchDecoder] name: "
        )
    if top_paths > beam_width:
        raise errors.invalid(
            f"top_paths ({top_paths}) must be at most beam_width ({beam_width}) "
            "[Op:CTCBeamSearchDecoder] name: "
        )
    found = [
        _beams(x[: lengths[k], k].astype(np.float64), beam_width, top_paths)
        for k in range(x.shape[1])
    ]
    for beams in found:
        if len(beams) < top_paths:
            raise errors.invalid(
                "Less leaves in the beam search than requested: fewer spellings than top_paths "
                "[Op:CTCBeamSearchDecoder] name: "
            )
    paths = [_sparse([beams[n][0] for beams in found]) for n in range(top_paths)]
    scores = np.array([[score for _, score in beams] for beams in found], x.dtype)
    return paths, tensor(scores.reshape(x.shape[1], top_paths))


def _beams(x: Any, width: int, top: int) -> list[tuple[tuple[int, ...], float]]:
    """Prefixes with the logarithms of their chances to end in a blank and in their last label."""
    logs = x - np.logaddexp.reduce(x, axis=-1, keepdims=True)
    blank = x.shape[-1] - 1
    none = -np.inf
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, none)}
    for now in logs.tolist():
        grown: dict[tuple[int, ...], tuple[float, float]] = {}

        def put(prefix: tuple[int, ...], to_blank: float, to_label: float, grown: Any) -> None:
            b, n = grown.get(prefix, (none, none))
            grown[prefix] = float(np.logaddexp(b, to_blank)), float(np.logaddexp(n, to_label))

        for prefix, (b, n) in beams.items():
            both = float(np.logaddexp(b, n))
            stay = n + now[prefix[-1]] if prefix else none
            put(prefix, both + now[blank], stay, grown)
            for label in range(blank):
                comes = b if prefix and prefix[-1] == label else both
                put((*prefix, label), none, comes + now[label], grown)
        ranked = sorted(grown.items(), key=lambda item: -np.logaddexp(*item[1]))
        beams = dict(ranked[:width])
    ranked = sorted(beams.items(), key=lambda item: -np.logaddexp(*item[1]))
    return [(prefix, float(np.logaddexp(*chances))) for prefix, chances in ranked[:top]]
