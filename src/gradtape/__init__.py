"""A gradient tape that explains itself: TensorFlow's GradientTape on NumPy.

>>> import gradtape as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

from os import environ as _environ
from typing import Any as _Any

from .autodiff import tape as _tape
from .autodiff.tape import GradientTape as GradientTape  # and with it the engine
from .framework import namespaces as _namespaces
from .framework.memory import keep_freed_memory as _keep_freed_memory
from .framework.namespaces import namespace as _namespace
from .framework.pickles import made as _made
from .version import TENSORFLOW as __version__

# TensorFlow's names, by the module that they live in.
_HOMES = {
    "arrays.creation": """
        broadcast_dynamic_shape broadcast_static_shape eye fill linspace meshgrid one_hot ones
        ones_like range rank sequence_mask shape shape_n size zeros zeros_like""",
    "arrays.gathering": """
        boolean_mask dynamic_partition dynamic_stitch gather gather_nd scatter_nd
        tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub
        tensor_scatter_nd_update where""",
    "arrays.patches": """
        extract_volume_patches guarantee_const parallel_stack space_to_batch_nd unravel_index""",
    "arrays.reshaping": """
        broadcast_to concat ensure_shape expand_dims pad repeat reshape reverse reverse_sequence
        roll slice split squeeze stack strided_slice tile transpose unstack""",
    "arrays.sorting": "approx_top_k argsort searchsorted sort unique unique_with_counts",
    "arrays.space_depth": "batch_to_space space_to_batch",
    "arrays.tensor_array": "TensorArray",
    "arrays.values": """
        bitcast cast constant convert_to_tensor get_static_value identity identity_n is_tensor
        newaxis saturate_cast stop_gradient""",
    "math.clipping": "clip_by_global_norm clip_by_norm clip_by_value",
    "math.elementwise": """
        abs acos acosh add add_n asin asinh atan atan2 atanh complex cos cosh divide equal exp
        floor greater greater_equal less less_equal logical_and logical_not logical_or maximum
        minimum multiply negative not_equal pow realdiv round scalar_mul sigmoid sign sin sinh
        sqrt square subtract tan tanh truediv truncatediv truncatemod""",
    "math.histograms": "histogram_fixed_width histogram_fixed_width_bins",
    "math.reductions": """
        argmax argmin cumsum reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean
        reduce_min reduce_prod reduce_sum""",
    "linalg.decompositions": "eig eigvals matrix_square_root",
    "linalg.einsums": "einsum",
    "linalg.norms": "norm",
    "linalg.products": "matmul tensordot",
    "nn.backprops": "required_space_to_batch_paddings",
    "framework.enums": "UnconnectedGradients VariableAggregation VariableSynchronization",
    "framework.indexed_slices": "IndexedSlices IndexedSlicesSpec",
    "framework.module": "Module",
    "framework.name_scopes": "name_scope",
    "framework.printing": "print timestamp",
    "framework.shapes": "NoneTensorSpec TensorShape TensorSpec TypeSpec type_spec_from_value",
    "framework.tensor": "Tensor",
    "framework.variable": "Variable",
    "autodiff.custom": "custom_gradient grad_pass_through recompute_grad",
    "autodiff.tape": "GradientTape gradients",
    "control.flow": "case cond foldl foldr map_fn scan switch_case vectorized_map while_loop",
    "control.python": "numpy_function py_function",
    "compile.function": "function",
    "data.optional": "OptionalSpec",
    "api.graph": """
        Graph control_dependencies device executing_eagerly group hessians init_scope
        inside_function is_symbolic_tensor no_op tuple""",
    "api.toplevel": """
        AggregationMethod DeviceSpec TensorArraySpec get_current_name_scope get_logger
        no_gradient register_tensor_conversion_function variable_creator_scope""",
    "dtypes": """
        DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half
        int16 int32 int64 int8 resource string uint16 uint32 uint64 uint8 variant""",
    "debugging": "Assert assert_equal assert_greater assert_less assert_rank",
    "random.initializers": """
        constant_initializer ones_initializer random_normal_initializer
        random_uniform_initializer zeros_initializer""",
    "keras": "initializers losses metrics optimizers",
    "ragged.tensor": "RaggedTensor RaggedTensorSpec",
    "sparse.distances": "edit_distance",
    "sparse.tensor": "SparseTensor SparseTensorSpec",
    "strings.basic": "as_string",
    "strings.unicode": "fingerprint",
    "signal.nd": "fftnd ifftnd irfftnd rfftnd",
    "": """
        audio autodiff autograph bitwise compat config data debugging distribute dtypes errors
        experimental image io keras linalg lookup math nest nn quantization ragged
        random raw_ops sets signal sparse strings summary sysconfig test train types version""",
}  # fmt: skip
_find, __dir__, __all__ = _namespace(__name__, _HOMES)
# Modules by another name, and gradtape's own, which TensorFlow does not have.
# (gradtape.numpy is tf.experimental.numpy: `import *` must not take the place of NumPy.)
__all__ += ["__internal__"]
_OTHERS = {"__internal__": "internal", "numpy": "numpy", "doctor": "doctor", "testing": "testing"}


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    if name == "load_ipython_extension":
        return import_module(".doctor.entry.notebook", __name__).load_ipython_extension
    if name not in _OTHERS:
        return _find(name)
    globals()[name] = found = import_module(f".{_OTHERS[name]}", __name__)
    return found


def _explain_missing(module: str, name: str) -> str:
    from .api.alias import missing

    return missing(module, name)


def _explain(tape: GradientTape, target: _Any, sources: _Any) -> _Any:
    from .doctor.engines.gradtape.explaining import explain

    return explain(tape, target, sources)


# What the rooms below need of those above, which are imported when they are asked for.
_namespaces.explain_missing = _explain_missing
_tape.explain = _explain
_keep_freed_memory()
if _environ.get("GRADTAPE_DOCTOR"):
    from .doctor.entry.environment import begin as _begin

    _begin()
