"""The names that programs with a gradient tape use, most used first, and those of their tests."""

# Counted over 205 programs: guides, tutorials, physics-informed networks, training loops.
_PROGRAMS = """
GradientTape reduce_mean float32 cast function reduce_sum Variable reshape constant square argmax
matmul nn.relu equal one_hot int32 zeros convert_to_tensor nn.softmax random.uniform
random.set_seed random.normal concat int64 shape range ones squeeze Module expand_dims reduce_max
nn.sparse_softmax_cross_entropy_with_logits sigmoid add clip_by_value abs math.log TensorSpec
stack reduce_min linspace ones_like transpose zeros_like exp sqrt device add_n newaxis split
map_fn pow nn.sigmoid_cross_entropy_with_logits errors.InvalidArgumentError sin where maximum
minimum math.reduce_std print string gather cos tile broadcast_to random.truncated_normal
nn.compute_average_loss nn.scale_regularization_loss identity Tensor reduce_prod norm clip_by_norm
einsum uint8 TensorShape bool random.stateless_normal size TensorArray tanh nest.map_structure
nn.conv2d pad eye greater nn.moments logical_not math.l2_normalize float16 multiply cond fill less
nn.embedding_lookup linalg.set_diag zeros_initializer clip_by_global_norm meshgrid nn.l2_loss
reverse tensor_scatter_nd_add math.top_k random.shuffle float64 Graph int16 int8 IndexedSlices
group uint32 while_loop errors.UnimplementedError custom_gradient name_scope slice gather_nd
linalg.diag nest.flatten stop_gradient linalg.solve sign unstack math.is_nan nn.elu rank
reduce_all type_spec_from_value argmin cumsum errors.OutOfRangeError linalg.diag_part nn.bias_add
nn.leaky_relu nn.max_pool vectorized_map UnconnectedGradients init_scope is_tensor linalg.svd
logical_and math.cumprod nn.batch_normalization nn.gelu nn.nce_loss py_function random.Generator
random_normal_initializer roll scatter_nd tensor_scatter_nd_max tensor_scatter_nd_min
tensor_scatter_nd_sub dtypes.int32 dtypes.int64 math.not_equal math.softplus nn.avg_pool2d
nn.depth_to_space numpy_function random.categorical random.get_global_generator
random.stateless_uniform types.experimental.TraceType
"""
# Met in the same programs, and not in TensorFlow 2.21 either.
PAST = ("Session", "global_variables_initializer", "placeholder")
# Met only in tests of such programs.
_TESTS = """
bfloat16 gradients complex64 complex128 executing_eagerly uint64
__internal__.eager_context.eager_mode uint16 control_dependencies qint8 complex qint32 quint8
as_dtype constant_initializer qint16 quint16 variant __internal__.tf2.enabled half
linalg.band_part errors.NotFoundError identity_n import_graph_def linalg.tensor_diag math.angle
nest.pack_sequence_as nn.softmax_cross_entropy_with_logits not_equal recompute_grad
VariableAggregation __internal__.CompositeTensor __internal__.EagerTensor double errors.OpError
get_static_value linalg.inv linalg.matrix_transpose linalg.triangular_solve math.conj
math.divide_no_nan math.log1p math.unsorted_segment_sum math.xdivy math.xlog1py math.xlogy
nn.conv1d_transpose nn.silu strided_slice DType TypeSpec VariableSynchronization
__internal__.get_name_scope __internal__.nest.flatten_up_to
__internal__.nest.get_traverse_shallow_structure __internal__.nest.map_structure_up_to
__internal__.nest.yield_flat_paths argsort boolean_mask errors.AlreadyExistsError
errors.FailedPreconditionError errors.InternalError foldl greater_equal less_equal linalg.adjoint
linalg.cholesky linalg.det linalg.eigh linalg.expm linalg.lstsq linalg.lu linalg.qr linalg.slogdet
math.bessel_i0e math.bessel_i1e math.erfc math.floordiv math.igamma math.imag
math.invert_permutation math.is_finite math.mod math.nextafter math.real
math.reduce_euclidean_norm math.rsqrt math.segment_max math.segment_min math.segment_prod
math.segment_sum math.squared_difference negative nest.assert_same_structure nn.avg_pool
nn.conv2d_transpose nn.convolution nn.crelu nn.depthwise_conv2d nn.log_softmax nn.max_pool1d
nn.relu6 nn.selu ones_initializer random.gamma reduce_logsumexp repeat round scan subtract tan
tensordot unique
"""
PROGRAMS, TESTS = _PROGRAMS.split(), _TESTS.split()
