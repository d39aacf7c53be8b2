"""Ragged tensors: what makes them and takes them apart, and the gradients of their values."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import fill, first_only, tensor
from tests.tensorflow.harness import case, cases

ROWS = [[1, 2], [], [3]]


@cases(
    given={
        "flat": ([1, 2], {}),
        "scalar": (3, {}),
        "empty": ([], {}),
        "empties": ([[], []], {}),
        "rows": (ROWS, {}),
        "deep": ([[[1], [2, 3]], []], {}),
        "uneven": ([[1], 2], {}),
        "uneven_deep": ([[1], [[2]]], {}),
        "rank_0": ([[1, 2], [3, 4]], {"ragged_rank": 0}),
        "rank_1": ([[[1, 2], [3, 4]], [[5, 6]]], {"ragged_rank": 1}),
        "rank_1_uneven": ([[[1, 2], [3]], [[5, 6]]], {"ragged_rank": 1}),
        "rank_2": (ROWS, {"ragged_rank": 2}),
        "inner": ([[[1, 2], [3, 4]], [[5, 6]]], {"inner_shape": (2,)}),
        "inner_empty": ([[], []], {"ragged_rank": 1, "inner_shape": (2,)}),
        "inner_none": (ROWS, {"inner_shape": ()}),
        "both": ([[[1, 2], [3, 4]], []], {"ragged_rank": 1, "inner_shape": (2,)}),
        "arrays": ([np.array([1, 2]), np.array([3])], {}),
        "text": ([["a"], ["b", "c"]], {}),
        "floats": ([[1.5], []], {}),
    }
)
def constants(tf, given):
    return tf.ragged.constant(given[0], **given[1])


@cases(
    given={
        "dense": lambda tf: ([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3]),
        "ragged": lambda tf: (tf.ragged.constant([[1, 2], [3]]), [[True, False], [True]]),
        "both": lambda tf: (
            tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[True, False], [True]]),
        ),
        "rows": lambda tf: (tf.ragged.constant([[1, 2], [3]]), [False, True]),
        "vector": lambda tf: ([1, 2, 3], [True, False, True]),
        "dense_rows": lambda tf: ([[1, 2], [3, 4]], [True, False]),
        "inner": lambda tf: ([[[1, 2], [3, 4]]], [[True, False]]),
        "deep": lambda tf: (
            tf.ragged.constant([[[1, 2], [3]], [[4]]]), tf.ragged.constant([[True, False], [True]]),
        ),
        "deep_dense": lambda tf: ([[[1, 2], [3, 4]]], [[[True, False], [True, True]]]),
        "scalar": lambda tf: ([1, 2], True),
        "clash": lambda tf: ([1, 2], [True]),
    }
)  # fmt: skip
def boolean_mask(tf, given):
    return tf.ragged.boolean_mask(*given(tf))


@cases(
    given={
        "square": lambda tf, r: tf.ragged.map_flat_values(tf.square, r),
        "two": lambda tf, r: tf.ragged.map_flat_values(tf.add, r, r),
        "number": lambda tf, r: tf.ragged.map_flat_values(tf.add, r, 5),
        "named": lambda tf, r: tf.ragged.map_flat_values(tf.add, x=r, y=r),
        "none": lambda tf, r: tf.ragged.map_flat_values(tf.add, 1, 2),
        "clash": lambda tf, r: tf.ragged.map_flat_values(
            tf.add, r, tf.ragged.constant([[1], [2, 3], []])
        ),
        "to_scalar": lambda tf, r: tf.ragged.map_flat_values(tf.reduce_sum, r),
    }
)
def map_flat_values(tf, given):
    return given(tf, tf.ragged.constant(ROWS))


@cases(
    given={
        "limits": ([3, 5, 2],),
        "starts": ([0, 5, 8], [3, 3, 12]),
        "step": ([0, 5, 8], [3, 3, 12], 2),
        "steps": ([0, 5], [3, 3], [1, -1]),
        "scalar": (3,),
        "scalar_start": (1, [2, 4]),
        "float": ([0.0, 1.0], [2.0, 3.0], 0.5),
        "long": (np.array([3, 1]),),
        "zero_step": ([0], [3], 0),
        "clash": ([0, 1], [3, 4, 5]),
        "none": ([],),
    }
)
def ranges(tf, given):
    return tf.ragged.range(*given)


@cases(options={"int64": {"dtype": "int64"}, "float32": {"dtype": "float32"},
                "splits": {"row_splits_dtype": "int32"}})  # fmt: skip
def range_dtypes(tf, options):
    return tf.ragged.range([3, 1], **{key: getattr(tf, value) for key, value in options.items()})


@cases(
    given={
        "ids": lambda tf: tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5, 6, 9]),
        "ids_int32": lambda tf: tf.ragged.row_splits_to_segment_ids(tf.constant([0, 3])),
        "ids_out": lambda tf: tf.ragged.row_splits_to_segment_ids([0, 3], out_type=tf.int32),
        "ids_none": lambda tf: tf.ragged.row_splits_to_segment_ids([]),
        "ids_float": lambda tf: tf.ragged.row_splits_to_segment_ids([0.0, 1.0]),
        "ids_matrix": lambda tf: tf.ragged.row_splits_to_segment_ids([[0, 1]]),
        "splits": lambda tf: tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2, 3]),
        "splits_more": lambda tf: tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5),
        "splits_int32": lambda tf: tf.ragged.segment_ids_to_row_splits(tf.constant([0, 1])),
        "splits_out": lambda tf: tf.ragged.segment_ids_to_row_splits([0, 1], out_type=tf.int32),
        "splits_none": lambda tf: tf.ragged.segment_ids_to_row_splits(tf.zeros([0], tf.int64)),
        "splits_float": lambda tf: tf.ragged.segment_ids_to_row_splits([0.0, 1.0]),
    }
)
def rows(tf, given):
    return given(tf)


@cases(
    axis=[0, 1, 2, -1, -2, 3],
    given={
        "ragged": lambda tf: [tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4], [5, 6]])],
        "alike": lambda tf: [tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4, 5], [6]])],
        "mixed": lambda tf: [tf.ragged.constant([[1, 2], [3]]), tf.constant([[4], [5]])],
        "one": lambda tf: [tf.ragged.constant([[1, 2], [3]])],
        "dense": lambda tf: [tf.ones([2, 2]), tf.ones([2, 2])],
        "deep": lambda tf: [tf.ragged.constant([[[1, 2], [3]], [[4]]])] * 2,
    },
)
def stacks(tf, axis, given):
    return tf.ragged.stack(given(tf), axis)


@cases(
    given={
        "lists": lambda tf: tf.ragged.stack([[1, 2], [3, 4, 5]]),
        "vectors_inner": lambda tf: tf.ragged.stack([tf.constant([1, 2]), tf.constant([3, 4])], 1),
        "scalars": lambda tf: tf.ragged.stack([1, 2]),
        "sizes": lambda tf: tf.ragged.stack([tf.ones([2, 2]), tf.ones([1, 3])]),
        "none": lambda tf: tf.ragged.stack([]),
        "ranks": lambda tf: tf.ragged.stack([[1], [[2]]]),
        "alone": lambda tf: tf.ragged.stack(tf.constant([1, 2])),
    }
)
def stacks_of(tf, given):
    return given(tf)


@cases(
    given={
        "rowids": lambda R: R.from_value_rowids([1, 2, 3], [0, 0, 2]),
        "rowids_more": lambda R: R.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4),
        "rowids_falling": lambda R: R.from_value_rowids([1, 2, 3], [0, 2, 0]),
        "rowids_short": lambda R: R.from_value_rowids([1, 2, 3], [0, 2]),
        "starts": lambda R: R.from_row_starts([1, 2, 3], [0, 2, 2]),
        "limits": lambda R: R.from_row_limits([1, 2, 3], [2, 2, 3]),
        "limits_short": lambda R: R.from_row_limits([1, 2, 3], [2, 2]),
        "nested_lengths": lambda R: R.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]]),
        "tensor": lambda R: R.from_tensor([[1, 2], [3, 4]]),
        "tensor_deep": lambda R: R.from_tensor([[[1, 2], [3, 4]]], ragged_rank=2),
        "tensor_lengths": lambda R: R.from_tensor([[1, 2], [3, 4]], lengths=[1, 2]),
        "tensor_no_lengths": lambda R: R.from_tensor([[1, 2], [3, 4]], lengths=[0, 0]),
        "tensor_too_long": lambda R: R.from_tensor([[1, 2], [3, 4]], lengths=[-1, 5]),
        "tensor_few_lengths": lambda R: R.from_tensor([[1, 2], [3, 4]], lengths=[1]),
        "tensor_nested": lambda R: R.from_tensor(
            [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], lengths=([2, 1], [2, 0, 1])
        ),
        "tensor_padding": lambda R: R.from_tensor([[1, 0, 0], [0, 2, 0], [0, 0, 0]], padding=0),
        "tensor_padding_text": lambda R: R.from_tensor([["a", ""], ["", "b"]], padding=""),
        "tensor_padding_rows": lambda R: R.from_tensor(
            [[[1, 0], [0, 0]], [[2, 2], [3, 0]]], padding=[0, 0]
        ),
        "tensor_padding_shape": lambda R: R.from_tensor([[[1, 0], [0, 0]]], padding=0),
        "tensor_padding_kind": lambda R: R.from_tensor([[1, 0]], padding=0.5),
        "tensor_vector": lambda R: R.from_tensor([1, 2]),
        "tensor_rank": lambda R: R.from_tensor([[1, 2]], ragged_rank=2),
        "parts": lambda R: [
            (x := R.from_row_splits([1, 2, 3], [0, 2, 2, 3])).row_starts(),
            x.row_limits(), x.row_lengths(), x.nested_row_lengths(), x.nrows(), x.get_shape(),
        ],
    }
)  # fmt: skip
def made(tf, given):
    return given(tf.RaggedTensor)


@cases(
    given={
        "vector": ([1, 2, 3, 4], [1, 0, 1, 3], 5),
        "rows": ([[1, 2], [3, 4]], [1, 0], 2),
        "matrix": ([[1, 2], [3, 4]], [[1, 0], [1, 1]], 2),
        "scalar": ([1, 2], 1, 3),
        "too_many": ([1, 2], [0, 3], 2),
        "below": ([1, 2], [0, -1], 2),
        "clash": ([1, 2], [0], 2),
        "none": (np.zeros(0, np.int32), np.zeros(0, np.int32), 2),
        "text": (["a", "b"], [1, 0], 2),
    }
)
def parts(tf, given):
    return tf.ragged.stack_dynamic_partitions(*given)


def dense(tf, ragged):
    return ragged.flat_values


@cases(
    call={
        "mask": lambda tf, x: tf.ragged.boolean_mask(x, [[True, False], [True, True]]),
        "map": lambda tf, x: tf.ragged.map_flat_values(tf.square, tf.RaggedTensor.from_tensor(x)),
        "stack": lambda tf, x: tf.ragged.stack([x, 2.0 * x]),
        "stack_rows": lambda tf, x: tf.ragged.stack([tf.RaggedTensor.from_tensor(x), 2.0 * x], 1),
        "lengths": lambda tf, x: tf.RaggedTensor.from_tensor(x, lengths=[1, 2]),
        "parts": lambda tf, x: tf.ragged.stack_dynamic_partitions(x, [1, 0], 3),
    }
)
def slopes(tf, call):
    found = first_only(tf, lambda x: dense(tf, call(tf, x)), tensor(tf, fill((2, 2))))
    return found[0], [tf.convert_to_tensor(g) for g in found[1]]


@case
def repeated_rows(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        rows = tf.RaggedTensor.from_row_lengths(x * x, [2, 1])
        y = tf.reduce_sum(tf.ragged.boolean_mask(rows, [[True, True], [False]]).flat_values)
    return y, tape.gradient(y, x)


# ------------------------------------------------------------------------- functions of tensors

RAGGED = {
    "rows": lambda tf: tf.ragged.constant([[3.0, 1.0, 2.0], [], [4.0, 5.0]]),
    "deep": lambda tf: tf.ragged.constant([[[1.0, 2.0], [3.0]], [], [[4.0, 5.0, 6.0], []]]),
    "inner": lambda tf: tf.RaggedTensor.from_row_splits(tf.constant(fill((4, 2))), [0, 1, 1, 4]),
    "whole": lambda tf: tf.ragged.constant([[3, 1, 2], [], [4, 5]]),
}
REDUCTIONS = ["sum", "mean", "max", "min", "prod", "variance", "std"]


@cases(op=REDUCTIONS, given=RAGGED, axis=[None, 0, 1, -1, [0, 1], 3], keepdims=[False, True])
def reductions(tf, op, given, axis, keepdims):
    return getattr(tf.math, f"reduce_{op}")(given(tf), axis, keepdims)


@cases(op=["any", "all"], axis=[None, 0, 1])
def truths(tf, op, axis):
    given = tf.ragged.constant([[True, False], [], [True]])
    return getattr(tf.math, f"reduce_{op}")(given, axis)


JOINED = {
    "two": lambda tf, x: [x, 2.0 * x],
    "one": lambda tf, x: [x],
    "dense": lambda tf, x: [x, tf.ones([3, 2])],
    "other_rows": lambda tf, x: [x, x[:2]],
    "rank": lambda tf, x: [x, tf.ones([3])],
}


@cases(op=["concat", "stack"], parts=JOINED, axis=[0, 1, -1, 2, 5])
def joining(tf, op, parts, axis):
    return getattr(tf, op)(parts(tf, RAGGED["rows"](tf)), axis)


@cases(axis=[0, 1, 2])
def joining_deep(tf, axis):
    deep, inner = RAGGED["deep"](tf), RAGGED["inner"](tf)
    return tf.concat([deep, deep], axis), tf.concat([inner, inner], axis)


@cases(
    given={
        "rows": lambda tf, x: tf.gather(x, [2, 0]),
        "row": lambda tf, x: tf.gather(x, 2),
        "square": lambda tf, x: tf.gather(x, [[2, 0], [1, 1]]),
        "beyond": lambda tf, x: tf.gather(x, [2, 7]),
        "negative": lambda tf, x: tf.gather(x, [-1]),
        "ragged": lambda tf, x: tf.gather(x, tf.ragged.constant([[0, 1], [2]])),
        "by_ragged": lambda tf, x: tf.gather(tf.range(9.0), tf.ragged.constant([[7], [], [1, 0]])),
        "deep": lambda tf, x: tf.gather(RAGGED["deep"](tf), [2, 0]),
        "lookup": lambda tf, x: tf.nn.embedding_lookup(
            tf.constant(fill((6, 2))), tf.ragged.constant([[3, 1], [], [0]])
        ),
    }
)  # fmt: skip
def gathers(tf, given):
    return given(tf, RAGGED["rows"](tf))


@cases(
    given={
        **{
            f"{op} {axis}": lambda tf, x, op=op, axis=axis: getattr(tf, f"reduce_{op}")(x, axis)
            for op in REDUCTIONS[:5]
            for axis in (None, 0, 1)
        },
        "concat": lambda tf, x: tf.concat([x, x * x], 1).flat_values,
        "gather": lambda tf, x: tf.gather(x, [2, 0, 0]).flat_values,
    }
)
def slopes_of_functions(tf, given):
    rows = RAGGED["rows"](tf)
    return first_only(tf, lambda x: given(tf, rows.with_flat_values(x)), rows.flat_values)


def _ragged(tf, kind):
    made = {
        "floats": lambda: tf.ragged.constant([[1.5, 2.0], [], [3.0]]),
        "deep": lambda: tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6]]]),
        "inner": lambda: tf.RaggedTensor.from_row_splits(tf.ones([3, 4]), [0, 2, 3]),
        "text": lambda: tf.ragged.constant([["a"], ["b", "c"]]),
        "truths": lambda: tf.ragged.constant([[True], [False, True]]),
        "empties": lambda: tf.ragged.constant([[], []]),
    }
    return made[kind]()


@cases(
    kind=["floats", "deep", "inner", "text", "truths", "empties"],
    size=[None, 2, 1, 4, "mixed", "tensor", "unknown", "short", "negative"],
    default={"none": None, "number": 7, "text": "z", "row": [1, 2, 3, 4]},
)
def made_dense(tf, kind, size, default):
    x = _ragged(tf, kind)
    rank = len(x.shape)
    shape = {
        None: None, "mixed": [3, None, 4][:rank], "tensor": tf.constant([-1, 2, 4][:rank]),
        "unknown": tf.TensorShape(None), "short": [3], "negative": [None, -1, 2][:rank],
    }.get(size, [size] * rank)  # fmt: skip
    if size == "negative" and default is not None:
        shape = None
    return x.to_tensor(default, shape=shape)


@case
def made_dense_gradients(tf):
    values, default = tf.constant([1.0, 2.0, 3.0]), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch([values, default])
        rows = tf.RaggedTensor.from_nested_row_splits(values, [[0, 2, 3], [0, 1, 1, 3]])
        y = rows.to_tensor(default) * tf.reshape(tf.range(8.0), [2, 2, 2])
    return y, [tf.convert_to_tensor(g) for g in tape.gradient(y, [values, default])]


@cases(kind=["floats", "deep", "inner", "text"], index=[0, 1, 2, -1, 5])
def dynamic_shapes(tf, kind, index):
    shape = tf.shape(_ragged(tf, kind))
    return repr(shape), shape.rank, shape.static_lengths(), shape[index]


@cases(kind=["floats", "deep", "inner", "truths"])
def passed_on(tf, kind):
    x = _ragged(tf, kind)
    found = [tf.cast(x, tf.int64), tf.identity(x), tf.stop_gradient(x), tf.rank(x), tf.size(x)]
    return [*found, tf.zeros_like(x), tf.ones_like(x)]


@cases(axis=[1, 2, -1])
def gathered_along(tf, axis):
    table = tensor(tf, fill((2, 3, 4)))
    with tf.GradientTape() as tape:
        tape.watch(table)
        y = tf.gather(table, tf.ragged.constant([[2], [0, 1, 1]]), axis=axis)
        total = tf.reduce_sum(y.flat_values**2)
    return y.to_list(), tape.gradient(total, table)


@cases(
    given={
        "ragged": lambda tf: (lambda row: tf.reduce_sum(row), _ragged(tf, "floats"), tf.float32),
        "rows": lambda tf: (
            lambda n: tf.range(n), tf.constant([2, 0, 3]), tf.RaggedTensorSpec([None], tf.int32),
        ),
        "wrong": lambda tf: (lambda row: tf.reduce_sum(row), _ragged(tf, "floats"), tf.int32),
    }
)  # fmt: skip
def mapped_rows(tf, given):
    fn, elems, signature = given(tf)
    return tf.map_fn(fn, elems, fn_output_signature=signature)


@cases(
    given={
        "one_hot": lambda tf, rows: tf.one_hot(rows, 4),
        "one_hot_last": lambda tf, rows: tf.one_hot(rows, 4, axis=2, on_value=5, off_value=-1),
        "one_hot_ragged": lambda tf, rows: tf.one_hot(rows, 4, axis=1),
        "bins": lambda tf, rows: tf.math.bincount(rows),
        "bins_of_rows": lambda tf, rows: tf.math.bincount(rows, axis=-1),
        "bins_wide": lambda tf, rows: tf.math.bincount(rows, axis=-1, minlength=6),
        "bins_narrow": lambda tf, rows: tf.math.bincount(rows, axis=-1, maxlength=3),
        "bins_binary": lambda tf, rows: tf.math.bincount(rows, axis=-1, binary_output=True),
        "bins_weights": lambda tf, rows: tf.math.bincount(
            rows, tf.ragged.constant([[0.5, 1.0], [], [2.0, 3.0, 4.0]]), axis=-1
        ),
        "sparse_bins": lambda tf, rows: tf.sparse.bincount(rows),
        "sparse_bins_of_rows": lambda tf, rows: tf.sparse.bincount(rows, axis=-1, minlength=6),
    }
)
def places(tf, given):
    return given(tf, tf.ragged.constant([[1, 2], [], [3, 1, 1]]))


@cases(
    make={
        "splits": lambda R: R.from_row_splits([0, 2, 3, 3]),
        "rowids": lambda R: R.from_value_rowids([0, 0, 2], nrows=4),
        "lengths": lambda R: R.from_row_lengths([1, 0, 3]),
        "starts": lambda R: R.from_row_starts([0, 1, 3], 5),
        "limits": lambda R: R.from_row_limits([1, 3], dtype="int32"),
        "uniform": lambda R: R.from_uniform_row_length(2, nvals=6),
        "falling": lambda R: R.from_row_splits([0, 4, 3]),
        "float": lambda R: R.from_row_splits([0.0, 4.0]),
        "empty": lambda R: R.from_row_splits([]),
        "square": lambda R: R.from_row_splits([[0, 2]]),
        "uneven": lambda R: R.from_uniform_row_length(4, nvals=6),
    }
)
def partitions(tf, make):
    p = make(tf.experimental.RowPartition)
    return [
        p.row_splits(), p.row_starts(), p.row_limits(), p.row_lengths(), p.nrows(), p.nvals(),
        p.value_rowids(), p.offsets_in_rows(), p.is_uniform(), p.uniform_row_length(),
        p.static_nrows, p.with_dtype(tf.int32).row_splits(), repr(p),
    ]  # fmt: skip


@cases(axes=[(0, 1), (0, 2), (1, 2), (-2, -1), (1, 3), (2, 3), (1, 1), (2, 1), (0, 4)])
@cases(
    given={
        "deep": lambda tf: tf.ragged.constant([[[[1], [2, 2]], [[0]]], [], [[[3]]]]),
        "dense": lambda tf: tf.RaggedTensor.from_row_splits(
            tf.reshape(tf.range(12), [3, 2, 2]), [0, 2, 2, 3]
        ),
    }
)
def merged_axes(tf, given, axes):
    return given(tf).merge_dims(*axes)


@case
def rows_mapped_to_rows(tf):
    return tf.map_fn(lambda row: tf.unique(row)[0], tf.ragged.constant([[1, 1], [], [2, 3, 2]]))
