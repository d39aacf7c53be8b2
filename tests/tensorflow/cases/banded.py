"""Matrices with few diagonals, LU factors put to use, conjugate gradients."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import REAL, fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, case, cases

BANDS = np.array([[1.0, -0.5, 0.25, 9.0], [3.0, 2.5, -2.0, 4.0], [9.0, 0.5, 1.0, -1.5]])
SQUARE = np.array([[2.0, -1.0, 0.5], [0.25, 1.5, -0.75], [1.0, 0.5, 3.0]])


def bands(tf, dtype="float32", batch=()):
    return tensor(tf, np.broadcast_to(BANDS, (*batch, 3, 4)), dtype)


def rhs(tf, shape=(4, 2), dtype="float32"):
    return tensor(tf, fill(shape, seed=3), dtype)


# ------------------------------------------------------------------------- three diagonals


@cases(shape=[(4,), (4, 1), (4, 2)], dtype=[*REAL, "complex64", "complex128"])
def solve(tf, shape, dtype):
    return grads(tf, tf.linalg.tridiagonal_solve, bands(tf, dtype), rhs(tf, shape, dtype))


@cases(
    given={
        "transpose": lambda tf, a: tf.linalg.tridiagonal_solve(
            a, rhs(tf, (2, 4)), transpose_rhs=True
        ),
        "conjugate": lambda tf, a: tf.linalg.tridiagonal_solve(
            tf.cast(a, tf.complex64), rhs(tf, (4,), "complex64"), conjugate_rhs=True
        ),
        "adjoint": lambda tf, a: tf.linalg.tridiagonal_solve(
            tf.cast(a, tf.complex64), rhs(tf, (2, 4), "complex64"), "compact", True, True
        ),
        "matrix": lambda tf, a: tf.linalg.tridiagonal_solve(
            tf.eye(4) * 3.0 + a[0] * a[1][:, None], rhs(tf), "matrix"
        ),
        "sequence": lambda tf, a: tf.linalg.tridiagonal_solve(
            (a[0, :3], a[1], a[2, 1:]), rhs(tf), "sequence"
        ),
        "sequence_full": lambda tf, a: tf.linalg.tridiagonal_solve(
            [a[0], a[1], a[2]], rhs(tf), "sequence"
        ),
        "sequence_short": lambda tf, a: tf.linalg.tridiagonal_solve(
            (a[0], a[1]), rhs(tf), "sequence"
        ),
        "sequence_wrong": lambda tf, a: tf.linalg.tridiagonal_solve(
            (a[0, :2], a[1], a[2]), rhs(tf), "sequence"
        ),
        "no_pivoting": lambda tf, a: tf.linalg.tridiagonal_solve(
            a, rhs(tf), partial_pivoting=False
        ),
        "perturb": lambda tf, a: tf.linalg.tridiagonal_solve(
            a, rhs(tf), partial_pivoting=False, perturb_singular=True
        ),
        "format": lambda tf, a: tf.linalg.tridiagonal_solve(a, rhs(tf), "rows"),
        "two": lambda tf, a: tf.linalg.tridiagonal_solve(a[:2], rhs(tf)),
        "count": lambda tf, a: tf.linalg.tridiagonal_solve(a, rhs(tf, (3, 2))),
        "ranks": lambda tf, a: tf.linalg.tridiagonal_solve(a, rhs(tf, (1, 4, 2))),
        "rank": lambda tf, a: tf.linalg.tridiagonal_solve(a[0], rhs(tf)),
        "not_square": lambda tf, a: tf.linalg.tridiagonal_solve(a, rhs(tf), "matrix"),
        "half": lambda tf, a: tf.linalg.tridiagonal_solve(
            tf.cast(a, tf.float16), rhs(tf, (4, 2), "float16")
        ),
        "singular": lambda tf, a: tf.linalg.tridiagonal_solve(a * 0.0, rhs(tf)),
        "one": lambda tf, a: tf.linalg.tridiagonal_solve(a[:, :1], rhs(tf, (1, 2))),
    }
)
def solve_arguments(tf, given):
    return first_only(tf, lambda a: given(tf, a), bands(tf))


@cases(batch={"same": (2,), "deep": (2, 1)})
def solve_batches(tf, batch):
    a, b = bands(tf, "float64", batch), rhs(tf, (*batch, 4, 2), "float64")
    return grads(tf, tf.linalg.tridiagonal_solve, a, b), attempt(
        lambda: tf.linalg.tridiagonal_solve(a, rhs(tf, (3, 4, 2), "float64"))
    )


@cases(dtype=[*REAL, "complex64"], shape=[(4, 1), (4, 3)])
def multiply(tf, dtype, shape):
    return grads(tf, tf.linalg.tridiagonal_matmul, bands(tf, dtype), rhs(tf, shape, dtype))


@cases(
    given={
        "matrix": lambda tf, a: tf.linalg.tridiagonal_matmul(
            a[0] * a[1][:, None], rhs(tf), "matrix"
        ),
        "sequence": lambda tf, a: tf.linalg.tridiagonal_matmul(
            (a[0], a[1], a[2]), rhs(tf), diagonals_format="sequence"
        ),
        "sequence_short": lambda tf, a: tf.linalg.tridiagonal_matmul(
            (a[0, :3], a[1], a[2, 1:]), rhs(tf), "sequence"
        ),
        "vector": lambda tf, a: tf.linalg.tridiagonal_matmul(a, rhs(tf, (4,))),
        "format": lambda tf, a: tf.linalg.tridiagonal_matmul(a, rhs(tf), "rows"),
        "not_square": lambda tf, a: tf.linalg.tridiagonal_matmul(a, rhs(tf), "matrix"),
        "ranks": lambda tf, a: tf.linalg.tridiagonal_matmul(a[None], rhs(tf)),
        "batch": lambda tf, a: tf.linalg.tridiagonal_matmul(
            tf.stack([a, a]), rhs(tf, (2, 4, 2)), name="product"
        ),
        "count": lambda tf, a: tf.linalg.tridiagonal_matmul(a, rhs(tf, (3, 2))),
    }
)
def multiply_arguments(tf, given):
    return first_only(tf, lambda a: given(tf, a), bands(tf))


# ------------------------------------------------------------------------------- triangles


@cases(
    lower=[True, False],
    adjoint=[False, True],
    dtype=[*REAL, "complex64"],
    # Of one diagonal TensorFlow's gradient has another shape.
    count=[2, 3],
)
def triangle(tf, lower, adjoint, dtype, count):
    rows = BANDS[[1, 0, 2]][:count]
    a = tensor(tf, rows if lower else rows[::-1], dtype)
    call = lambda a, b: tf.linalg.banded_triangular_solve(a, b, lower, adjoint)
    return grads(tf, call, a, rhs(tf, (4, 2), dtype))


@cases(
    given={
        "broadcast": lambda tf: first_only(
            tf,
            tf.linalg.banded_triangular_solve,
            tensor(tf, fill((2, 1, 2, 3), 1.0, 2.0)),
            rhs(tf, (2, 3, 1)),
        ),
        "many": lambda tf: tf.linalg.banded_triangular_solve(tf.ones([4, 3]), tf.ones([3, 1])),
        "many_upper": lambda tf: tf.linalg.banded_triangular_solve(
            tf.ones([4, 3]), tf.ones([3, 1]), lower=False
        ),
        "singular": lambda tf: tf.linalg.banded_triangular_solve(
            [[2.0, 0.0], [0.0, 1.0]], [[1.0], [2.0]]
        ),
        "vector": lambda tf: tf.linalg.banded_triangular_solve([[2.0, 1.0]], [1.0, 2.0]),
        "size": lambda tf: tf.linalg.banded_triangular_solve([[2.0, 1.0]], [[1.0]]),
        "half": lambda tf: tf.linalg.banded_triangular_solve(
            tf.ones([2, 3], tf.float16), tf.ones([3, 1], tf.float16)
        ),
    }
)
def triangle_arguments(tf, given):
    return attempt(lambda: given(tf))


# ----------------------------------------------------------------------------- eigenvalues


@cases(
    given={
        "all": lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b),
        "numbers": lambda tf, a, b: tf.linalg.eigh_tridiagonal(
            a, b, select="i", select_range=(1, 2)
        ),
        "values": lambda tf, a, b: tf.linalg.eigh_tridiagonal(
            a, b, select="v", select_range=(1.5, 4.0)
        ),
        "vectors": lambda tf, a, b: [
            tf.abs(part) for part in tf.linalg.eigh_tridiagonal(a, b, eigvals_only=False)
        ],
        "select": lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b, select="b"),
        "no_range": lambda tf, a, b: tf.linalg.eigh_tridiagonal(a, b, select="i"),
        "complex": lambda tf, a, b: tf.linalg.eigh_tridiagonal(
            tf.cast(a, tf.complex64), tf.constant([0.5 + 1.0j, 0.25, 1.0], tf.complex64)
        ),
        "integers": lambda tf, a, b: tf.linalg.eigh_tridiagonal([1, 2], [3]),
        "one": lambda tf, a, b: tf.linalg.eigh_tridiagonal([1.0], tf.zeros([0])),
        "batch": lambda tf, a, b: tf.linalg.eigh_tridiagonal(tf.stack([a, a]), tf.stack([b, b])),
    },
    tolerance=1e-4,
)
def eigenvalues(tf, given):
    main, side = tf.constant([1.0, 2.0, 3.0, 5.0]), tf.constant([0.5, 0.25, 1.0])
    return attempt(lambda: given(tf, main, side))


# -------------------------------------------------------------------------------------- LU


@cases(op=["lu_reconstruct", "lu_matrix_inverse"], dtype=[*REAL, "complex64"])
def factors(tf, op, dtype):
    def call(x):
        return getattr(tf.linalg, op)(*tf.linalg.lu(x))

    return first_only(tf, call, tensor(tf, SQUARE, dtype)), first_only(
        tf, call, tensor(tf, np.stack([SQUARE, SQUARE[::-1]]), dtype)
    )


@cases(op=["lu_reconstruct", "lu_matrix_inverse"])
def factors_twice(tf, op):
    lu, p = tf.linalg.lu(tensor(tf, SQUARE, "float64"))
    return grads(tf, lambda x: getattr(tf.linalg, op)(x, p), lu)


@cases(
    shapes={
        "matrix": ((3, 3), (3, 2)),
        "batch": ((2, 3, 3), (2, 3, 1)),
        "broadcast": ((2, 3, 3), (3, 1)),
    }
)
def solve_factored(tf, shapes):
    x = tensor(tf, np.broadcast_to(SQUARE[::-1], shapes[0]), "float64")
    lu, p = tf.linalg.lu(x)
    b = rhs(tf, shapes[1], "float64")
    return grads(tf, lambda lu, b: tf.linalg.lu_solve(lu, p, b), lu, b)


@cases(
    given={
        "vector": lambda tf, x, p: tf.linalg.lu_solve(x, p, [1.0, 2.0, 3.0]),
        "size": lambda tf, x, p: tf.linalg.lu_solve(x, p, [[1.0], [2.0]]),
        "twice": lambda tf, x, p: tf.linalg.lu_reconstruct(x, [0, 1, 1]),
        "validate": lambda tf, x, p: tf.linalg.lu_reconstruct(x, p, validate_args=True),
        "rank": lambda tf, x, p: tf.linalg.lu_reconstruct(x, [p]),
        "row": lambda tf, x, p: tf.linalg.lu_reconstruct(x[0], p),
        "root": lambda tf, x, p: tf.matrix_square_root(tf.eye(2) * 4.0),
    }
)
def factored_arguments(tf, given):
    return attempt(lambda: given(tf, *tf.linalg.lu(tensor(tf, SQUARE))))


# -------------------------------------------------------------------- conjugate gradients


def operator(tf, matrix):
    """TensorFlow wants an operator, gradtape takes the matrix."""
    kind = getattr(tf.linalg, "LinearOperatorFullMatrix", None)
    if kind is None:
        return matrix
    return kind(matrix, is_self_adjoint=True, is_positive_definite=True)


@cases(
    options={
        "default": {},
        "steps": {"max_iter": 2},
        "tolerance": {"tol": 0.5},
        "start": {"x": True},
        "prepared": {"preconditioner": True},
    },
    shape={"vector": (3,), "batch": (2, 3)},
)
def conjugate(tf, options, shape):
    spd = SQUARE @ SQUARE.T
    options = dict(options)
    if "x" in options:
        options["x"] = tensor(tf, fill(shape, seed=4), "float64")
    if "preconditioner" in options:
        options["preconditioner"] = operator(tf, tensor(tf, np.diag(1 / np.diag(spd)), "float64"))

    def call(a, b):
        return tf.linalg.experimental.conjugate_gradient(operator(tf, a), b, **options).x

    a, b = tensor(tf, spd, "float64"), rhs(tf, shape, "float64")
    state = tf.linalg.experimental.conjugate_gradient(operator(tf, a), b, **options)
    return tuple(state), first_only(tf, call, a, b)


@case
def not_definite(tf):
    class Operator:
        is_self_adjoint, is_positive_definite = True, False

    return attempt(lambda: tf.linalg.experimental.conjugate_gradient(Operator(), tf.ones([2])))
