"""Boxes in images: patches, crops between pixels, and the choice among boxes that overlap."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..arrays.gathering import where
from ..arrays.patches import patches
from ..arrays.reshaping import reshape
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import as_input, integer, listed, number, real
from ..math.elementwise import floor
from ..ops import index, shape
from ..ops.kernels.windows import Geometry, pads_for
from .layout import check_size


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """The windows of images, each laid out along the last axis."""
    given3 = ((sizes, "ksizes"), (strides, "strides"), (rates, "rates"))
    for given, word in given3:
        for n in listed(given, word, "extract_image_patches"):
            integer(n, word)
    x = convert.to_tensor(images)
    for given, word in given3:
        if len(given) < 4:
            raise errors.invalid(
                f"Length for attr '{word}' of {len(given)} must be at least minimum 4 "
                "[Op:ExtractImagePatches]"
            )
    for given, word in given3:
        if len(given) != 4 or given[0] != 1 or given[-1] != 1:
            raise errors.UnimplementedError(
                None, None,
                f"Only support {word} across space: [1, rows, columns, 1], got {list(given)} "
                "[Op:ExtractImagePatches] name: ",
            )  # fmt: skip
    if x._value.ndim != 4:
        raise errors.invalid(
            f"input must be 4-dimensional{list(x._value.shape)} [Op:ExtractImagePatches] name: "
        )
    if padding not in ("SAME", "VALID"):
        raise errors.invalid(
            f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
            '"SAME", "VALID" [Op:ExtractImagePatches]'
        )
    size, steps, gaps = (tuple(given[1:-1]) for given in (sizes, strides, rates))
    pads = pads_for(padding, x._value.shape[1:-1], size, steps, gaps)
    return patches(x, Geometry(size, steps, gaps, pads))


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Any:
    """Crops of one size out of boxes [top, left, bottom, right], in parts of the image."""
    method = "bilinear" if method is None else method
    if not isinstance(method, (str, bytes)):
        raise TypeError(f"Expected string for argument 'method' not {method!r}.")
    extrapolation_value = real(extrapolation_value, "extrapolation_value", 0.0)
    x = convert.to_tensor(image)
    b = convert.to_tensor(boxes, np.dtype(np.float32))
    which = convert.to_tensor(box_indices, np.dtype(np.int32))._value
    label = "CropAndResize"
    if x._value.ndim != 4:
        raise errors.invalid(f"input image must be 4-D{list(x._value.shape)} [Op:{label}] name: ")
    if b._value.ndim != 2 or b._value.shape[1] != 4 or which.shape != b._value.shape[:1]:
        raise errors.invalid(
            f"boxes must be [count, 4] and box_indices [count], got {list(b._value.shape)} and "
            f"{list(which.shape)} [Op:{label}] name: "
        )
    if method not in ("bilinear", "nearest"):
        raise errors.invalid(
            f"Value for attr 'method' of \"{method}\" is not in the list of allowed values: "
            f'"bilinear", "nearest" [Op:{label}]'
        )
    convert.examine(partial(_check_boxes, x._value.shape[0]), which)
    rows, columns = check_size(crop_size)
    if x._value.dtype != np.float32:
        x = shape.cast.apply(x, dtype=np.dtype(np.float32))
    _, height, width, _ = x._value.shape
    y = _places(b[:, 0], b[:, 2], height, rows)
    across = _places(b[:, 1], b[:, 3], width, columns)
    outside = convert.computed(
        lambda y, across: (
            (_outside(y, height)[:, :, None] | _outside(across, width)[:, None])[..., None]
        ),
        y._value, across._value,
    )  # fmt: skip
    if method == "nearest":
        found = _pixels(x, which, _half_up, y._value, _half_up, across._value)
    else:
        found = _between(x, which, y, across)
    beyond = tensor(np.float32(extrapolation_value))
    return where(tensor(outside), beyond, found)


def _check_boxes(batch: int, which: Any) -> None:
    if which.size and not 0 <= which.min() <= which.max() < batch:
        raise errors.OutOfRangeError(
            None, None, "box_index has values outside [0, batch_size) [Op:CropAndResize] name: "
        )


def _places(first: Any, last: Any, size: int, count: int) -> Any:
    """Where the rows (or columns) of the crops lie, in pixels: [boxes, count]."""
    if count == 1:
        return (0.5 * (first + last) * float(size - 1))[:, None]
    step = (last - first) * float(size - 1) / float(count - 1)
    steps = tensor(np.arange(count, dtype=np.float32))
    return first[:, None] * float(size - 1) + steps * step[:, None]


def _outside(places: Any, size: int) -> Any:
    return (places < 0) | (places > size - 1)


def _half_up(places: Any) -> Any:
    return np.floor(places + 0.5)


def _pixels(x: Any, which: Any, down: Any, rows: Any, along: Any, columns: Any) -> Any:
    """The pixels at places that `down` and `along` make whole, and which are brought inside first:
    [boxes, rows, columns, depth]."""
    batch, height, width, depth = x._value.shape

    def place(which: Any, rows: Any, columns: Any) -> Any:
        rows = np.clip(down(rows), 0, height - 1).astype(np.int64)
        columns = np.clip(along(columns), 0, width - 1).astype(np.int64)
        flat = (which[:, None, None] * height + rows[:, :, None]) * width + columns[:, None]
        return flat.astype(np.int64)

    table = reshape(x, (batch * height * width, depth))
    return index.take.apply(table, tensor(convert.computed(place, which, rows, columns)), axis=0)


def _between(x: Any, which: Any, y: Any, across: Any) -> Any:
    rows, columns = y._value, across._value
    down = (y - floor(y))[:, :, None, None]
    right = (across - floor(across))[:, None, :, None]
    one, two, three, four = (
        _pixels(x, which, first, rows, second, columns)
        for first in (np.floor, np.ceil)
        for second in (np.floor, np.ceil)
    )
    above, below = one + (two - one) * right, three + (four - three) * right
    return above + (below - above) * down


# --- the choice among boxes -----------------------------------------------------------------------
def _overlaps(boxes: Any) -> Any:
    """The part that any two boxes share of what they cover."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area = np.prod(high - low, axis=1)
    sides = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    common = np.prod(np.maximum(sides, 0), axis=2)
    union = area[:, None] + area - common
    share = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return np.where((area[:, None] > 0) & (area > 0), share, 0)


