"""`tf.linalg`: products, norms, diagonals, solutions and decompositions of matrices."""

from __future__ import annotations

from ..framework.namespaces import namespace

_HOMES = {
    "banded": "banded_triangular_solve eigh_tridiagonal tridiagonal_matmul tridiagonal_solve",
    "decompositions": """
        cholesky cholesky_solve det eig eigh eigvals eigvalsh expm inv logdet logm lstsq lu
        matrix_rank pinv qr slogdet solve sqrtm svd triangular_solve""",
    "diagonals": "band_part diag diag_part set_diag tensor_diag tensor_diag_part trace",
    "einsums": "einsum",
    "lu_factors": "lu_matrix_inverse lu_reconstruct lu_solve",
    "norms": "norm normalize",
    "products": "adjoint cross matmul matrix_transpose matvec tensordot",
    "..arrays.creation": "eye",
    "..math.clipping": "global_norm",
    "..math.reductions": "l2_normalize",
    "": "experimental",  # modules
}  # fmt: skip
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
