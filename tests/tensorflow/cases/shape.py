"""Shapes: rearranging, joining, splitting, slicing, padding, making and casting tensors."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import REAL, fill, first_only, grads, named, tensor
from tests.tensorflow.harness import attempt, case, cases

# Each is a call of x, a float tensor of shape (2, 3, 4).
LINEAR = {
    "reshape": lambda tf, x: tf.reshape(x, [4, 6]),
    "reshape_rest": lambda tf, x: tf.reshape(x, (-1, 3)),
    "reshape_flat": lambda tf, x: tf.reshape(tensor=x, shape=[-1], name="flat"),
    "reshape_tensor": lambda tf, x: tf.reshape(x, tf.constant([24, 1], tf.int64)),
    "reshape_from_shape": lambda tf, x: tf.reshape(x, [tf.shape(x)[0], -1]),
    "transpose": lambda tf, x: tf.transpose(x),
    "transpose_perm": lambda tf, x: tf.transpose(x, [1, 0, 2]),
    "transpose_tuple": lambda tf, x: tf.transpose(x, perm=(2, 0, 1), conjugate=True),
    "matrix_transpose": lambda tf, x: tf.linalg.matrix_transpose(x),
    "concat": lambda tf, x: tf.concat([x, 2.0 * x], axis=1),
    "concat_last": lambda tf, x: tf.concat((x, x), -1),
    "concat_one": lambda tf, x: tf.concat([x], 0),
    "concat_values": lambda tf, x: tf.concat(values=[x, x[:, :1]], axis=1),
    "stack": lambda tf, x: tf.stack([x, x * x]),
    "stack_last": lambda tf, x: tf.stack([x, 3.0 * x], axis=-1),
    "unstack": lambda tf, x: tf.unstack(x),
    "unstack_axis": lambda tf, x: tf.unstack(x, axis=1),
    "unstack_num": lambda tf, x: tf.unstack(x, num=4, axis=-1),
    "unstack_one_used": lambda tf, x: tf.unstack(x)[1],
    "split": lambda tf, x: tf.split(x, 2, axis=2),
    "split_sizes": lambda tf, x: tf.split(x, [1, 3], axis=-1),
    "split_rest": lambda tf, x: tf.split(x, [1, -1], axis=1),
    "split_keywords": lambda tf, x: tf.split(value=x, num_or_size_splits=1, axis=0, num=None),
    "split_one_used": lambda tf, x: tf.split(x, 3, axis=1)[1],
    "tile": lambda tf, x: tf.tile(x, [2, 1, 2]),
    "tile_none": lambda tf, x: tf.tile(x, [1, 0, 1]),
    "pad": lambda tf, x: tf.pad(x, [[1, 0], [0, 2], [0, 0]]),
    "pad_value": lambda tf, x: tf.pad(x, [[0, 0], [1, 1], [2, 0]], constant_values=1.5),
    "pad_reflect": lambda tf, x: tf.pad(x, [[0, 0], [2, 1], [1, 3]], mode="REFLECT"),
    "pad_symmetric": lambda tf, x: tf.pad(x, [[2, 1], [0, 0], [1, 2]], "SYMMETRIC"),
    "pad_lower_case": lambda tf, x: tf.pad(x, [[0, 0], [1, 0], [0, 1]], "reflect"),
    "expand_dims": lambda tf, x: tf.expand_dims(x, 0),
    "expand_dims_last": lambda tf, x: tf.expand_dims(x, axis=-1),
    "expand_dims_inside": lambda tf, x: tf.expand_dims(x, -3),
    "squeeze": lambda tf, x: tf.squeeze(x[:1]),
    "squeeze_axis": lambda tf, x: tf.squeeze(x[:1, :, :1], axis=2),
    "squeeze_axes": lambda tf, x: tf.squeeze(x[:1, :, :1], axis=[0, -1]),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x[:, :1], [2, 3, 4]),
    "broadcast_up": lambda tf, x: tf.broadcast_to(x, shape=(2, 2, 3, 4)),
    "reverse": lambda tf, x: tf.reverse(x, [0]),
    "reverse_more": lambda tf, x: tf.reverse(x, axis=[-1, 1]),
    "roll": lambda tf, x: tf.roll(x, shift=1, axis=0),
    "roll_back": lambda tf, x: tf.roll(x, -2, -1),
    "roll_more": lambda tf, x: tf.roll(x, shift=[1, 2], axis=[1, 2]),
    "roll_same_axis": lambda tf, x: tf.roll(x, shift=[1, 2], axis=[2, 2]),
    "slice": lambda tf, x: tf.slice(x, [0, 1, 1], [1, 2, 3]),
    "slice_rest": lambda tf, x: tf.slice(x, begin=[1, 0, 2], size=[-1, 2, -1]),
    "strided_slice": lambda tf, x: tf.strided_slice(x, [0, 0, 3], [2, 3, 0], [1, 2, -2]),
    "strided_masks": lambda tf, x: tf.strided_slice(x, [1, 1], [2, 2], begin_mask=1, end_mask=2),
    "repeat": lambda tf, x: tf.repeat(x, 2, axis=1),
    "repeat_each": lambda tf, x: tf.repeat(x, repeats=[1, 0, 2], axis=1),
    "repeat_flat": lambda tf, x: tf.repeat(x, 2),
    "identity_n": lambda tf, x: tf.identity_n([x, x * 2.0]),
    "add_axes": lambda tf, x: x[:, tf.newaxis, :, None],
    "depth_to_space": lambda tf, x: tf.nn.depth_to_space(x[tf.newaxis], 2),
    "space_to_depth": lambda tf, x: tf.nn.space_to_depth(x[:, :2, :, None], 2),
    "ensure_shape": lambda tf, x: tf.ensure_shape(x, [None, 3, 4]),
    "cast_down_and_up": lambda tf, x: tf.cast(tf.cast(x, tf.float16), tf.float32),
    "cast_complex": lambda tf, x: tf.cast(x, tf.complex64),
    "sequence_mask": lambda tf, x: tf.where(tf.sequence_mask([1, 3, 4], 4), x, 0.0),
    "zeros_like": lambda tf, x: x * tf.zeros_like(x) + tf.ones_like(x),
    "shape_scaled": lambda tf, x: x / tf.cast(tf.shape(x)[0], x.dtype) + float(x.shape[1]),
    "unstack_stack": lambda tf, x: tf.stack(tf.unstack(x, axis=2)[::-1], axis=2),
}


@cases(op=LINEAR, dtype=REAL)
def linear(tf, op, dtype):
    if op is LINEAR["pad_value"] and dtype == "float64":
        return first_only(
            tf,
            lambda x: tf.pad(x, [[0, 0], [1, 1], [2, 0]], constant_values=0.5),
            source(tf, dtype),
        )
    if dtype == "float64":
        return attempt(lambda: op(tf, source(tf, dtype)))
    return first_only(tf, lambda x: op(tf, x), source(tf, dtype))


def source(tf, dtype="float32"):
    return tensor(tf, np.arange(24.0).reshape(2, 3, 4) / 4 - 2.5, dtype)


@cases(
    op={
        name: LINEAR[name]
        for name in (
            "reshape",
            "transpose",
            "concat",
            "stack",
            "split",
            "tile",
            "pad",
            "pad_reflect",
            "slice",
            "strided_slice",
            "roll",
            "reverse",
            "broadcast_to",
            "repeat",
            "squeeze",
            "unstack",
        )
    }
)
def squared(tf, op):
    x = source(tf)[:, :, :4]
    return grads(tf, lambda x: tf.nest.map_structure(tf.square, op(tf, x)), x)


INDEX = {
    "integer": 1,
    "negative": -1,
    "range": slice(0, 1),
    "from": slice(1, None),
    "upto_negative": slice(None, -1),
    "step": slice(None, None, 2),
    "backwards": slice(None, None, -1),
    "backwards_part": slice(2, 0, -1),
    "nothing": slice(1, 1),
    "far": slice(0, 100),
    "pair": (1, 2),
    "triple": (1, 2, 3),
    "mixed": (slice(None), 1),
    "ellipsis": (Ellipsis, 0),
    "ellipsis_middle": (0, Ellipsis, slice(1, 3)),
    "new_axis": (None, Ellipsis),
    "new_axis_inside": (slice(None), None, 1),
    "column": (slice(None), slice(None), slice(1, None, 2)),
    "all_backwards": (slice(None, None, -1), slice(None, None, -2)),
    "empty_tuple": (),
}
BAD_INDEX = {
    "out_of_range": 2,
    "out_below": -3,
    "too_many": (0, 0, 0, 0),
    "two_ellipses": (Ellipsis, Ellipsis),
    "list": [0, 1],
    "text": "a",
    "fraction": 0.5,
    "slice_of_fractions": slice(0.0, 1.0),
    "zero_step": slice(None, None, 0),
    "array": np.array([0, 1]),
    "mask": np.array([True, False]),
    "true": True,
    "none_only": None,
}


@cases(index=INDEX)
def getitem(tf, index):
    return first_only(tf, lambda x: x[index], source(tf))


@cases(index=BAD_INDEX)
def getitem_bad(tf, index):
    return source(tf)[index]


@case
def getitem_tensors(tf):
    x, i = source(tf), tf.constant(1)
    wide = attempt(lambda: x[tf.constant(1, tf.int64)])
    return x[i], x[i:, i], x[0, : tf.constant(2)], wide, attempt(lambda: x[x > 0.0])


@case
def getitem_twice(tf):
    return grads(tf, lambda x: x[0] * x[1] + x[0, 0], source(tf))


@case
def getitem_variable(tf):
    v = tf.Variable(fill((3, 2)).astype("float32"))
    with tf.GradientTape() as tape:
        y = v[1:] ** 2
    return y, tape.gradient(y, v)


@case
def slice_assign(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[1:3].assign([7.0, 8.0])
    v[0].assign(9.0)
    return v, attempt(lambda: v[0:2].assign([1.0, 2.0, 3.0])), v


BAD = {
    "reshape_size": lambda tf, x: tf.reshape(x, [5, 5]),
    "reshape_two_rests": lambda tf, x: tf.reshape(x, [-1, -1]),
    "reshape_no_fit": lambda tf, x: tf.reshape(x, [-1, 7]),
    "reshape_fraction": lambda tf, x: tf.reshape(x, [2.0, 12.0]),
    "reshape_none": lambda tf, x: tf.reshape(x, [None, 4]),
    "reshape_negative": lambda tf, x: tf.reshape(x, [-2, 12]),
    "reshape_scalar": lambda tf, x: tf.reshape(x, 24),
    "reshape_text": lambda tf, x: tf.reshape(x, "a"),
    "transpose_short": lambda tf, x: tf.transpose(x, [1, 0]),
    "transpose_twice": lambda tf, x: tf.transpose(x, [0, 0, 1]),
    "transpose_out": lambda tf, x: tf.transpose(x, [0, 1, 3]),
    "transpose_negative": lambda tf, x: tf.transpose(x, [0, -1, 1]),
    "concat_axis": lambda tf, x: tf.concat([x, x], 3),
    "concat_axis_below": lambda tf, x: tf.concat([x, x], -4),
    "concat_axis_numpy": lambda tf, x: tf.concat([x, x], np.int8(0)),
    "concat_axis_list_of_one": lambda tf, x: tf.concat([x], [0]),
    "concat_axis_tensor": lambda tf, x: tf.concat([x, x], tf.constant(0.0)),
    "concat_axis_of_one": lambda tf, x: tf.concat([x], tf.constant(0.0)),
    "concat_axis_int8": lambda tf, x: tf.concat([x, x], tf.constant(0, tf.int8)),
    "concat_axis_int64": lambda tf, x: tf.concat([x, x], tf.constant(0, tf.int64)),
    "concat_axis_list": lambda tf, x: tf.concat([x, x], [0, 1]),
    "concat_axis_word": lambda tf, x: tf.concat([x, x], "rows"),
    "concat_without_list": lambda tf, x: tf.concat(x, x),
    "concat_shapes": lambda tf, x: tf.concat([x, x[:1]], 1),
    "concat_ranks": lambda tf, x: tf.concat([x, x[0]], 0),
    "concat_scalars": lambda tf, x: tf.concat([1.0, 2.0], 0),
    "concat_dtypes": lambda tf, x: tf.concat([x, tf.cast(x, tf.int32)], 0),
    "concat_no_axis": lambda tf, x: tf.concat([x, x]),
    "concat_numpy": lambda tf, x: tf.concat([x, np.zeros((1, 3, 4))], 0),
    "stack_axis": lambda tf, x: tf.stack([x, x], 4),
    "stack_shapes": lambda tf, x: tf.stack([x, x[:1]]),
    "stack_dtypes": lambda tf, x: tf.stack([x[0, 0, 0], tf.constant(1)]),
    "stack_empty": lambda tf, x: tf.stack([]),
    "stack_python": lambda tf, x: tf.stack([x[0, 0, 0], 1, 2.5]),
    "unstack_scalar": lambda tf, x: tf.unstack(x[0, 0, 0]),
    "unstack_num": lambda tf, x: tf.unstack(x, num=3),
    "unstack_axis": lambda tf, x: tf.unstack(x, axis=3),
    "split_uneven": lambda tf, x: tf.split(x, 2, axis=1),
    "split_sum": lambda tf, x: tf.split(x, [1, 1], axis=1),
    "split_axis": lambda tf, x: tf.split(x, 2, axis=3),
    "split_zero": lambda tf, x: tf.split(x, 0),
    "split_rests": lambda tf, x: tf.split(x, [-1, -1]),
    "split_empty_part": lambda tf, x: tf.split(x, [0, 2]),
    "tile_short": lambda tf, x: tf.tile(x, [2, 1]),
    "tile_negative": lambda tf, x: tf.tile(x, [2, -1, 1]),
    "tile_fraction": lambda tf, x: tf.tile(x, [2.0, 1.0, 1.0]),
    "pad_rows": lambda tf, x: tf.pad(x, [[1, 1]]),
    "pad_negative": lambda tf, x: tf.pad(x, [[-1, 0], [0, 0], [0, 0]]),
    "pad_mode": lambda tf, x: tf.pad(x, [[0, 0]] * 3, "EDGE"),
    "pad_reflect_far": lambda tf, x: tf.pad(x, [[2, 0], [0, 0], [0, 0]], "REFLECT"),
    "pad_symmetric_far": lambda tf, x: tf.pad(x, [[3, 0], [0, 0], [0, 0]], "SYMMETRIC"),
    "expand_dims_axis": lambda tf, x: tf.expand_dims(x, 4),
    "expand_dims_below": lambda tf, x: tf.expand_dims(x, -5),
    "expand_dims_no_axis": lambda tf, x: tf.expand_dims(x),
    "squeeze_large": lambda tf, x: tf.squeeze(x, axis=0),
    "squeeze_axis": lambda tf, x: tf.squeeze(x, axis=3),
    "broadcast_clash": lambda tf, x: tf.broadcast_to(x, [2, 3, 5]),
    "broadcast_down": lambda tf, x: tf.broadcast_to(x, [3, 4]),
    "reverse_axis": lambda tf, x: tf.reverse(x, [3]),
    "reverse_twice": lambda tf, x: tf.reverse(x, [0, 0]),
    "reverse_integer": lambda tf, x: tf.reverse(x, 0),
    "roll_axis": lambda tf, x: tf.roll(x, 1, 3),
    "roll_lengths": lambda tf, x: tf.roll(x, [1, 2], [0]),
    "slice_far": lambda tf, x: tf.slice(x, [0, 0, 0], [1, 1, 5]),
    "slice_begin": lambda tf, x: tf.slice(x, [3, 0, 0], [1, 1, 1]),
    "slice_short": lambda tf, x: tf.slice(x, [0], [1]),
    "repeat_negative": lambda tf, x: tf.repeat(x, -1, axis=0),
    "repeat_lengths": lambda tf, x: tf.repeat(x, [1, 2, 3], axis=0),
    "ensure_shape": lambda tf, x: tf.ensure_shape(x, [2, 2, 2]),
    "junk": lambda tf, x: tf.reshape(object(), [1]),
    "ragged": lambda tf, x: tf.constant([[1.0], [2.0, 3.0]]),
    "eye_negative": lambda tf, x: tf.eye(-1),
    "zeros_negative": lambda tf, x: tf.zeros([-1]),
    "fill_not_scalar": lambda tf, x: tf.fill([2], [1.0, 2.0]),
    "range_no_step": lambda tf, x: tf.range(0, 3, 0),
    "range_wrong_way": lambda tf, x: tf.range(3, 0),
    "linspace_none": lambda tf, x: tf.linspace(0.0, 1.0, 0),
    "one_hot_float": lambda tf, x: tf.one_hot([0.0, 1.0], 2),
    "one_hot_negative_depth": lambda tf, x: tf.one_hot([0, 1], -1),
    "depth_to_space": lambda tf, x: tf.nn.depth_to_space(x[None], 3),
}


@cases(op=BAD)
def bad(tf, op):
    return op(tf, source(tf))


@cases(
    shape=[(), (1,), (0, 3), (1, 1, 1)],
    op={
        "reshape": lambda tf, x: tf.reshape(x, [-1]),
        "transpose": lambda tf, x: tf.transpose(x),
        "squeeze": lambda tf, x: tf.squeeze(x),
        "expand_dims": lambda tf, x: tf.expand_dims(x, -1),
        "stack": lambda tf, x: tf.stack([x, x]),
        "concat": lambda tf, x: tf.concat([x, x], -1),
        "repeat": lambda tf, x: tf.repeat(x, 2),
        "broadcast_to": lambda tf, x: tf.broadcast_to(x, [2, *x.shape]),
        "tile": lambda tf, x: tf.tile(x, [2] * len(x.shape)),
        "pad": lambda tf, x: tf.pad(x, [[1, 1]] * len(x.shape)),
        "reverse": lambda tf, x: tf.reverse(x, [0]),
        "unstack": lambda tf, x: tf.unstack(x),
    },
)
def small(tf, op, shape):
    return first_only(tf, lambda x: op(tf, x), tensor(tf, fill(shape)))


# ------------------------------------------------------------------------------------ making

MAKE = {
    "zeros": lambda tf: tf.zeros([2, 1]),
    "zeros_keywords": lambda tf: tf.zeros(shape=(2,), dtype=tf.int32, name="z"),
    "zeros_scalar": lambda tf: tf.zeros([]),
    "zeros_integer": lambda tf: tf.zeros(3),
    "zeros_bool": lambda tf: tf.zeros([2], tf.bool),
    "zeros_string": lambda tf: tf.zeros([2], tf.string),
    "zeros_shape": lambda tf: tf.zeros(tf.TensorShape([1, 2])),
    "zeros_tensor": lambda tf: tf.zeros(tf.constant([1, 2])),
    "zeros_mixed": lambda tf: tf.zeros([tf.constant(1), 2]),
    "zeros_wide": lambda tf: tf.zeros([2], "float64"),
    "ones": lambda tf: tf.ones([2, 1]),
    "ones_keywords": lambda tf: tf.ones(shape=[1], dtype=tf.complex64),
    "ones_string": lambda tf: tf.ones([2], tf.string),
    "zeros_like": lambda tf: tf.zeros_like([1, 2]),
    "zeros_like_dtype": lambda tf: tf.zeros_like([1.0, 2.0], dtype=tf.int64),
    "ones_like": lambda tf: tf.ones_like(np.array([1.0, 2.0])),
    "ones_like_dtype": lambda tf: tf.ones_like([1, 2], dtype="float16"),
    "ones_like_bool": lambda tf: tf.ones_like([True, False]),
    "fill": lambda tf: tf.fill([2, 2], 7),
    "fill_float": lambda tf: tf.fill((2,), 7.5, name="f"),
    "fill_numpy": lambda tf: tf.fill([2], np.float64(7.5)),
    "fill_text": lambda tf: tf.fill([2], "a"),
    "fill_scalar": lambda tf: tf.fill([], 1.5),
    "eye": lambda tf: tf.eye(2),
    "eye_wide": lambda tf: tf.eye(num_rows=2, num_columns=3, dtype=tf.float64),
    "eye_batch": lambda tf: tf.eye(2, batch_shape=[2, 1]),
    "eye_whole": lambda tf: tf.eye(3, 1, dtype=tf.int32),
    "range": lambda tf: tf.range(4),
    "range_step": lambda tf: tf.range(1, 10, 3),
    "range_keywords": lambda tf: tf.range(start=5, limit=1, delta=-2),
    "range_float": lambda tf: tf.range(0.0, 1.0, 0.25),
    "range_float_rounds": lambda tf: tf.range(0.0, 1.0, 0.1),
    "range_mixed": lambda tf: tf.range(0, 2.5, 1),
    "range_dtype": lambda tf: tf.range(3, dtype=tf.float32),
    "range_wide": lambda tf: tf.range(tf.constant(3, tf.int64)),
    "range_numpy": lambda tf: tf.range(np.int64(3)),
    "range_huge": lambda tf: tf.range(2**31, 2**31 + 2),
    "range_empty": lambda tf: tf.range(0),
    "range_float64": lambda tf: tf.range(np.float64(2.0)),
    "linspace": lambda tf: tf.linspace(0.0, 1.0, 5),
    "linspace_keywords": lambda tf: tf.linspace(start=-1.0, stop=1.0, num=3, name="l"),
    "linspace_int": lambda tf: tf.linspace(0, 10, 3),
    "linspace_one": lambda tf: tf.linspace(2.0, 5.0, 1),
    "linspace_rows": lambda tf: tf.linspace([0.0, 1.0], [1.0, 3.0], 3),
    "linspace_axis": lambda tf: tf.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=-1),
    "linspace_wide": lambda tf: tf.linspace(np.float64(0), np.float64(1), 4),
    "linspace_mixed": lambda tf: tf.linspace(0.0, 1, 3),
    "one_hot": lambda tf: tf.one_hot([0, 2, 1], 3),
    "one_hot_keywords": lambda tf: tf.one_hot([0, 2], depth=3, axis=0, dtype=tf.int32),
    "one_hot_out": lambda tf: tf.one_hot([-1, 5, 1], 3),
    "one_hot_values": lambda tf: tf.one_hot([1], 3, on_value=5.0, off_value=-1.0),
    "one_hot_on_only": lambda tf: tf.one_hot([1], 3, on_value=5),
    "one_hot_bool": lambda tf: tf.one_hot([1], 3, on_value=True, off_value=False),
    "one_hot_matrix": lambda tf: tf.one_hot([[0, 1], [1, 0]], 2, axis=1),
    "one_hot_scalar": lambda tf: tf.one_hot(1, 3),
    "one_hot_uint8": lambda tf: tf.one_hot(np.array([1, 0], np.uint8), 2),
    "one_hot_int64": lambda tf: tf.one_hot(np.array([1, 0]), 2),
    "one_hot_wide": lambda tf: tf.one_hot([1], 2, dtype=tf.float64),
    "meshgrid": lambda tf: tf.meshgrid([1, 2], [3, 4, 5]),
    "meshgrid_ij": lambda tf: tf.meshgrid([1, 2], [3, 4, 5], indexing="ij"),
    "meshgrid_three": lambda tf: tf.meshgrid([1.0], [2.0, 3.0], [4.0, 5.0]),
    "meshgrid_bad": lambda tf: tf.meshgrid([1, 2], [3], indexing="yx"),
    "shape": lambda tf: tf.shape(np.zeros((2, 3))),
    "shape_out": lambda tf: tf.shape([1, 2], out_type=tf.int64),
    "shape_scalar": lambda tf: tf.shape(1.0),
    "shape_n": lambda tf: tf.shape_n([np.zeros(2), np.zeros((1, 1))]),
    "size": lambda tf: tf.size(np.zeros((2, 3)), out_type=tf.int64, name="s"),
    "size_default": lambda tf: tf.size([[1, 2], [3, 4]]),
    "rank": lambda tf: tf.rank(np.zeros((2, 3))),
    "sequence_mask": lambda tf: tf.sequence_mask([1, 3], maxlen=3, dtype=tf.int32),
    "sequence_mask_free": lambda tf: tf.sequence_mask([1, 2]),
    "broadcast_static_shape": lambda tf: tf.broadcast_static_shape(
        tf.TensorShape([2, 1]), tf.TensorShape([1, 3])
    ),
    "broadcast_dynamic_shape": lambda tf: tf.broadcast_dynamic_shape([2, 1], [1, 3]),
    "invert_permutation": lambda tf: tf.math.invert_permutation([2, 0, 1]),
    "invert_bad": lambda tf: tf.math.invert_permutation([2, 0, 2]),
    "zeros_initializer": lambda tf: tf.zeros_initializer()([2, 1]),
    "ones_initializer": lambda tf: tf.ones_initializer()([2], dtype=tf.float64),
    "constant_initializer": lambda tf: tf.constant_initializer(3.0)([2]),
    "constant_list": lambda tf: tf.constant_initializer([1, 2])([2], dtype=tf.float32),
    "constant_misfit": lambda tf: tf.constant_initializer([1, 2, 3])([2]),
    "tensor_diag": lambda tf: tf.linalg.tensor_diag([1.0, 2.0]),
}


@cases(make=MAKE)
def making(tf, make):
    return make(tf)


@case
def making_has_slopes(tf):
    start, stop = tf.constant(0.5), tf.constant(2.0)
    return [
        first_only(tf, lambda a, b: tf.linspace(a, b, 4), start, stop),
        first_only(tf, lambda a: tf.fill([2, 2], a), start),
        first_only(tf, lambda a, b: tf.range(a, b, 0.5), start, stop),
        first_only(tf, lambda a, b: tf.meshgrid([a, b], [a, a]), start, stop),
        first_only(tf, lambda a, b: tf.one_hot([1, 0], 3, a, b), start, stop),
        first_only(tf, lambda a, b: tf.convert_to_tensor([[a, b], [b, 1.0]]), start, stop),
        first_only(tf, lambda a, b: tf.stack([a, b, 3.0]), start, stop),
        first_only(tf, lambda a: tf.pad([1.0, 2.0], [[1, 1]], constant_values=a), start),
    ]


CASTS = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int32",
    "int64",
    "uint8",
    "bool",
    "complex64",
]


@cases(source=CASTS, target=CASTS)
def cast(tf, source, target):
    # A negative number as an unsigned one is a matter of the processor.
    unsigned = {"uint8", "bool"} & {source, target}
    values = [0, 1, 2.75, 100] if unsigned else [-1.75, 0, 1.5, 100.25]
    x = tf.constant(values) if source == "complex64" else tensor(tf, values, source)
    return first_only(tf, lambda x: tf.cast(x, target), tf.cast(x, source))


@case
def cast_far(tf):
    x = tf.constant([300.0, -1.0, 3e9, float("inf"), -0.5])
    return [
        tf.cast(tf.constant([1e5, 1e-9, 65519.0]), tf.float16),
        tf.saturate_cast(x, tf.uint8),
        tf.cast(tf.constant([300, -1, 2**31 - 1]), tf.uint8),
        tf.cast(2.7, dtype=tf.int32, name="c"),
        tf.cast([1, 2], "float32"),
        tf.cast(np.array([1.5]), np.float32),
        tf.cast([True, False], tf.float32),
        attempt(lambda: tf.cast("1", tf.int32)),
        attempt(lambda: tf.cast([1.0], "nonsense")),
        attempt(lambda: tf.cast(None, tf.int32)),
        attempt(lambda: tf.cast([1.0], None)),
    ]


CONSTANT = {
    "integer": (3, {}),
    "huge": (2**40, {}),
    "too_huge": (2**70, {}),
    "negative_unsigned": (-1, {"dtype": "uint8"}),
    "overflow": (300, {"dtype": "uint8"}),
    "float": (3.5, {}),
    "float_as_int": (3.5, {"dtype": "int32"}),
    "int_as_float": (3, {"dtype": "float32"}),
    "bool": (True, {}),
    "bool_as_float": (True, {"dtype": "float32"}),
    "int_as_bool": (1, {"dtype": "bool"}),
    "complex": (1 + 2j, {}),
    "complex_as_float": (1 + 2j, {"dtype": "float32"}),
    "text": ("abc", {}),
    "bytes": (b"abc", {}),
    "texts": ([["a"], ["b"]], {}),
    "list": ([1, 2.5], {}),
    "list_bools": ([True, 2], {}),
    "list_mixed": ([1, "a"], {}),
    "nested": ([[1, 2], [3, 4]], {"dtype": "float64"}),
    "empty": ([], {}),
    "empty_rows": ([[], []], {}),
    "numpy64": (np.array([1.5, 2.5]), {}),
    "numpy_as_32": (np.array([1.5, 2.5]), {"dtype": "float32"}),
    "numpy_as_int": (np.array([1.5, 2.5]), {"dtype": "int32"}),
    "numpy_int": (np.array([1, 2]), {}),
    "numpy_scalar": (np.float64(1.5), {}),
    "numpy_scalars": ([np.float64(1.5), np.float64(2.5)], {}),
    "numpy_list_mixed": ([np.float32(1.5), np.float64(2.5)], {}),
    "numpy_half": (np.float16(1.5), {}),
    "numpy_text": (np.array(["a", "bc"]), {}),
    "shape": (2.0, {"shape": (2, 2)}),
    "reshape": ([1, 2, 3, 4], {"shape": [2, 2]}),
    "shape_misfit": ([1, 2, 3], {"shape": [2, 2]}),
    "none": (None, {}),
    "none_inside": ([1.0, None], {}),
    "dict": ({"a": 1}, {}),
    "set": ({1, 2}, {}),
    "range": (range(3), {}),
    "generator": ("generator", {"dtype": "float32"}),
    "name": (1.0, {"name": "c"}),
}


@cases(given=CONSTANT)
def constant(tf, given):
    value, options = given
    return attempt(lambda: tf.constant(value, **options)), attempt(
        lambda: tf.convert_to_tensor(value, dtype=options.get("dtype"))
    )


@case
def convert_to_tensor(tf):
    x, v = tf.constant([1.0, 2.0]), tf.Variable([3.0])
    return [
        tf.convert_to_tensor(x) is x,
        tf.convert_to_tensor(v),
        tf.convert_to_tensor([x, x]),
        tf.convert_to_tensor(1, dtype_hint=tf.float32),
        tf.convert_to_tensor([1.5], dtype_hint=tf.int32),
        attempt(lambda: tf.convert_to_tensor(x, dtype=tf.int32)),
        attempt(lambda: tf.convert_to_tensor(x, dtype=tf.float64)),
        attempt(lambda: tf.convert_to_tensor([x, tf.constant(1)])),
        attempt(lambda: tf.constant(x, dtype=tf.float64)),
        tf.convert_to_tensor(tf.TensorShape([2, 3])),
        attempt(lambda: tf.convert_to_tensor(tf.TensorShape([None, 3]))),
        tf.is_tensor(x),
        tf.is_tensor(v),
        tf.is_tensor(np.ones(2)),
        tf.is_tensor(1.0),
    ]


@cases(dtype=["float16", "bfloat16", "int32", "int64", "bool", "complex64", "uint8"])
def rearranging_dtypes(tf, dtype):
    x = tensor(tf, np.array([[1, 2, 0], [4, 5, 6]]), dtype)
    return [
        attempt(lambda op=op: op(x))
        for op in (
            tf.transpose,
            tf.zeros_like,
            tf.ones_like,
            lambda x: tf.concat([x, x], 1),
            lambda x: tf.stack([x, x]),
            lambda x: x[1, ::2],
            lambda x: tf.tile(x, [1, 2]),
            lambda x: tf.pad(x, [[1, 0], [0, 0]]),
            lambda x: tf.pad(x, [[0, 0], [1, 0]], "REFLECT"),
            lambda x: tf.reverse(x, [1]),
            lambda x: tf.roll(x, 1, 1),
            lambda x: tf.split(x, 3, 1),
            lambda x: tf.repeat(x, 2, 0),
        )
    ]


@cases(op=["add", "multiply", "matmul"])
def reshaped_in_the_middle(tf, op):
    x = tensor(tf, fill((2, 2)), "float64")
    return grads(tf, lambda x: named(tf, op)(tf.reshape(tf.transpose(x), [2, 2]), x), x)


@case
def shapes_of_tensors(tf):
    x = source(tf)
    return x.shape, x.shape[1], x.shape.rank, x.ndim, x.dtype, x.get_shape(), len(x), x.shape[1:]


@case
def nested_variables_concat(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])
    with tf.GradientTape() as tape:
        y = tf.concat([a, tf.reshape(b, [-1])], 0) ** 2
        z = tf.reduce_sum(y)
    return z, tape.gradient(z, [a, b])


@cases(
    text=[
        "tf.reshape(tf.ones([9]), (tf.constant(3.0), tf.constant(3.9), 1))",
        "tf.reshape(tf.ones([9]), (tf.constant(3.0, tf.float16), 3))",
        "tf.reshape(tf.ones([9]), tf.constant([3.0, 3.0]))",
        "tf.reshape(tf.ones([9]), [3.0, 3.0])",
        "tf.reshape(tf.ones([9]), (np.float32(3), 3))",
        "tf.zeros((tf.constant(2.0), 3))",
        "tf.fill((tf.constant(2.0), 3), 1)",
        "tf.tile(tf.ones([2]), (tf.constant(3.0),))",
        "tf.broadcast_to(tf.ones([2]), (tf.constant(3.0), 2))",
        "tf.transpose(tf.ones([2, 3]), (tf.constant(1.0), tf.constant(0.0)))",
        "tf.random.normal((tf.constant(3.0), 3))",
    ]
)
def floats_in_lists(tf, text):
    return eval(text, {"tf": tf, "np": np})
