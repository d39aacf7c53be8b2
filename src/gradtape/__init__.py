"""A gradient tape that explains itself: TensorFlow's GradientTape on NumPy.

>>> import gradtape as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

# isort: skip_file
from os import environ as _environ
from sys import modules as _modules
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import autodiff, bitwise, dtypes, errors, losses, math, nest, version
from .arrays import (
    argsort, batch_to_space, bitcast, boolean_mask, broadcast_dynamic_shape,
    broadcast_static_shape, broadcast_to, cast, concat, constant, convert_to_tensor,
    dynamic_partition, dynamic_stitch, ensure_shape, expand_dims, eye, fill, gather, gather_nd,
    get_static_value, identity, identity_n, is_tensor, linspace, meshgrid, newaxis, one_hot, ones,
    ones_like, pad, range, rank, repeat, reshape, reverse, reverse_sequence, roll, saturate_cast,
    scatter_nd, searchsorted, sequence_mask, shape, shape_n, size, slice, sort, space_to_batch,
    split, squeeze, stack, stop_gradient, strided_slice, tensor_scatter_nd_add,
    tensor_scatter_nd_max, tensor_scatter_nd_min, tensor_scatter_nd_sub, tensor_scatter_nd_update,
    tile, transpose, unique, unique_with_counts, unstack, where, zeros, zeros_like,
)  # fmt: skip
from .clipping import clip_by_global_norm, clip_by_norm, clip_by_value
from .custom import custom_gradient, grad_pass_through, recompute_grad
from .dtypes import (
    DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64,
    half, int8, int16, int32, int64, resource, string, uint8, uint16, uint32, uint64, variant,
)  # fmt: skip
from .enums import UnconnectedGradients, VariableAggregation, VariableSynchronization
from .function import function
from .lazy import Missing as _Missing, teach as _teach
from .math import (
    abs, acos, acosh, add, add_n, argmax, argmin, asin, asinh, atan, atan2, atanh, complex, cos,
    cosh, cumsum, divide, equal, exp, floor, greater, greater_equal, less, less_equal, logical_and,
    logical_not, logical_or, maximum, minimum, multiply, negative, not_equal, pow, realdiv,
    reduce_all, reduce_any, reduce_logsumexp, reduce_max, reduce_mean, reduce_min, reduce_prod,
    reduce_sum, round, scalar_mul, sigmoid, sign, sin, sinh, sqrt, square, subtract, tan, tanh,
    truediv, truncatediv, truncatemod,
)  # fmt: skip
from .memory import keep_freed_memory as _keep_freed_memory
from .module import Module
from .names import name_scope
from .shapes import TensorShape, TensorSpec, TypeSpec, type_spec_from_value
from .slices import IndexedSlices, IndexedSlicesSpec
from .tape import GradientTape, gradients
from .tensor import Tensor
from .variable import Variable
from .version import TENSORFLOW as __version__

if _TYPE_CHECKING:
    from . import config, debugging, experimental, initializers, linalg, nn, numpy, ragged, random
    from . import sets, signal, sparse, strings, test_util as test, types
    from . import autograph, image, raw_ops, train
    from .backprops import required_space_to_batch_paddings
    from .framework import (
        AggregationMethod, DeviceSpec, NoneTensorSpec, TensorArraySpec, get_current_name_scope,
        get_logger, no_gradient, register_tensor_conversion_function, variable_creator_scope,
    )  # fmt: skip
    from .measuring import (
        edit_distance, extract_volume_patches, guarantee_const, histogram_fixed_width,
        histogram_fixed_width_bins, matrix_square_root, parallel_stack, space_to_batch_nd,
        unravel_index,
    )  # fmt: skip
    from .sorting import approx_top_k
    from .text import fingerprint
    from . import doctor, testing
    from .control import (
        case, cond, foldl, foldr, map_fn, scan, switch_case, vectorized_map, while_loop,
    )  # fmt: skip
    from .debugging import Assert, assert_equal, assert_greater, assert_less, assert_rank
    from .graph import (
        Graph, control_dependencies, device, executing_eagerly, group, hessians, init_scope,
        inside_function, is_symbolic_tensor, no_op, tuple,
    )  # fmt: skip
    from .initializers import (
        constant_initializer, ones_initializer, random_normal_initializer,
        random_uniform_initializer, zeros_initializer,
    )  # fmt: skip
    from .linalg import eig, eigvals, einsum, matmul, norm, tensordot
    from .printing import print, timestamp
    from .pyfunc import numpy_function, py_function
    from .ragged import RaggedTensor, RaggedTensorSpec
    from .signal.nd import fftnd, ifftnd, irfftnd, rfftnd
    from .sparse import SparseTensor, SparseTensorSpec
    from .strings import as_string
    from .tensor_array import TensorArray

# Found when they are first asked for, which saves a quarter of the import: namespaces, and single
# names by the module that they live in. (The lines above say the same to type checkers.)
_MODULES = {
    "__internal__": "internal", "autograph": "autograph", "config": "config",
    "debugging": "debugging", "experimental": "experimental", "image": "image",
    "initializers": "initializers", "linalg": "linalg", "nn": "nn", "numpy": "numpy",
    "ragged": "ragged", "random": "random", "raw_ops": "raw_ops", "sets": "sets",
    "signal": "signal", "sparse": "sparse", "strings": "strings", "test": "test_util",
    "train": "train", "types": "types",
}  # fmt: skip
_NAMES = {
    "backprops": "required_space_to_batch_paddings",
    "control": "case cond foldl foldr map_fn scan switch_case vectorized_map while_loop",
    "debugging": "Assert assert_equal assert_greater assert_less assert_rank",
    "framework": "AggregationMethod DeviceSpec NoneTensorSpec TensorArraySpec "
    "get_current_name_scope get_logger no_gradient register_tensor_conversion_function "
    "variable_creator_scope",
    "graph": "Graph control_dependencies device executing_eagerly group hessians init_scope "
    "inside_function is_symbolic_tensor no_op tuple",
    "initializers": "constant_initializer ones_initializer random_normal_initializer "
    "random_uniform_initializer zeros_initializer",
    "linalg": "eig eigvals einsum matmul norm tensordot",
    "measuring": "edit_distance extract_volume_patches guarantee_const histogram_fixed_width "
    "histogram_fixed_width_bins matrix_square_root parallel_stack space_to_batch_nd "
    "unravel_index",
    "printing": "print timestamp",
    "pyfunc": "numpy_function py_function",
    "ragged": "RaggedTensor RaggedTensorSpec",
    "signal.nd": "fftnd ifftnd irfftnd rfftnd",
    "sorting": "approx_top_k",
    "sparse": "SparseTensor SparseTensorSpec",
    "strings": "as_string",
    "tensor_array": "TensorArray",
    "text": "fingerprint",
}
# gradtape's own, which TensorFlow does not have.
_OWN = {"doctor": "doctor", "testing": "testing"}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
_PRESENT = (autodiff, bitwise, dtypes, errors, math, nest, version)
# TensorFlow's names: modules that only make up gradtape are not among them.
# (Nor is gradtape.numpy, tf.experimental.numpy: `import *` must not take the place of NumPy.)
__all__ = [*(_name for _name in _MODULES if _name != "numpy"), *_HOME]
__all__ += [
    _name
    for _name, _value in list(globals().items())
    if not _name.startswith("_") and (not isinstance(_value, _ModuleType) or _value in _PRESENT)
]


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name in _MODULES:
        found: _Any = import_module(f".{_MODULES[name]}", __name__)
    elif name in _OWN:
        found = import_module(f".{_OWN[name]}", __name__)
    elif name == "load_ipython_extension":
        found = import_module(".doctor.notebook", __name__).load_ipython_extension
    elif name in _HOME:
        found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    else:
        raise _Missing(__name__, name)
    globals()[name] = found
    for public, home in _MODULES.items():  # one namespace may have imported another
        if (module := _modules.get(f"{__name__}.{home}")) is not None:
            _teach(module, public)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


# TensorFlow's tf.losses is Keras's; imported once, the module of that name stays out of sight.
del losses
for _value in _PRESENT:
    _teach(_value, _value.__name__.partition(".")[2])
_keep_freed_memory()
if _environ.get("GRADTAPE_DOCTOR"):
    from .doctor.environment import begin as _begin

    _begin()
