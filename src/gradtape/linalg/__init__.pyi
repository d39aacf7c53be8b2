"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import experimental as experimental
from ..arrays.creation import eye as eye
from ..math.clipping import global_norm as global_norm
from ..math.reductions import l2_normalize as l2_normalize
from .banded import (
    banded_triangular_solve as banded_triangular_solve, eigh_tridiagonal as eigh_tridiagonal,
    tridiagonal_matmul as tridiagonal_matmul, tridiagonal_solve as tridiagonal_solve,
)  # fmt: skip
from .decompositions import (
    cholesky as cholesky, cholesky_solve as cholesky_solve, det as det, eig as eig, eigh as
    eigh, eigvals as eigvals, eigvalsh as eigvalsh, expm as expm, inv as inv, logdet as logdet,
    logm as logm, lstsq as lstsq, lu as lu, matrix_rank as matrix_rank, pinv as pinv, qr as qr,
    slogdet as slogdet, solve as solve, sqrtm as sqrtm, svd as svd, triangular_solve as
    triangular_solve,
)  # fmt: skip
from .diagonals import (
    band_part as band_part, diag as diag, diag_part as diag_part, set_diag as set_diag,
    tensor_diag as tensor_diag, tensor_diag_part as tensor_diag_part, trace as trace,
)  # fmt: skip
from .einsums import einsum as einsum
from .lu_factors import (
    lu_matrix_inverse as lu_matrix_inverse, lu_reconstruct as lu_reconstruct, lu_solve as
    lu_solve,
)  # fmt: skip
from .norms import norm as norm, normalize as normalize
from .products import (
    adjoint as adjoint, cross as cross, matmul as matmul, matrix_transpose as matrix_transpose,
    matvec as matvec, tensordot as tensordot,
)  # fmt: skip
