"""What TensorFlow has and gradtape has not, and why: said by AttributeErrors and by docs/api.md.

Each reason is declared once, for a name, for all that is in a namespace (`keras`), or for a pattern
(`linalg.LinearOperator*`). What gradtape has is never looked up here, so a name that comes needs
no change.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple


class Reason(NamedTuple):
    """Why a name is not there, and what to write in its place."""

    topic: str
    why: str
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.why}: {self.instead}" if self.instead else self.why


def reason(name: str) -> Reason | None:
    """The reason declared for a dotted name without `tf.`; the longest pattern that fits speaks.

    >>> print(reason("raw_ops.Conv2D"))
    it is the inside of TensorFlow: use the public function, in tf, tf.math, tf.nn or tf.linalg
    """
    fitting = [
        pattern
        for pattern in ABSENT
        if fnmatchcase(name, pattern) or name.startswith(pattern + ".")
    ]
    return ABSENT[max(fitting, key=len)] if fitting else None


# By topic: why, and what to write instead of which names. A namespace speaks for all that is in it.
_TOPICS: dict[str, tuple[str, dict[str, str]]] = {
    "graphs and sessions": (
        "code runs as it is called and there is no graph",
        {
            "": (
                "graph_util import_graph_def Operation Graph.* test.assert_equal_graph_def "
                "get_default_graph reset_default_graph get_collection disable_eager_execution "
                "Tensor.value_index IndexedSlices.op IndexedSlices.graph IndexedSlices.name "
                "SparseTensor.op SparseTensor.graph *.consumers Variable.load Variable.create "
                "Variable.initial_value types.experimental.AtomicFunction "
                "types.experimental.FunctionType types.experimental.*.function_type "
                "types.experimental.*.inference_fn"
            ),
            "TensorFlow 1's names are not here either, write the step with tf.GradientTape": (
                "compat.v1.Session compat.v1.get_variable compat.v1.train compat.v1.layers "
                "compat.v1.losses compat.v1.logging compat.v1.disable_v2_behavior "
                "compat.v1.global_variables_initializer compat.v1.*_eager_execution"
            ),
            "drop the session and read a value with .numpy()": (
                "Session InteractiveSession ConfigProto get_default_session Tensor.eval "
                "Variable.eval SparseTensor.eval test.TestCase.*session"
            ),
            "pass the value to a Python function as an argument": "placeholder",
            "drop the call": "enable_eager_execution",
            "a variable has its value from the start, drop the call": (
                "global_variables_initializer local_variables_initializer initialize_all_variables "
                "Variable.initialized_value"
            ),
            "such methods serve tracing": (
                "*.from_tensors *.to_tensors *.placeholder_value *Spec.cast *Spec.flatten "
                "TensorShape.cast TensorShape.flatten DType.cast DType.flatten"
            ),
        },
    ),
    "devices and distribution": (
        "gradtape runs in one process on the CPU",
        {
            "drop it": (
                "distribute experimental.dtensor tpu types.experimental.distributed "
                "config.experimental_connect_to_* config.experimental.ClusterDeviceFilters "
                "test.create_local_cluster nn.RNNCellDeviceWrapper "
                "experimental.function_executor_type check_pinned test.is_cpu_target_available "
                "test.experimental test.TestCase.*Device* test.with_eager_op_as_function "
                "test.disable_with_predicate"
            ),
            "use Python's queue and threading": (
                "queue CriticalSection nondifferentiable_batch_function"
            ),
            "it can be made and is not used": "config.LogicalDeviceConfiguration",
        },
    ),
    "Keras": (
        "of Keras there is Keras 3",
        {
            "use tf.keras": "layers estimator nn.RNNCell* python.keras compat.v1.keras",
        },
    ),
    "saving and serving": (
        "TensorFlow's models and protocol buffers are not here",
        {
            "a SavedModel is a graph of TensorFlow's kernels, save a Keras model with "
            "model.save('model.keras'), variables with "
            "tf.train.Checkpoint(model=model).save(path), and keep the Python code": (
                "saved_model train.TrackableView"
            ),
            "a TensorFlow Lite model is made of TensorFlow's graph, save variable.numpy() with "
            "numpy.savez, assign the values in the same code on TensorFlow and convert there": (
                "lite"
            ),
            "write the update with variable.assign_sub(rate * gradient)": "train",
            "": (
                "make_ndarray make_tensor_proto Variable.*proto Variable.SaveSliceInfo "
                "*.*_as_proto *.*_from_proto *.*_type_proto TensorShape.as_proto "
                "test.TestCase.assertProto*"
            ),
        },
    ),
    "input pipelines": (
        "TensorFlow's own formats, tables and services for data are not here",
        {
            "read with Python, and give tf.data.Dataset.from_generator what comes": "data",
        },
    ),
    "files": (
        "of files there are those of this machine",
        {
            "read files with Python or NumPy and pass on the arrays": (
                "io experimental.register_filesystem_plugin"
            ),
            "make the columns with NumPy, tf.one_hot and tf.gather": "feature_column",
        },
    ),
    "images": (
        "files of images and boxes in them are not here",
        {
            "read, write and draw with Pillow, and pass on the arrays": "image",
        },
    ),
    "watching a run": (
        "profiles are not written",
        {
            "measure with cProfile or timeit": "profiler test.Benchmark test.benchmark_config",
            "look at values with tf.print and tf.debugging.check_numerics": (
                "debugging.experimental"
            ),
        },
    ),
    "small numbers": (
        "there are no quantised numbers, and of floats of 8 bits or fewer only two",
        {
            "": (
                "qint8 qint16 qint32 quint8 quint16 quantization dtypes.QUANTIZED_DTYPES dtypes.q* "
                "experimental.float4* experimental.float8*uz experimental.int2 experimental.int4 "
                "experimental.uint2 experimental.uint4 dtypes.experimental"
            ),
        },
    ),
    "other compilers": (
        "no XLA, MLIR or TensorRT stands behind gradtape",
        {
            "drop it": (
                "xla mlir experimental.tensorrt config.experimental.*mlir_bridge "
                "types.experimental.GenericFunction.experimental_get_compiler_ir"
            ),
        },
    ),
    "the inside of TensorFlow": (
        "it is the inside of TensorFlow",
        {
            "use the public function, in tf, tf.math, tf.nn or tf.linalg": (
                "python core compiler raw_ops.* __internal__ __operators__"
            ),
            "there is no compiled library to ask about": (
                "sysconfig version.COMPILER_VERSION version.GIT_VERSION version.GRAPH_DEF_VERSION* "
                "__compiler_version__ __cxx11_abi_flag__ __cxx_version__ __git_version__ "
                "__monolithic_build__ load_library load_op_library"
            ),
            "give a function its derivative with tf.custom_gradient": "RegisterGradient",
            "convert with tf.convert_to_tensor": (
                "experimental.dispatch_* experimental.unregister_dispatch_for"
            ),
            "keep the parts in a tuple, a dict or a tf.Module": (
                "experimental.*ExtensionType* experimental.extension_type experimental.Structured* "
                "experimental.DynamicRaggedShape NoneTensorSpec "
                "TensorArraySpec"
            ),
            "use tf.nn.conv2d and let tf.GradientTape find its gradients": (
                "conv conv2d_backprop_*"
            ),
            "": (
                "ragged_fill_empty_rows* with_space_to_batch Tensor.OVERLOADABLE_OPERATORS "
                "Variable.read_value_no_copy"
            ),
            "write for TensorFlow 2, and use Python's bytes.decode and str.encode": "compat",
            "it is tf itself": "compat.v2",
            "use unittest, NumPy's testing and what tf.test.TestCase has": "test.TestCase",
        },
    ),
    "linear operators": (
        "matrices are tensors here",
        {
            "use tf.linalg.matmul and tf.linalg.solve, which broadcast over batches": (
                "linalg.LinearOperator*"
            ),
        },
    ),
    "ragged and sparse tensors": (
        "of ragged and sparse tensors there is what gradients meet",
        {
            "work on flat_values and row_splits, or on .to_tensor()": (
                "ragged.cross ragged.cross_hashed RaggedTensor.* RaggedTensorSpec.*"
            ),
            "work on indices and values, or on tf.sparse.to_dense": (
                "sparse.cross sparse.sampled_addmm SparseTensor.* SparseTensorSpec.*"
            ),
        },
    ),
    "text": (
        "of Unicode there are the encodings",
        {
            "use Python's unicodedata on tensor.numpy()": "strings.unicode_*",
        },
    ),
    "not yet": (
        "it is not here yet",
        {
            "": "nn.fractional_* random.experimental.index_shuffle random_index_shuffle",
        },
    ),
}
ABSENT: dict[str, Reason] = {
    pattern: Reason(topic, why, instead)
    for topic, (why, groups) in _TOPICS.items()
    for instead, patterns in groups.items()
    for pattern in patterns.split()
}

# Names that TensorFlow 2 does not have, of TensorFlow 1, NumPy and PyTorch, and what to write.
ELSEWHERE: dict[str, str] = {
    "get_variable": "use tf.Variable(initial_value)",
    "variable_scope": "keep variables as attributes of a tf.Module",
    "trainable_variables": "ask a tf.Module for it, or a tape for tape.watched_variables()",
    "assign": "use variable.assign(value)",
    "assign_add": "use variable.assign_add(value)",
    "assign_sub": "use variable.assign_sub(value)",
    "to_float": "use tf.cast(x, tf.float32)",
    "to_double": "use tf.cast(x, tf.float64)",
    "to_int32": "use tf.cast(x, tf.int32)",
    "to_int64": "use tf.cast(x, tf.int64)",
    "div": "use tf.math.divide, or for whole numbers tf.math.floordiv",
    "random_normal": "use tf.random.normal",
    "random_uniform": "use tf.random.uniform",
    "random_shuffle": "use tf.random.shuffle",
    "set_random_seed": "use tf.random.set_seed",
    "multinomial": "use tf.random.categorical",
    "arg_max": "use tf.argmax",
    "arg_min": "use tf.argmin",
    "diag": "use tf.linalg.tensor_diag",
    "matrix_inverse": "use tf.linalg.inv",
    "matrix_determinant": "use tf.linalg.det",
    "matrix_solve": "use tf.linalg.solve",
    "matrix_diag": "use tf.linalg.diag",
    "Print": "use tf.print",
    "py_func": "use tf.py_function or tf.numpy_function",
    "app": "parse the arguments with argparse and call the function",
    "flags": "parse the arguments with argparse",
    "logging": "use Python's logging",
    "contrib": "it left TensorFlow in 2.0: look in tf.nn and tf.linalg",
    "sum": "use tf.reduce_sum",
    "mean": "use tf.reduce_mean",
    "max": "use tf.reduce_max, or of two tensors tf.maximum",
    "min": "use tf.reduce_min, or of two tensors tf.minimum",
    "prod": "use tf.reduce_prod",
    "var": "use tf.math.reduce_variance",
    "std": "use tf.math.reduce_std",
    "all": "use tf.reduce_all",
    "any": "use tf.reduce_any",
    "dot": "use tf.tensordot or tf.matmul",
    "array": "use tf.constant",
    "arange": "use tf.range",
    "concatenate": "use tf.concat",
    "cat": "use tf.concat",
    "mul": "use tf.multiply",
    "sub": "use tf.subtract",
    "neg": "use tf.negative",
    "no_grad": "use `with tape.stop_recording():`, or tf.stop_gradient for one value",
    "backward": "use tf.GradientTape and tape.gradient(loss, variables)",
    "grad": "use tf.GradientTape and tape.gradient(loss, variables)",
}
_SAME = ("all", "any", "dot", "max", "mean", "min", "prod", "std", "sum", "var")
# Methods of NumPy's arrays and of PyTorch's tensors, and what to write instead.
METHODS: dict[str, str] = {
    **{name: ELSEWHERE[name] for name in _SAME},
    "backward": ELSEWHERE["backward"],
    "grad": ELSEWHERE["grad"],
    "astype": "use tf.cast(x, dtype)",
    "reshape": "use tf.reshape(x, shape)",
    "ravel": "use tf.reshape(x, [-1])",
    "flatten": "use tf.reshape(x, [-1])",
    "view": "use tf.reshape(x, shape)",
    "squeeze": "use tf.squeeze(x)",
    "unsqueeze": "use tf.expand_dims(x, axis)",
    "transpose": "use tf.transpose(x)",
    "permute": "use tf.transpose(x, axes)",
    "T": "use tf.transpose(x)",
    "clip": "use tf.clip_by_value(x, low, high)",
    "argmax": "use tf.argmax(x)",
    "argmin": "use tf.argmin(x)",
    "cumsum": "use tf.cumsum(x)",
    "copy": "use tf.identity(x); tensors are never changed in place",
    "clone": "use tf.identity(x); tensors are never changed in place",
    "detach": "use tf.stop_gradient(x)",
    "requires_grad": "use tape.watch(x), or a tf.Variable",
    "item": "use x.numpy().item(), or float(x)",
    "tolist": "use x.numpy().tolist()",
    "size": "use tf.size(x)",
    "float": "use tf.cast(x, tf.float32)",
    "data": "use x.numpy()",
}  # fmt: skip


def no_method(kind: str, name: str) -> str:
    """The message for a method that arrays have, and tensors or variables have not.

    >>> no_method("EagerTensor", "sum")
    "'EagerTensor' object has no attribute 'sum'; use tf.reduce_sum"
    """
    return f"{kind!r} object has no attribute {name!r}; {METHODS[name]}"
