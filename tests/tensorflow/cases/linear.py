"""Linear algebra: products, contractions, norms, diagonals and decompositions."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import INF, NAN, REAL, fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, case, cases

SYMMETRIC = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]])
SQUARE = np.array([[2.0, -1.0, 0.5], [0.25, 1.5, -0.75], [1.0, 0.5, 3.0]])


def matrix(tf, shape, dtype="float32", seed=0):
    return tensor(tf, fill(shape, seed=seed), dtype)


# ---------------------------------------------------------------------------------- products

FLAGS = {
    "plain": {},
    "transpose_a": {"transpose_a": True},
    "transpose_b": {"transpose_b": True},
    "transpose_both": {"transpose_a": True, "transpose_b": True},
    "adjoint_a": {"adjoint_a": True},
    "adjoint_b": {"adjoint_b": True},
    "mixed": {"adjoint_a": True, "transpose_b": True},
}


def operands(tf, options, dtype, batch=((), ())):
    turned_a = options.get("transpose_a") or options.get("adjoint_a")
    turned_b = options.get("transpose_b") or options.get("adjoint_b")
    a = matrix(tf, (*batch[0], *((3, 2) if turned_a else (2, 3))), dtype)
    b = matrix(tf, (*batch[1], *((2, 3) if turned_b else (3, 2))), dtype, seed=1)
    return a, b


@cases(options=FLAGS, dtype=["float32", "complex64"])
def matmul(tf, options, dtype):
    a, b = operands(tf, options, dtype)
    return first_only(tf, lambda a, b: tf.matmul(a, b, **options), a, b)


@cases(options=FLAGS)
def matmul_twice(tf, options):
    return grads(
        tf, lambda a, b: tf.matmul(a, b, **options) ** 2, *operands(tf, options, "float64")
    )


@cases(
    options={name: FLAGS[name] for name in ("plain", "transpose_a", "adjoint_b")},
    batch={
        "same": ((2,), (2,)),
        "left": ((2,), ()),
        "right": ((), (2,)),
        "cross": ((2, 1), (1, 2)),
        "ones": ((1,), (2,)),
        "empty": ((0,), (0,)),
        "clash": ((2,), (3,)),
    },
)
def matmul_batches(tf, options, batch):
    a, b = operands(tf, options, "float32", batch)
    return first_only(tf, lambda a, b: tf.matmul(a, b, **options), a, b)


@cases(
    shapes={
        "inner": ((2, 3), (2, 3)),
        "vector": ((2, 3), (3,)),
        "vectors": ((3,), (3,)),
        "scalar": ((), (2, 2)),
        "none_inside": ((2, 0), (0, 3)),
        "no_rows": ((0, 3), (3, 2)),
    }
)
def matmul_shapes(tf, shapes):
    return first_only(tf, tf.matmul, matrix(tf, shapes[0]), matrix(tf, shapes[1], seed=1))


@cases(dtype=["float16", "bfloat16", "int32", "int64", "uint8", "bool", "complex128"])
def matmul_dtypes(tf, dtype):
    a, b = tensor(tf, [[1, 2], [3, 4]], dtype), tensor(tf, [[2, 0], [1, 2]], dtype)
    return first_only(tf, tf.matmul, a, b)


@cases(
    given={
        "both_flags": lambda tf, a: tf.matmul(a, a, transpose_a=True, adjoint_a=True),
        "mixed_dtypes": lambda tf, a: tf.matmul(a, tf.cast(a, tf.float64)),
        "numpy": lambda tf, a: tf.matmul(a, np.ones((2, 2))),
        "lists": lambda tf, a: tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]),
        "output_type": lambda tf, a: tf.matmul(
            tf.cast([[1, 2]], tf.int8), tf.cast([[3], [4]], tf.int8), output_type=tf.int32
        ),
        "name": lambda tf, a: tf.matmul(a=a, b=a, name="m"),
        "operator": lambda tf, a: a @ a,
        "operator_numpy": lambda tf, a: a @ np.ones((2, 2)),
        "operator_left": lambda tf, a: np.ones((2, 2), np.float32) @ a,
        "operator_vector": lambda tf, a: a @ tf.constant([1.0, 2.0]),
        "alias": lambda tf, a: tf.linalg.matmul(a, a),
        "none": lambda tf, a: tf.matmul(a, None),
        "text": lambda tf, a: tf.matmul("a", "b"),
        "sparse_flags": lambda tf, a: tf.matmul(a, a, a_is_sparse=True),
        "matvec": lambda tf, a: tf.linalg.matvec(a, [1.0, 2.0]),
        "matvec_turned": lambda tf, a: tf.linalg.matvec(a, a[0], transpose_a=True),
        "matvec_batch": lambda tf, a: tf.linalg.matvec(tf.stack([a, a]), a),
        "matvec_clash": lambda tf, a: tf.linalg.matvec(a, [1.0, 2.0, 3.0]),
        "inf_times_zero": lambda tf, a: tf.matmul([[INF, 1.0]], [[0.0], [1.0]]),
        "nan": lambda tf, a: tf.matmul([[NAN, 1.0]], [[0.0], [1.0]]),
    }
)
def products(tf, given):
    return first_only(tf, lambda a: given(tf, a), matrix(tf, (2, 2)))


@cases(
    axes={
        "1": 1,
        "0": 0,
        "2": 2,
        "pair": [[1], [0]],
        "pairs": [[0, 1], [1, 0]],
        "flat": [1, 0],
        "negative": [[-1], [0]],
        "tensor": np.array([[0], [0]]),
        "too_many": 3,
        "clash": [[0], [1]],
        "below": -1,
        "uneven": [[0, 1], [0]],
    }
)
def tensordot(tf, axes):
    a, b = matrix(tf, (2, 2)), matrix(tf, (2, 2), seed=1)
    if isinstance(axes, list) and axes == [[0], [1]]:
        b = matrix(tf, (2, 3), seed=1)
    return grads(tf, lambda a, b: tf.tensordot(a, b, axes=axes), a, b)


@cases(axes={"last": [[2], [0]], "two": [[1, 2], [0, 1]], "outer": 0})
def tensordot_deep(tf, axes):
    shape = (3, 2, 2) if axes == 0 else (3, 2) if axes == [[1, 2], [0, 1]] else (2, 3)
    a = matrix(tf, (2,) if axes == 0 else (2, 3, 2) if axes != [[2], [0]] else (1, 3, 2))
    b = matrix(tf, shape[:2] if axes != 0 else (2,), seed=1)
    return first_only(tf, lambda a, b: tf.tensordot(a, b, axes=axes), a, b)


# Equations with the shapes of their operands.
EINSUM = {
    "ij,jk->ik": ((2, 3), (3, 2)),
    "ij,jk": ((2, 3), (3, 2)),
    "ij,kj->ik": ((2, 3), (2, 3)),
    "bij,bjk->bik": ((2, 2, 3), (2, 3, 2)),
    "ij->ji": ((2, 3),),
    "ij->": ((2, 3),),
    "ij->j": ((2, 3),),
    "ii->": ((3, 3),),
    "ii->i": ((3, 3),),
    "i,i->": ((3,), (3,)),
    "i,j->ij": ((2,), (3,)),
    "i,j->ji": ((2,), (3,)),
    "ij,ij->ij": ((2, 3), (2, 3)),
    "ij,j->i": ((2, 3), (3,)),
    "ij,jk,kl->il": ((2, 3), (3, 2), (2, 2)),
    "bhid,bhjd->bhij": ((1, 2, 2, 3), (1, 2, 2, 3)),
    "...ij,...jk->...ik": ((2, 2, 3), (3, 2)),
    "...i->...": ((2, 3),),
    "i...->...i": ((2, 3, 1),),
    ",ij->ij": ((), (2, 2)),
    "abc,cd->abd": ((2, 1, 3), (3, 2)),
    "ba": ((2, 3),),
    "IJ,Jk->Ik": ((2, 3), (3, 2)),
}
BAD_EINSUM = {
    "unknown_output": ("ij,jk->il", (2, 3), (3, 2)),
    "clash": ("ij,jk->ik", (2, 3), (2, 2)),
    "rank": ("ijk->i", (2, 3)),
    "comma": ("ij,jk->ik,", (2, 3), (3, 2)),
    "output_twice": ("ij->iij", (2, 3)),
    "digit": ("i1->i", (2, 3)),
    "arrow": ("ij-ji", (2, 3)),
    "too_few": ("ij,jk->ik", (2, 3)),
    "empty": ("", (2, 3)),
    "dot": ("i.j->ij", (2, 3)),
}


@cases(equation=list(EINSUM))
def einsum(tf, equation):
    xs = [matrix(tf, shape, seed=i) for i, shape in enumerate(EINSUM[equation])]
    return first_only(tf, lambda *xs: tf.einsum(equation, *xs), *xs)


@cases(equation=["ij,jk->ik", "ii->i", "bij,bjk->bik", "i,i->", "ij,jk,kl->il", "...i->..."])
def einsum_twice(tf, equation):
    xs = [matrix(tf, s, "float64", seed=i) for i, s in enumerate(EINSUM[equation])]
    return grads(tf, lambda *xs: tf.einsum(equation, *xs) ** 2, *xs)


@cases(given=BAD_EINSUM)
def einsum_bad(tf, given):
    equation, *shapes = given
    return tf.einsum(equation, *(matrix(tf, shape, seed=i) for i, shape in enumerate(shapes)))


@case
def einsum_spaces(tf):
    a = matrix(tf, (2, 2))
    return tf.einsum(" ij , jk -> ik ", a, a)


@cases(
    options={
        "name": {"name": "e"},
        "greedy": {"optimize": "greedy"},
        "optimal": {"optimize": "optimal"},
        "wrong": {"optimize": "nonsense"},
        "unknown": {"invalid1": 1},
        "unknown_two": {"invalid1": 1, "invalid2": 2},
    }
)
def einsum_options(tf, options):
    a = matrix(tf, (2, 2))
    return tf.einsum("ij,jk->ik", a, a, **options)


@case
def einsum_dtypes(tf):
    a = tf.constant([[1, 2], [3, 4]])
    z = tensor(tf, fill((2, 2)), "complex64")
    return [
        tf.einsum("ij,jk->ik", a, a),
        first_only(tf, lambda z: tf.einsum("ij,jk->ik", z, z), z),
        attempt(lambda: tf.einsum("ij,jk->ik", a, tf.cast(a, tf.float32))),
        attempt(lambda: tf.einsum("ij,jk->ik", a, np.ones((2, 2)))),
    ]


# ------------------------------------------------------------------------------------- norms

ORDERS = {
    "euclidean": "euclidean",
    "fro": "fro",
    "1": 1,
    "2": 2,
    "3": 3,
    "1.5": 1.5,
    "inf": np.inf,
    "0": 0,
    "-1": -1,
    "-inf": -np.inf,
    "wrong": "nuc",
}
NORM_AXES = {"none": None, "0": 0, "last": -1, "both": [0, 1], "swapped": [-1, -2]}


@cases(ord=ORDERS, axis=NORM_AXES)
def norm(tf, ord, axis):
    call = lambda x: tf.norm(x, ord=ord, axis=axis)
    return first_only(tf, call, tensor(tf, fill((2, 3)), "float64"))


@cases(ord={name: ORDERS[name] for name in ("euclidean", "1", "2", "3", "inf")})
def norm_more(tf, ord):
    x = matrix(tf, (2, 3))
    kept = first_only(tf, lambda x: tf.norm(x, ord, 1, True), x)
    vector = grads(tf, lambda x: tf.norm(tensor=x, ord=ord, keepdims=True), x[0])
    zero = grads(tf, lambda x: tf.norm(x, ord=ord), tf.zeros([2]))
    partly = grads(tf, lambda x: tf.norm(x, ord=ord), tf.constant([0.0, 3.0]))
    return kept, vector, zero, partly


@cases(
    given={
        "int": lambda tf: tf.norm(tf.constant([3, 4])),
        "python": lambda tf: tf.norm([3.0, 4.0]),
        "complex": lambda tf: tf.norm(tf.constant([3.0 + 4.0j, 0j])),
        "complex_1": lambda tf: tf.norm(tf.constant([3.0 + 4.0j, 1j]), ord=1),
        "half": lambda tf: tf.norm(tf.constant([3.0, 4.0], tf.float16)),
        "axis_out": lambda tf: tf.norm([[1.0]], axis=2),
        "three_axes": lambda tf: tf.norm(tf.ones([1, 1, 1]), axis=[0, 1, 2]),
        "scalar": lambda tf: tf.norm(-2.0),
        "empty": lambda tf: tf.norm(tf.zeros([0])),
        "matrix_3": lambda tf: tf.norm(tf.ones([2, 2]), ord=3, axis=[0, 1]),
        "nan": lambda tf: tf.norm([NAN, 1.0]),
        "inf": lambda tf: tf.norm([INF, 1.0]),
        "global": lambda tf: tf.linalg.global_norm([tf.constant([3.0]), tf.constant([[4.0]])]),
        "global_none": lambda tf: tf.linalg.global_norm([None, tf.constant([[4.0]])]),
        "normalize": lambda tf: tf.linalg.normalize([3.0, 4.0]),
        "alias": lambda tf: tf.linalg.norm([3.0, 4.0], ord=1),
    }
)
def norms(tf, given):
    return given(tf)


# --------------------------------------------------------------------------------- diagonals

DIAGONAL = {
    "diag": lambda tf, x: tf.linalg.diag(x[0]),
    "diag_batch": lambda tf, x: tf.linalg.diag(x),
    "diag_above": lambda tf, x: tf.linalg.diag(x[0], k=1),
    "diag_below": lambda tf, x: tf.linalg.diag(diagonal=x[0], k=-1, padding_value=9.0),
    "diag_wide": lambda tf, x: tf.linalg.diag(x[0], num_rows=4, num_cols=5),
    "diag_band": lambda tf, x: tf.linalg.diag(x, k=(0, 1), align="LEFT_RIGHT"),
    "diag_band_left": lambda tf, x: tf.linalg.diag(x, k=(-1, 0), align="LEFT_LEFT"),
    "diag_part": lambda tf, x: tf.linalg.diag_part(x),
    "diag_part_above": lambda tf, x: tf.linalg.diag_part(input=x, k=1),
    "diag_part_band": lambda tf, x: tf.linalg.diag_part(x, k=(-1, 1)),
    "diag_part_padding": lambda tf, x: tf.linalg.diag_part(
        x, k=(-1, 1), padding_value=7.0, align="RIGHT_RIGHT"
    ),
    "diag_part_far": lambda tf, x: tf.linalg.diag_part(x, k=5),
    "set_diag": lambda tf, x: tf.linalg.set_diag(x, [1.5, 2.5]),
    "set_diag_own": lambda tf, x: tf.linalg.set_diag(x, x[1, :2] * 2.0),
    "set_diag_above": lambda tf, x: tf.linalg.set_diag(x, [9.0, 8.0], k=1),
    "set_diag_band": lambda tf, x: tf.linalg.set_diag(x, x[:, :2], k=(0, 1), align="LEFT_LEFT"),
    "set_diag_clash": lambda tf, x: tf.linalg.set_diag(x, [1.0, 2.0, 3.0]),
    "band_lower": lambda tf, x: tf.linalg.band_part(x, -1, 0),
    "band_upper": lambda tf, x: tf.linalg.band_part(x, 0, -1),
    "band_inner": lambda tf, x: tf.linalg.band_part(x, 0, 1),
    "band_all": lambda tf, x: tf.linalg.band_part(x, -1, -1),
    "band_bad": lambda tf, x: tf.linalg.band_part(x, 5, 0),
    "trace": lambda tf, x: tf.linalg.trace(x),
    "trace_batch": lambda tf, x: tf.linalg.trace(tf.stack([x, 2.0 * x])),
    "trace_vector": lambda tf, x: tf.linalg.trace(x[0]),
    "tensor_diag": lambda tf, x: tf.linalg.tensor_diag(x[0]),
    "tensor_diag_part": lambda tf, x: tf.linalg.tensor_diag_part(x[:2, :2]),
    "adjoint": lambda tf, x: tf.linalg.adjoint(x),
    "matrix_transpose": lambda tf, x: tf.linalg.matrix_transpose(a=x, conjugate=True),
    "cross": lambda tf, x: tf.linalg.cross(x[0], x[1]),
    "eye_times": lambda tf, x: tf.eye(2) @ x,
    "l2_normalize": lambda tf, x: tf.linalg.l2_normalize(x, axis=1),
    "diag_scalar": lambda tf, x: tf.linalg.diag(1.0),
}


@cases(op=DIAGONAL)
def diagonals(tf, op):
    return first_only(tf, lambda x: op(tf, x), matrix(tf, (2, 3)))


@cases(
    op={
        name: DIAGONAL[name]
        for name in (
            "diag",
            "diag_part",
            "set_diag_own",
            "band_lower",
            "trace",
            "cross",
            "l2_normalize",
        )
    }
)
def diagonals_twice(tf, op):
    return grads(tf, lambda x: op(tf, x * x), matrix(tf, (2, 3)))


# ---------------------------------------------------------------------------- decompositions


def right(a):
    # Not a column of the matrix itself, of which the solution would be constant.
    return a[..., :, :1] ** 2 + 1.0


SOLVE = {
    "inv": lambda tf, a: tf.linalg.inv(a),
    "inv_adjoint": lambda tf, a: tf.linalg.inv(a, adjoint=True),
    "pinv": lambda tf, a: tf.linalg.pinv(a),
    "det": lambda tf, a: tf.linalg.det(a),
    "slogdet": lambda tf, a: tf.linalg.slogdet(a)[1],
    "slogdet_sign": lambda tf, a: tf.linalg.slogdet(-a)[0],
    "logdet": lambda tf, a: tf.linalg.logdet(a),
    "solve": lambda tf, a: tf.linalg.solve(a, right(a)),
    "solve_adjoint": lambda tf, a: tf.linalg.solve(a, right(a), adjoint=True),
    "expm": lambda tf, a: tf.linalg.expm(a),
    "cholesky": lambda tf, a: tf.linalg.cholesky(a),
    "cholesky_solve": lambda tf, a: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), right(a)),
    "triangular_solve": lambda tf, a: tf.linalg.triangular_solve(a, right(a)),
    "triangular_upper": lambda tf, a: tf.linalg.triangular_solve(a, right(a), lower=False),
    "triangular_adjoint": lambda tf, a: tf.linalg.triangular_solve(
        a, right(a), lower=True, adjoint=True
    ),
    "singular_values": lambda tf, a: tf.linalg.svd(a, compute_uv=False),
    "eigenvalues": lambda tf, a: tf.linalg.eigvalsh(a),
    "eigh_rebuilt": lambda tf, a: rebuilt(tf, *tf.linalg.eigh(a)),
    "eigh_projector": lambda tf, a: projector(tf, tf.linalg.eigh(a)[1]),
    "qr_r": lambda tf, a: tf.abs(tf.linalg.qr(a)[1]),
    "qr_q": lambda tf, a: tf.abs(tf.linalg.qr(a, full_matrices=True).q),
    "lstsq": lambda tf, a: tf.linalg.lstsq(a, right(a)),
    "lstsq_regular": lambda tf, a: tf.linalg.lstsq(a, right(a), l2_regularizer=0.5),
    "lstsq_slow": lambda tf, a: tf.linalg.lstsq(a, right(a), fast=False),
    "matrix_power": lambda tf, a: a @ a @ a,
    "lu": lambda tf, a: tf.linalg.lu(a)[0],
}
SYMMETRIC_ONLY = {
    "cholesky",
    "cholesky_solve",
    "eigenvalues",
    "eigh_rebuilt",
    "eigh_projector",
    "logdet",
}


def rebuilt(tf, values, vectors):
    return vectors @ tf.linalg.diag(values**2) @ tf.linalg.matrix_transpose(vectors)


def projector(tf, vectors):
    return vectors[:, :1] @ tf.linalg.matrix_transpose(vectors[:, :1])


@cases(op=list(SOLVE), dtype=REAL)
def decompositions(tf, op, dtype):
    a = tensor(tf, SYMMETRIC if op in SYMMETRIC_ONLY else SQUARE, dtype)
    call = first_only if dtype == "float32" else grads
    return call(tf, lambda a: SOLVE[op](tf, a), a)


@cases(
    op=[
        "inv",
        "det",
        "solve",
        "cholesky",
        "singular_values",
        "eigenvalues",
        "slogdet",
        "qr_r",
        "triangular_solve",
        "expm",
    ],
    case={
        "batch": np.stack([SYMMETRIC, SYMMETRIC * 2 + np.eye(3)]),
        "singular": np.ones((3, 3)),
        "rectangular": np.ones((2, 3)) + np.eye(2, 3),
        "vector": np.ones(3),
        "empty": np.zeros((0, 0)),
        "nan": np.full((3, 3), NAN),
        "identity": np.eye(3),
        "zeros": np.zeros((3, 3)),
    },
)
def decompositions_of(tf, op, case):
    a = tf.constant(case)
    if op == "cholesky":
        # Without a factor, what stands above the diagonal is left as memory was.
        call = lambda a: tf.linalg.band_part(tf.linalg.cholesky(a), -1, 0)
    elif op == "qr_r" and case.ndim == 2:
        call = lambda a: tf.linalg.qr(a)[1]
        answer = attempt(lambda: call(a))
        return answer if isinstance(answer, Exception) else answer.shape
    else:
        call = lambda a: SOLVE[op](tf, a)
    answer = attempt(lambda: first_only(tf, call, a))
    if isinstance(answer, Exception) or op in ("det", "cholesky", "inv", "solve"):
        return answer
    # Slopes between equal values are infinities and their differences: no use to compare.
    return answer if case.size != 9 else answer[0]


@cases(shape=[(3, 2), (2, 3), (2, 2, 3)])
def svd(tf, shape):
    x = matrix(tf, shape, "float64")
    s, u, v = tf.linalg.svd(x)
    values = grads(tf, lambda x: tf.linalg.svd(x, compute_uv=False), x)
    full = tf.linalg.svd(x, full_matrices=True)
    back = u @ tf.linalg.diag(s) @ tf.linalg.adjoint(v)
    return values, s, u.shape, v.shape, [part.shape for part in full], back


@cases(shape=[(2, 2), (3, 2)])
def svd_gradient(tf, shape):
    x = matrix(tf, shape, "float64")

    def call(x):
        s, u, v = tf.linalg.svd(x)
        return u @ tf.linalg.diag(s**2) @ tf.linalg.matrix_transpose(v)

    return first_only(tf, call, x)


@case
def complex_solve(tf):
    a = tf.constant(SQUARE + 1j * SYMMETRIC * 0.25)
    return [
        first_only(tf, lambda a: tf.linalg.inv(a), a),
        first_only(tf, lambda a: tf.linalg.solve(a, a[:, :1], adjoint=True), a),
        first_only(tf, lambda a: tf.linalg.det(a), a),
        first_only(tf, lambda a: tf.linalg.trace(a), a),
        first_only(tf, lambda a: tf.linalg.adjoint(a), a),
        first_only(tf, lambda a: tf.linalg.matrix_transpose(a, conjugate=True), a),
        first_only(tf, lambda a: tf.linalg.band_part(a, 0, -1), a),
    ]


@case
def lu(tf):
    factors, permutation = tf.linalg.lu(tf.constant(SQUARE))
    wide = tf.linalg.lu(tf.constant(SQUARE), output_idx_type=tf.int64)
    return factors, permutation, wide


@cases(
    given={
        "solve_shapes": lambda tf: tf.linalg.solve(tf.eye(2), tf.ones([3, 1])),
        "solve_vector": lambda tf: tf.linalg.solve(tf.eye(2), tf.ones([2])),
        "solve_int": lambda tf: tf.linalg.solve(
            tf.eye(2, dtype=tf.int32), tf.ones([2, 1], tf.int32)
        ),
        "solve_mixed": lambda tf: tf.linalg.solve(tf.eye(2), tf.ones([2, 1], tf.float64)),
        "inv_int": lambda tf: tf.linalg.inv([[1, 2], [3, 4]]),
        "det_int": lambda tf: tf.linalg.det([[1, 2], [3, 4]]),
        "cholesky_negative": lambda tf: tf.linalg.cholesky([[-1.0]]),
        "cholesky_lower_only": lambda tf: tf.linalg.cholesky([[4.0, 99.0], [2.0, 3.0]]),
        "eigh_lower_only": lambda tf: tf.linalg.eigvalsh([[4.0, 99.0], [2.0, 3.0]]),
        "trace_scalar": lambda tf: tf.linalg.trace(1.0),
        "inv_half": lambda tf: tf.linalg.inv(tf.constant([[2.0]], tf.float16)),
        "inv_text": lambda tf: tf.linalg.inv("a"),
        "triangular_batch": lambda tf: tf.linalg.triangular_solve(
            tf.stack([tf.eye(2), 2.0 * tf.eye(2)]), tf.ones([2, 1])
        ),
        "einsum_alias": lambda tf: tf.linalg.einsum("ij->ji", tf.constant([[1, 2]])),
        "slogdet_record": lambda tf: tf.linalg.slogdet([[2.0, 0.0], [0.0, -3.0]]),
        "svd_order": lambda tf: tf.linalg.svd(
            tf.constant([[1.0, 0.0], [0.0, -5.0]]), compute_uv=False
        ),
        "eye_alias": lambda tf: tf.linalg.eye(2),
        "tensordot_alias": lambda tf: tf.linalg.tensordot([1.0, 2.0], [3.0, 4.0], 1),
    }
)
def given(tf, given):
    return given(tf)
