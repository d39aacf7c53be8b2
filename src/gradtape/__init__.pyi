"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import (
    audio as audio, autodiff as autodiff, autograph as autograph, bitwise as bitwise, compat as
    compat, config as config, data as data, debugging as debugging, distribute as distribute,
    doctor as doctor, dtypes as dtypes, errors as errors, experimental as experimental, image as
    image, internal as internal, io as io, keras as keras, linalg as linalg, lookup as lookup,
    math as math, nest as nest, nn as nn, numpy as numpy, quantization as quantization, ragged
    as ragged, random as random, raw_ops as raw_ops, sets as sets, signal as signal, sparse as
    sparse, strings as strings, summary as summary, sysconfig as sysconfig, test as test,
    testing as testing, train as train, types as types, version as version,
)  # fmt: skip
from .api.graph import (
    Graph as Graph, control_dependencies as control_dependencies, device as device,
    executing_eagerly as executing_eagerly, group as group, hessians as hessians, init_scope as
    init_scope, inside_function as inside_function, is_symbolic_tensor as is_symbolic_tensor,
    no_op as no_op, tuple as tuple,
)  # fmt: skip
from .api.toplevel import (
    AggregationMethod as AggregationMethod, DeviceSpec as DeviceSpec, TensorArraySpec as
    TensorArraySpec, get_current_name_scope as get_current_name_scope, get_logger as get_logger,
    no_gradient as no_gradient, register_tensor_conversion_function as
    register_tensor_conversion_function, variable_creator_scope as variable_creator_scope,
)  # fmt: skip
from .arrays.creation import (
    broadcast_dynamic_shape as broadcast_dynamic_shape, broadcast_static_shape as
    broadcast_static_shape, eye as eye, fill as fill, linspace as linspace, meshgrid as
    meshgrid, one_hot as one_hot, ones as ones, ones_like as ones_like, range as range, rank as
    rank, sequence_mask as sequence_mask, shape as shape, shape_n as shape_n, size as size,
    zeros as zeros, zeros_like as zeros_like,
)  # fmt: skip
from .arrays.gathering import (
    boolean_mask as boolean_mask, dynamic_partition as dynamic_partition, dynamic_stitch as
    dynamic_stitch, gather as gather, gather_nd as gather_nd, scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add, tensor_scatter_nd_max as
    tensor_scatter_nd_max, tensor_scatter_nd_min as tensor_scatter_nd_min, tensor_scatter_nd_sub
    as tensor_scatter_nd_sub, tensor_scatter_nd_update as tensor_scatter_nd_update, where as
    where,
)  # fmt: skip
from .arrays.patches import (
    extract_volume_patches as extract_volume_patches, guarantee_const as guarantee_const,
    parallel_stack as parallel_stack, space_to_batch_nd as space_to_batch_nd, unravel_index as
    unravel_index,
)  # fmt: skip
from .arrays.reshaping import (
    broadcast_to as broadcast_to, concat as concat, ensure_shape as ensure_shape, expand_dims as
    expand_dims, pad as pad, repeat as repeat, reshape as reshape, reverse as reverse,
    reverse_sequence as reverse_sequence, roll as roll, slice as slice, split as split, squeeze
    as squeeze, stack as stack, strided_slice as strided_slice, tile as tile, transpose as
    transpose, unstack as unstack,
)  # fmt: skip
from .arrays.sorting import (
    approx_top_k as approx_top_k, argsort as argsort, searchsorted as searchsorted, sort as
    sort, unique as unique, unique_with_counts as unique_with_counts,
)  # fmt: skip
from .arrays.space_depth import batch_to_space as batch_to_space, space_to_batch as space_to_batch
from .arrays.tensor_array import TensorArray as TensorArray
from .arrays.values import (
    bitcast as bitcast, cast as cast, constant as constant, convert_to_tensor as
    convert_to_tensor, get_static_value as get_static_value, identity as identity, identity_n as
    identity_n, is_tensor as is_tensor, newaxis as newaxis, saturate_cast as saturate_cast,
    stop_gradient as stop_gradient,
)  # fmt: skip
from .autodiff.custom import (
    custom_gradient as custom_gradient, grad_pass_through as grad_pass_through, recompute_grad
    as recompute_grad,
)  # fmt: skip
from .autodiff.tape import GradientTape as GradientTape, gradients as gradients
from .compile.function import function as function
from .control.flow import (
    case as case, cond as cond, foldl as foldl, foldr as foldr, map_fn as map_fn, scan as scan,
    switch_case as switch_case, vectorized_map as vectorized_map, while_loop as while_loop,
)  # fmt: skip
from .control.python import numpy_function as numpy_function, py_function as py_function
from .data.optional import OptionalSpec as OptionalSpec
from .debugging import (
    Assert as Assert, assert_equal as assert_equal, assert_greater as assert_greater,
    assert_less as assert_less, assert_rank as assert_rank,
)  # fmt: skip
from .dtypes import (
    DType as DType, as_dtype as as_dtype, bfloat16 as bfloat16, bool as bool, complex128 as
    complex128, complex64 as complex64, double as double, float16 as float16, float32 as
    float32, float64 as float64, half as half, int16 as int16, int32 as int32, int64 as int64,
    int8 as int8, resource as resource, string as string, uint16 as uint16, uint32 as uint32,
    uint64 as uint64, uint8 as uint8, variant as variant,
)  # fmt: skip
from .framework.enums import (
    UnconnectedGradients as UnconnectedGradients, VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)  # fmt: skip