def _chosen(overlaps: Any, scores: Any, most: int, limit: float, least: float) -> Any:
    """The best boxes, one after the other, that overlap none of the better ones too much."""
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    for k in order[scores[order] > least].tolist():
        if len(kept) >= most:
            break
        if not kept or overlaps[k, kept].max() <= limit:
            kept.append(k)
    return np.array(kept, np.int32)


def _boxes(boxes: Any, scores: Any) -> tuple[Any, Any]:
    b, s = convert.to_tensor(boxes)._value, convert.to_tensor(scores)._value
    if b.ndim != 2 or b.shape[1] != 4:
        raise errors.invalid(
            f"boxes must be 2-D with 4 columns, got {list(b.shape)} [Op:NonMaxSuppressionV3] name: "
        )
    if s.shape != b.shape[:1]:
        raise errors.invalid(
            f"scores has incompatible shape {list(s.shape)} for {len(b)} boxes "
            "[Op:NonMaxSuppressionV3] name: "
        )
    return b, s


def _most(value: Any) -> int:
    """How many boxes, as the int32 that the op takes."""
    if convert.is_tensor_like(value) and value._value.dtype != np.int32:
        raise errors.wrong_dtype(
            "cannot compute NonMaxSuppressionV3 as input #2(zero-based) was expected to be a int32 "
            f"tensor but is a {convert.c_name(value._value.dtype)} tensor [Op:NonMaxSuppressionV3]"
        )
    return number(convert.to_tensor(value, np.dtype(np.int32)))


def _limit(value: float, name: str) -> float:
    found = float(convert.to_tensor(value)._value)
    if not 0 <= found <= 1:
        raise errors.invalid(f"{name} must be in [0, 1], got {found}")
    return found


def non_max_suppression(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"), name: str | None = None,
) -> Any:  # fmt: skip
    """The numbers of the best boxes that do not overlap a better one too much.

    >>> import gradtape as tf
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 3.0, 3.0]]
    >>> tf.image.non_max_suppression(boxes, [0.8, 0.9, 0.5], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    most = _most(max_output_size)
    b, s = _boxes(boxes, scores)
    limit = _limit(iou_threshold, "iou_threshold")

    def best(boxes: Any, scores: Any) -> Any:
        overlaps = _overlaps(boxes.astype(np.float32))
        return _chosen(overlaps, scores.astype(np.float32), most, limit, score_threshold)

    return tensor(convert.computed(best, b, s, sizes=(None,), dtype=np.int32))


def non_max_suppression_overlaps(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: float = 0.5,
    score_threshold: float = float("-inf"), name: str | None = None,
) -> Any:  # fmt: skip
    """The same by a matrix of overlaps."""
    parts = (overlaps, scores)
    if all(map(convert.quickly, (max_output_size, overlap_threshold, score_threshold))):
        o, s = (as_input(x, np.float32, "NonMaxSuppressionWithOverlaps")._value for x in parts)
    else:
        o, s = (convert.to_tensor(x, np.dtype(np.float32))._value for x in parts)
    if o.ndim != 2 or o.shape[0] != o.shape[1]:
        raise errors.invalid(
            f"overlaps must be square, got {list(o.shape)} "
            "[Op:NonMaxSuppressionWithOverlaps] name: "
        )  # fmt: skip
    if s.ndim != 1:
        raise errors.invalid(
            f"scores must be 1-D{list(s.shape)} [Op:NonMaxSuppressionWithOverlaps] name: "
        )
    most, limit = number(max_output_size), float(overlap_threshold)
    best = lambda o, s: _chosen(o, s, most, limit, score_threshold)
    return tensor(convert.computed(best, o, s, sizes=(None,), dtype=np.int32))


def non_max_suppression_with_scores(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: float = 0.5,
    score_threshold: float = float("-inf"), soft_nms_sigma: float = 0.0, name: str | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The numbers and the scores; with `soft_nms_sigma` overlaps lower scores and drop no box."""
    most = _most(max_output_size)
    b, s = _boxes(boxes, scores)
    limit = _limit(iou_threshold, "iou_threshold")
    if not soft_nms_sigma:
        kept = non_max_suppression(boxes, scores, most, limit, score_threshold)
        return kept, tensor(
            convert.computed(
                lambda scores, kept: scores.astype(np.float32)[kept], s, kept._value,
                sizes=(None,), dtype=np.float32,
            )
        )  # fmt: skip
    overlaps, s = _overlaps(b.astype(np.float32)), s.astype(np.float32)
    left = s.copy()
    chosen: list[int] = []
    found: list[Any] = []
    scale = np.float32(-0.5 / soft_nms_sigma)
    while len(chosen) < most and len(left) and left.max() > score_threshold:
        k = int(np.argmax(left))
        chosen.append(k)
        found.append(left[k])
        lower = np.exp(scale * overlaps[k] ** 2)
        left = left * np.where(overlaps[k] <= limit, lower, np.float32(0))
        left[k] = -np.inf
        left[chosen] = -np.inf
    return tensor(np.array(chosen, np.int32)), tensor(np.array(found, np.float32))
