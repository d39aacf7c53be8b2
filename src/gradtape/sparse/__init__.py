"""`tf.sparse`: tensors given by the places and values of what is not zero.

Gradients are those of the values. Only those functions lack them that lack them in TensorFlow.
"""

from ..framework.namespaces import lookup

# isort: skip_file

from .tensor import SparseTensor, SparseTensorSpec
from .crossing import cross_hashed
from .dense import add, from_dense, sparse_dense_matmul, to_dense, to_indicator
from .pick import concat, eye, fill_empty_rows, mask, retain, slice, split
from .reduce import (
    bincount, map_values, maximum, minimum, reduce_max, reduce_sum, softmax,
)  # fmt: skip
from .segments import segment_mean, segment_sqrt_n, segment_sum
from .shape import expand_dims, reorder, reset_shape, reshape, transpose

__getattr__ = lookup(__name__)

__all__ = [
    "SparseTensor", "SparseTensorSpec", "add", "cross_hashed", "from_dense",
    "sparse_dense_matmul", "to_dense", "to_indicator", "concat", "eye", "fill_empty_rows",
    "mask", "retain", "slice", "split", "bincount", "map_values", "maximum", "minimum",
    "reduce_max", "reduce_sum", "softmax", "segment_mean", "segment_sqrt_n", "segment_sum",
    "expand_dims", "reorder", "reset_shape", "reshape", "transpose",
]  # fmt: skip
