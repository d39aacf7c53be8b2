"""Choosing entries: gather, scatter, masks, where, sorting, searching, running sums, segments."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import INF, NAN, REAL, fill, first_only, grads, named, tensor
from tests.tensorflow.harness import attempt, case, cases


def table(tf, dtype="float32", shape=(3, 4)):
    return tensor(tf, fill(shape), dtype)


GATHER = {
    "scalar": (1, {}),
    "rows": ([2, 0], {}),
    "repeated": ([1, 1, 0], {}),
    "matrix": ([[0, 2], [1, 1]], {}),
    "none": (np.zeros((0,), np.int32), {}),
    "columns": ([3, 0], {"axis": 1}),
    "last_axis": ([[1], [2]], {"axis": -1}),
    "batch": ([[0, 1], [3, 3], [2, 0]], {"axis": 1, "batch_dims": 1}),
    "batch_vector": ([1, 0, 3], {"batch_dims": 1}),
    "batch_negative": ([[0], [1], [2]], {"batch_dims": -1}),
    "wide_indices": (np.array([0, 2]), {"name": "g"}),
    "tensor_axis": ([1], {"axis": np.int64(1)}),
}


@cases(given=GATHER, dtype=REAL)
def gather(tf, given, dtype):
    indices, options = given
    call = lambda x: tf.gather(x, indices, **options)
    if dtype == "float64":
        return grads(tf, lambda x: call(x) ** 2, table(tf, dtype))
    return first_only(tf, call, table(tf, dtype))


@cases(
    given={
        "out_of_range": (3, {}),
        "negative": (-1, {}),
        "out_in_batch": ([[4], [0], [0]], {"batch_dims": 1}),
        "axis": (0, {"axis": 2}),
        "axis_below": (0, {"axis": -3}),
        "fraction": (0.5, {}),
        "batch_dims": ([0, 1, 2], {"batch_dims": 2}),
        "batch_clash": ([[0], [1]], {"batch_dims": 1}),
        "axis_before_batch": ([[0], [1], [0]], {"axis": 0, "batch_dims": 1}),
        "none": (None, {}),
        "text": ("a", {}),
    }
)
def gather_bad(tf, given):
    indices, options = given
    return tf.gather(table(tf), indices, **options)


@case
def gather_of_scalar(tf):
    return attempt(lambda: tf.gather(1.0, 0)), attempt(lambda: tf.gather([1, 2], [0, 0]))


@case
def gather_keywords(tf):
    x = table(tf)
    return tf.gather(params=x, indices=[1], axis=0), tf.gather(x, indices=tf.constant([0]))


@cases(kind=["variable", "variable_axis", "twice", "mixed", "scaled", "sparse_read"])
def gather_variable(tf, kind):
    v = tf.Variable(fill((3, 2)).astype("float32"))
    with tf.GradientTape() as tape:
        if kind == "variable":
            y = tf.gather(v, [2, 0, 2])
        elif kind == "variable_axis":
            y = tf.gather(v, [1, 0], axis=1)
        elif kind == "twice":
            y = [tf.gather(v, [0]), tf.gather(v, [0, 1])]
        elif kind == "mixed":
            y = [tf.gather(v, [0]), v * v]
        elif kind == "scaled":
            y = tf.gather(v * 2.0, [1, 1])
        else:
            y = v.sparse_read([1, 0])
    return y, tape.gradient(y, v)


GATHER_ND = {
    "one": ([[1, 2]], {}),
    "rows": ([[2], [0], [2]], {}),
    "entries": ([[0, 0], [2, 3], [0, 0]], {}),
    "deep": ([[[0, 1]], [[1, 0]]], {}),
    "whole": (np.zeros((2, 0), np.int32), {}),
    "batch": ([[1], [0], [3]], {"batch_dims": 1}),
    "batch_more": ([[[1], [2]], [[0], [0]], [[3], [1]]], {"batch_dims": 1}),
    "out_of_range": ([[3, 0]], {}),
    "negative": ([[-1, 0]], {}),
    "too_deep": ([[0, 0, 0]], {}),
    "fraction": ([[0.5]], {}),
    "ignored": ([[3, 0], [0, 1]], {"bad_indices_policy": "IGNORE"}),
    "raised": ([[3, 0], [0, 1]], {"bad_indices_policy": "ERROR"}),
}


@cases(given=GATHER_ND)
def gather_nd(tf, given):
    indices, options = given
    return grads(tf, lambda x: tf.gather_nd(x, indices, **options) ** 2, table(tf))


SCATTER_ND = {
    "entries": ([[1], [3]], [9.0, 8.0], [5]),
    "repeated": ([[1], [1]], [9.0, 8.0], [3]),
    "rows": ([[2], [0]], [[1.0, 2.0], [3.0, 4.0]], [3, 2]),
    "places": ([[0, 1], [2, 0]], [5.0, 6.0], [3, 2]),
    "nothing": (np.zeros((0, 1), np.int32), np.zeros((0,), np.float32), [3]),
    "out_of_range": ([[5]], [1.0], [3]),
    "negative": ([[-1]], [1.0], [3]),
    "clash": ([[0], [1]], [1.0, 2.0, 3.0], [4]),
    "whole": ([[1]], [4], [2]),
}


@case
def gather_nd_of_a_vector(tf):
    return tf.gather_nd(table(tf), [1, 1]), tf.gather_nd(params=table(tf), indices=[2])


@cases(given=SCATTER_ND)
def scatter_nd(tf, given):
    indices, updates, shape = given
    updates = tf.constant(updates)
    return grads(tf, lambda u: tf.scatter_nd(indices, u, shape) ** 2, updates)


@case
def scatter_nd_keywords(tf):
    return tf.scatter_nd(indices=[[0]], updates=[1.0], shape=tf.constant([2], tf.int32), name="s")


UPDATES = ["update", "add", "sub", "max", "min"]


@cases(
    kind=UPDATES,
    given={
        "entries": ([[1], [3]], [0.5, -0.25]),
        "repeated": ([[1], [1]], [0.5, 1.5]),
        "tie": ([[0]], [1.0]),
        "nothing": (np.zeros((0, 1), np.int32), np.zeros((0,), np.float32)),
        "out_of_range": ([[4]], [1.0]),
        "clash": ([[0]], [1.0, 2.0]),
    },
)
def tensor_scatter(tf, kind, given):
    op = named(tf, f"tensor_scatter_nd_{kind}")
    x = tf.constant([1.0, -1.0, 2.0, 0.125])
    indices, updates = given
    if kind == "update" and len(indices) == 2:
        # Which of two updates of one entry wins is not specified.
        indices = [[1], [2]]
    return first_only(tf, lambda x, u: op(x, indices, u), x, tf.constant(updates, tf.float32))


@cases(kind=UPDATES)
def tensor_scatter_rows(tf, kind):
    op = named(tf, f"tensor_scatter_nd_{kind}")
    x, u = table(tf, "float64"), tensor(tf, fill((2, 4), seed=3), "float64")
    return grads(tf, lambda x, u: op(tensor=x, indices=[[2], [0]], updates=u) ** 2, x, u)


@cases(
    kind=[
        "assign",
        "nd_update",
        "nd_add",
        "nd_sub",
        "update",
        "add",
        "sub",
        "mul",
        "div",
        "max",
        "min",
        "batch",
    ]
)
def variable_scatter(tf, kind):
    v = tf.Variable([1.0, 2.0, 3.0])
    slices = tf.IndexedSlices(tf.constant([4.0, 0.5]), tf.constant([2, 0]))
    if kind == "assign":
        v.assign(v * 2.0)
    elif kind.startswith("nd"):
        getattr(v, f"scatter_{kind}")([[2], [0]], [4.0, 0.5])
    elif kind == "batch":
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        v.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [8.0]]), [[0], [1]]))
    else:
        getattr(v, f"scatter_{kind}")(slices)
    return v


@cases(
    given={
        "vector": ([True, False, True], None),
        "matrix": (np.arange(12).reshape(3, 4) % 3 == 0, None),
        "axis": ([True, False, True, False], 1),
        "nothing": ([False, False, False], None),
        "clash": ([True, False], None),
        "scalar": (True, None),
        "whole": ([1, 0, 1], None),
    }
)
def boolean_mask(tf, given):
    mask, axis = given
    return grads(tf, lambda x: tf.boolean_mask(x, mask, axis=axis) ** 2, table(tf))


@cases(
    shapes={
        "same": ((2, 3), (2, 3), (2, 3)),
        "scalars": ((2, 3), (), ()),
        "row_condition": ((3,), (2, 3), (2, 3)),
        "column": ((2, 1), (1, 3), (2, 3)),
        "scalar_condition": ((), (2,), (2,)),
        "empty": ((0, 3), (0, 3), (1, 3)),
        "clash": ((2, 3), (2,), (2, 3)),
    }
)
def where(tf, shapes):
    condition = fill(shapes[0]) > 0.3
    x, y = (tensor(tf, fill(shape, seed=i)) for i, shape in enumerate(shapes[1:], 1))
    return first_only(tf, lambda x, y: tf.where(condition, x, y), x, y)


@case
def where_is_nan(tf):
    x = tf.constant([0.0, 1.0, 4.0])
    traps = [
        grads(tf, lambda x, op=op: tf.where(x > 0.0, named(tf, op)(x), 0.0), x)
        for op in ("sqrt", "math.log", "math.reciprocal", "math.rsqrt", "math.acosh")
    ]
    cured = grads(tf, lambda x: tf.where(x > 0, tf.sqrt(tf.where(x > 0, x, 1.0)), 0.0), x)
    return traps, cured


@cases(
    given={
        "vector": [True, False, True],
        "matrix": [[True, False], [False, True]],
        "numbers": [0.0, 1.5, NAN],
        "whole": [0, 1, 2],
        "nothing": [False],
        "scalar": True,
        "text": ["", "a"],
    }
)
def where_places(tf, given):
    return tf.where(given), attempt(lambda: tf.where(condition=given, name="w"))


@cases(
    given={
        "one_branch": lambda tf: tf.where([True], [1.0]),
        "mixed": lambda tf: tf.where([True], tf.constant([1.0]), tf.constant([1])),
        "python_mixed": lambda tf: tf.where([True], 1.0, 2),
        "tensor_python": lambda tf: tf.where([True, False], tf.constant([1.0, 2.0]), 3),
        "float_condition": lambda tf: tf.where([1.0, 0.0], [1.0, 2.0], [3.0, 4.0]),
        "wide": lambda tf: tf.where([True], np.array([1.0]), np.array([2.0])),
        "text": lambda tf: tf.where([True, False], "a", "b"),
        "bool": lambda tf: tf.where([True, False], False, True),
    }
)
def where_dtypes(tf, given):
    return given(tf)


@cases(
    given={
        "vector": ([3.0, 1.0, 4.0, 1.5], 2, {}),
        "default": ([3.0, 1.0], 1, {}),
        "ties": ([1.0, 2.0, 2.0, 2.0], 2, {}),
        "matrix": ([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], 2, {}),
        "nan": ([1.0, NAN, 2.0], 2, {}),
        "zero": ([1.0, 2.0], 0, {}),
        "too_many": ([1.0, 2.0], 3, {}),
        "negative": ([1.0, 2.0], -1, {}),
        "scalar": (1.0, 1, {}),
        "whole": ([3, 1, 4], 2, {}),
        "index_type": ([3.0, 1.0], 1, {"index_type": "int64"}),
        "unsorted_one": ([3.0, 9.0], 1, {"sorted": False}),
    }
)
def top_k(tf, given):
    values, k, options = given
    found = tf.math.top_k(tf.constant(values), k, **options)
    slopes = first_only(tf, lambda x: tf.math.top_k(input=x, k=k)[0] ** 2, tf.constant(values))
    return found, found.values, found.indices, slopes


@cases(
    op=["sort", "argsort"],
    options={
        "default": {},
        "descending": {"direction": "DESCENDING"},
        "axis": {"axis": 0},
        "negative_axis": {"axis": -1, "direction": "ASCENDING"},
        "bad_axis": {"axis": 2},
        "bad_direction": {"direction": "UP"},
    },
    dtype=["float32", "int32"],
)
def sort(tf, op, options, dtype):
    x = tensor(tf, [[3, 1, 2], [9, 7, 8]], dtype)
    return first_only(tf, lambda x: named(tf, op)(x, **options), x)


@case
def sort_more(tf):
    return [
        tf.argsort([2.0, 1.0, 2.0, 1.0], stable=True),
        tf.sort([2.0, INF, -INF, 0.0]),
        attempt(lambda: tf.sort(1.0)),
        tf.sort(np.zeros((0,), np.float32)),
        tf.sort([3, 1, 2], direction="DESCENDING"),
        tf.sort(np.array([3, 1, 2], np.uint8)),
        attempt(lambda: tf.sort(["b", "a"])),
        tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.2, 0.8]], 1),
        tf.searchsorted([1.0, 3.0, 5.0], [0.0, 3.0, 9.0]),
        tf.searchsorted([1.0, 3.0, 5.0], [3.0], side="right"),
    ]


@cases(
    op=["argmax", "argmin"],
    options={
        "default": {},
        "axis": {"axis": 1},
        "negative": {"axis": -1},
        "output": {"axis": 1, "output_type": "int32"},
        "bad_output": {"output_type": "float32"},
        "bad_axis": {"axis": 2},
        "list_axis": {"axis": [0, 1]},
    },
)
def argmax(tf, op, options):
    x = tf.constant([[1.0, 3.0, 3.0], [4.0, 0.0, 0.0]])
    return first_only(tf, lambda x: named(tf, op)(x, **options), x)


@cases(
    op=["argmax", "math.argmin"],
    given={
        "nan": [1.0, NAN, 2.0],
        "whole": [1, 5, 5],
        "bool": [False, True],
        "scalar": 1.0,
        "empty": np.zeros((0,), np.float32),
        "empty_rows": np.zeros((0, 3), np.float32),
        "complex": [1j],
    },
)
def argmax_of(tf, op, given):
    return named(tf, op)(given)


RUNNING = ["cumsum", "math.cumprod"]


@cases(op=RUNNING, exclusive=[False, True], reverse=[False, True])
# Its second derivatives are small differences of exponentials near 1.
@cases(op=["math.cumulative_logsumexp"], exclusive=[False, True], reverse=[False, True], floor=2e-6)
def running(tf, op, exclusive, reverse):
    x = tensor(tf, fill((2, 3), 0.5, 2))
    call = lambda x: named(tf, op)(x, axis=1, exclusive=exclusive, reverse=reverse)
    return grads(tf, call, x)


@cases(
    op=RUNNING,
    options={
        "default": {},
        "axis": {"axis": 0},
        "negative": {"axis": -1},
        "bad_axis": {"axis": 2},
        "fraction": {"axis": 0.5},
        "none": {"axis": None},
    },
)
def running_axes(tf, op, options):
    return first_only(tf, lambda x: named(tf, op)(x, **options), tensor(tf, fill((2, 3))))


@cases(
    op=RUNNING,
    given={
        "zero_inside": [2.0, 0.0, 3.0],
        "two_zeros": [0.0, 2.0, 0.0],
        "nan": [1.0, NAN, 2.0],
        "inf": [1.0, INF, -INF],
        "scalar": 1.5,
        "empty": np.zeros((0,), np.float32),
        "whole": [1, 2, 3],
        "bool": [True, False],
        "complex": np.array([1 + 1j, 2.0], np.complex64),
    },
)
def running_of(tf, op, given):
    return attempt(lambda: first_only(tf, named(tf, op), tf.constant(given)))


@cases(
    given={
        "whole": [4, 5, 4, 1, 5],
        "floats": [1.5, 1.5, -2.0],
        "text": ["b", "a", "b"],
        "empty": np.zeros((0,), np.int32),
        "matrix": [[1, 2], [1, 2]],
    }
)
def unique(tf, given):
    return tf.unique(given), attempt(lambda: tf.unique(given, out_idx=tf.int64).idx)


@case
def unique_more(tf):
    counts = tf.unique_with_counts([4, 5, 4])
    return counts, counts.y, tf.math.bincount([1, 1, 3]), tf.unique([1, 1])._fields


SEGMENT = ["segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod"]


@cases(op=SEGMENT, unsorted=[False, True])
def segments(tf, op, unsorted):
    x = tensor(tf, fill((4, 2), 0.5, 2))
    if unsorted:
        call = lambda x: named(tf, f"math.unsorted_{op}")(
            data=x, segment_ids=[2, 0, 2, 1], num_segments=3
        )
    else:
        call = lambda x: named(tf, f"math.{op}")(data=x, segment_ids=[0, 0, 2, 2])
    return first_only(tf, call, x)


@cases(
    given={
        "ties": lambda tf, x: tf.math.segment_max(tf.concat([x, x], 0), [0, 0, 0, 0]),
        "unsorted_empty": lambda tf, x: [
            tf.math.unsorted_segment_max(x, [0, 0], 2)[1:],
            tf.math.unsorted_segment_min(x, [0, 0], 2)[1:],
            tf.math.unsorted_segment_prod(x, [0, 0], 2)[1:],
        ],
        "unsorted_ties": lambda tf, x: tf.math.unsorted_segment_max(tf.stack([x, x]), [0, 0], 1),
        "not_sorted": lambda tf, x: tf.math.segment_sum(x, [1, 0]),
        "lengths": lambda tf, x: tf.math.segment_sum(x, [0]),
        "negative": lambda tf, x: tf.math.unsorted_segment_sum(x, [-1, 0], 1),
        "too_far": lambda tf, x: tf.math.unsorted_segment_sum(x, [0, 5], 2),
        "fraction": lambda tf, x: tf.math.segment_sum(x, [0.0, 1.0]),
        "sqrt_n": lambda tf, x: tf.math.unsorted_segment_sqrt_n(x, [0, 0], 1),
        "zero_product": lambda tf, x: tf.math.unsorted_segment_prod(x * [0.0, 1.0], [0, 0], 1),
        "matrix_ids": lambda tf, x: tf.math.unsorted_segment_sum(
            tf.stack([x, x]), [[0, 1], [1, 1]], 2
        ),
    }
)
def segments_edge(tf, given):
    return grads(tf, lambda x: given(tf, x), tf.constant([1.5, -2.0]))


@cases(
    given={
        "rows": (([2, 0, 2],), {}),
        "matrix": (([[0, 1], [1, 1]],), {}),
        "scalar": ((1,), {}),
        "norm": (([0, 1],), {"max_norm": 0.5}),
        "large_norm": (([0, 1],), {"max_norm": 50.0}),
        "out_of_range": (([3],), {}),
        "name": (([0],), {"name": "e"}),
    }
)
def embedding_lookup(tf, given):
    ids, options = given
    x = table(tf, shape=(3, 2))
    plain = first_only(tf, lambda x: tf.nn.embedding_lookup(x, *ids, **options), x)
    v = tf.Variable(x)
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(v, *ids, **options)
    return plain, tape.gradient(y, v)


@cases(kind=["dense", "to_dense", "summed", "multiplied"])
def slices_flow(tf, kind):
    v = tf.Variable(fill((3, 2)).astype("float32"))
    with tf.GradientTape() as tape:
        y = tf.gather(v, [0, 2, 0])
        z = tf.reduce_sum(y * y)
        if kind == "dense":
            z += tf.reduce_sum(v)
    grad = tape.gradient(z, v)
    if kind == "summed":
        return attempt(lambda: tf.add_n([grad, grad])), attempt(lambda: grad + grad)
    if kind == "multiplied":
        return attempt(lambda: grad * 2.0), attempt(lambda: 2.0 * tf.convert_to_tensor(grad))
    if kind == "to_dense":
        return tf.convert_to_tensor(grad), grad.shape, grad.dtype, grad.dense_shape
    return grad


@cases(dtype=["float16", "bfloat16", "float64", "float32"])
def slices_through_casts(tf, dtype):
    v = tf.Variable(fill((3, 2)).astype("float32"))
    with tf.GradientTape() as tape:
        y = tf.gather(tf.identity(tf.cast(v, dtype)), [0, 2, 0])
    return tape.gradient(y, v)


@cases(dtype=["float16", "bfloat16", "int32", "int64", "bool", "complex64"])
def other_dtypes(tf, dtype):
    x = tensor(tf, [1, 0, 3], dtype)
    calls = [
        lambda: tf.gather(x, [2, 0]),
        lambda: tf.gather_nd(x, [[2]]),
        lambda: tf.scatter_nd([[1]], x[:1], [2]),
        lambda: tf.tensor_scatter_nd_update(x, [[0]], x[2:]),
        lambda: tf.tensor_scatter_nd_add(x, [[0]], x[2:]),
        lambda: tf.tensor_scatter_nd_max(x, [[0]], x[2:]),
        lambda: tf.boolean_mask(x, [True, False, True]),
        lambda: tf.where([True, False, True], x, x[::-1]),
        lambda: tf.argmax(x),
        lambda: tf.cumsum(x),
        lambda: tf.sort(x),
        lambda: tf.math.top_k(x, 2),
        lambda: tf.math.segment_sum(x, [0, 0, 1]),
        lambda: tf.math.unsorted_segment_max(x, [0, 0, 2], 3),
    ]
    return [attempt(call) for call in calls]


@case
def dynamic(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    parts = first_only(tf, lambda x: tf.dynamic_partition(x, [1, 0, 1], 2), x)
    stitched = first_only(tf, lambda x: tf.dynamic_stitch([[2], [0, 1]], [x[:1], x[1:]]), x)
    return parts, stitched