from .framework.indexed_slices import (
    IndexedSlices as IndexedSlices, IndexedSlicesSpec as IndexedSlicesSpec,
)  # fmt: skip
from .framework.module import Module as Module
from .framework.name_scopes import name_scope as name_scope
from .framework.printing import print as print, timestamp as timestamp
from .framework.shapes import (
    NoneTensorSpec as NoneTensorSpec, TensorShape as TensorShape, TensorSpec as TensorSpec,
    TypeSpec as TypeSpec, type_spec_from_value as type_spec_from_value,
)  # fmt: skip
from .framework.tensor import Tensor as Tensor
from .framework.variable import Variable as Variable
from .keras import (
    initializers as initializers, losses as losses, metrics as metrics, optimizers as optimizers,
)  # fmt: skip
from .linalg.decompositions import (
    eig as eig, eigvals as eigvals, matrix_square_root as matrix_square_root,
)  # fmt: skip
from .linalg.einsums import einsum as einsum
from .linalg.norms import norm as norm
from .linalg.products import matmul as matmul, tensordot as tensordot
from .math.clipping import (
    clip_by_global_norm as clip_by_global_norm, clip_by_norm as clip_by_norm, clip_by_value as
    clip_by_value,
)  # fmt: skip
from .math.elementwise import (
    abs as abs, acos as acos, acosh as acosh, add as add, add_n as add_n, asin as asin, asinh as
    asinh, atan as atan, atan2 as atan2, atanh as atanh, complex as complex, cos as cos, cosh as
    cosh, divide as divide, equal as equal, exp as exp, floor as floor, greater as greater,
    greater_equal as greater_equal, less as less, less_equal as less_equal, logical_and as
    logical_and, logical_not as logical_not, logical_or as logical_or, maximum as maximum,
    minimum as minimum, multiply as multiply, negative as negative, not_equal as not_equal, pow
    as pow, realdiv as realdiv, round as round, scalar_mul as scalar_mul, sigmoid as sigmoid,
    sign as sign, sin as sin, sinh as sinh, sqrt as sqrt, square as square, subtract as
    subtract, tan as tan, tanh as tanh, truediv as truediv, truncatediv as truncatediv,
    truncatemod as truncatemod,
)  # fmt: skip
from .math.histograms import (
    histogram_fixed_width as histogram_fixed_width, histogram_fixed_width_bins as
    histogram_fixed_width_bins,
)  # fmt: skip
from .math.reductions import (
    argmax as argmax, argmin as argmin, cumsum as cumsum, reduce_all as reduce_all, reduce_any
    as reduce_any, reduce_logsumexp as reduce_logsumexp, reduce_max as reduce_max, reduce_mean
    as reduce_mean, reduce_min as reduce_min, reduce_prod as reduce_prod, reduce_sum as
    reduce_sum,
)  # fmt: skip
from .nn.backprops import required_space_to_batch_paddings as required_space_to_batch_paddings
from .ragged.tensor import RaggedTensor as RaggedTensor, RaggedTensorSpec as RaggedTensorSpec
from .random.initializers import (
    constant_initializer as constant_initializer, ones_initializer as ones_initializer,
    random_normal_initializer as random_normal_initializer, random_uniform_initializer as
    random_uniform_initializer, zeros_initializer as zeros_initializer,
)  # fmt: skip
from .signal.nd import fftnd as fftnd, ifftnd as ifftnd, irfftnd as irfftnd, rfftnd as rfftnd
from .sparse.distances import edit_distance as edit_distance
from .sparse.tensor import SparseTensor as SparseTensor, SparseTensorSpec as SparseTensorSpec
from .strings.basic import as_string as as_string
from .strings.unicode import fingerprint as fingerprint

__version__: str

def load_ipython_extension(shell: object) -> None: ...
