"""The recorded answers that gradtape deliberately does not give, and why."""

from __future__ import annotations

import sys

import numpy as np

ROWS = "the rows of IndexedSlices stand in the order of the sweep; their sum is the same"
TENSOR = "a gradient is always a tensor, also where the user's function returned a number"
NAN = "TensorFlow's nan is not the derivative; ours is"
ROUNDING = "TensorFlow's float32 answer is rounded farther from the float64 one than ours"

KERNEL = "TensorFlow's CPU has no kernel for this derivative and raises; ours is the derivative"
WHOLE = "a target of whole numbers has no gradient: None, where TensorFlow happens to give zeros"
CANCELLED = "float32 rounding where large terms cancel; the same cases agree in float64"
MIXED = "two tensors of different dtypes are always an error, whatever the operator"
CUT = "TensorFlow cannot differentiate a transform that cuts its input off; ours is the derivative"
LIMITS = "TensorFlow's saturate_cast has the limits of int64 as floats, which overflow; ours fit"
ITEMS = "a tensor has `__setitem__`, which says what to write; `x[0] = 1` raises TypeError in both"

UNROLLED = "a Python branch is followed, not converted: its draws count on in the function"
CAPTURED = "a tensor from outside is a constant of the program, and no captured input"

DIFFERS: dict[str, str] = {
    "function_calls::concrete_attributes": CAPTURED,
    "function_state::random_in_branches": UNROLLED,
    "debugging::mistakes[call=set_item]": ITEMS,
    "gradient::b23_two_gathers_are_concatenated": ROWS,
    "custom::b34_odd_gradients[answer=number]": TENSOR,
    "custom::b34_odd_gradients[answer=array]": TENSOR,
    "custom::b34_odd_gradients[answer=wrong_dtype]": TENSOR,
    "ctc::loss_twice": NAN,
    "ctc::sparse_loss_twice": KERNEL,
    "edges::cast[text=tf.saturate_cast([2**40],tf.int64)]": LIMITS,
    "elementwise::unary[op=math.bessel_i1,dtype=float32]": ROUNDING,
    "indexing::segments_edge[given=zero_product]": NAN,
    "indexing::gather_nd[given=whole]": KERNEL,
    "indexing::gather_nd[given=ignored]": KERNEL,
    "indexing::sort[op=argsort,options=default,dtype=float32]": WHOLE,
    "indexing::sort[op=argsort,options=descending,dtype=float32]": WHOLE,
    "indexing::sort[op=argsort,options=negative_axis,dtype=float32]": WHOLE,
    "kinks::mixed_dtypes[op=mul,pair=('bool','float32')]": MIXED,
    "kinks::mixed_dtypes[op=floordiv,pair=('complex64','float32')]": MIXED,
    "neural::conv2d[options=dilated]": KERNEL,
    "neural::conv2d[options=dilated_same]": KERNEL,
    "neural::conv2d_twice[options=dilated]": KERNEL,
    "neural::pools[given=explicit]": KERNEL,
    "neural::activations[op=gelu_tanh,dtype=float32]": CANCELLED,
    "neural::activations[op=silu_beta,dtype=float32]": CANCELLED,
    "neural::activations[op=mish_by_hand,dtype=float32]": CANCELLED,
    "neural::activations_at_kinks[op=mish_by_hand]": CANCELLED,
    "signal::slopes_by_length[given=rfft_cut]": CUT,
    "signal::slopes_by_length[given=irfft_cut]": CUT,
}

# --- what older versions of NumPy do otherwise, with TensorFlow as with gradtape; recorded with 2.4
_PRINTED = "values::{}[shape={}]"
SINCE: dict[str, tuple[str, ...]] = {
    # The text of a long array tells its shape.
    "2.2": (
        _PRINTED.format("text_by_shape", "long,form=repr"),
        _PRINTED.format("text_by_shape", "wide,form=repr"),
        _PRINTED.format("text_of_variables_by_shape", "long"),
        _PRINTED.format("text_of_variables_by_shape", "wide"),
    ),
    # A large float32 has an exponent; a truth value is no index.
    "2.3": (
        "values::text_of_floats[value=large]",
        "values::python_protocol[protocol=index,value=true]",
        "values::python_protocol[protocol=list,value=true]",
        "values::python_protocol[protocol=range,value=true]",
        "bad_arguments::bad[op=math.accumulate_n.shape]",
        "bad_arguments::bad[op=ensure_shape.shape]",
    ),
}
for _version, _ids in SINCE.items():
    if np.lib.NumpyVersion(np.__version__) < f"{_version}.0":
        DIFFERS |= dict.fromkeys(_ids, f"NumPy does it since {_version}")

# --- values of others' making ---------------------------------------------------------------------
LENT = "TensorFlow's tensors lend their memory, so that a bytearray compares its own bytes with it"
SHORT = "TensorFlow goes by the first row, which is empty, and drops the numbers of the others"
_TRACED = "in the graph of a vectorized function, TensorFlow multiplies truth values by a number"
_ASKS = "TensorFlow's Python asks the value for a shape, which only tensors and arrays have"

DIFFERS |= {
    "foreign::operators[operator=less,value=bytearray]": LENT,
    "foreign::operators[operator=equal,value=bytearray]": LENT,
    "foreign::operators[operator=equal,value=memoryview_of_bytes]": LENT,
    **{
        f"foreign::{door}[value=ragged_empty]": SHORT
        for door in ("constant", "converted", "variable")
    },
    "foreign::functions[function=einsum,value=arrayed]": _ASKS,
    "wrong_kinds::one[call=vectorized_map,given=truths]": _TRACED,
    "wrong_kinds::one[call=vectorized_map,given=truth_matrix]": _TRACED,
}

# --- the tables of arguments, which also give every function what it is not for -------------------
BROKEN = "TensorFlow's own gradient fails here (shapes or dtypes inside it disagree); ours is right"
LAYOUT = "TensorFlow's CPU takes no channels-first data here; ours does"
EMPTY = "TensorFlow makes zeros of no channels or windows without cells; here it is an error"
SOURCE = "TensorFlow's gradient has another shape than its source; ours has the source's"
LENIENT = "TensorFlow's Python asks a plain number or list for what only a tensor has, and fails"
FALSE = "an empty list for a dtype is false, so that TensorFlow takes its default; here a TypeError"

_TRANSPOSED = "arguments::arguments[call=nn.{}_transpose,data_format={};input=X{};output_shape={}]"
_SHAPED = "argument_shapes::of_shape[op={},change={}]"
_ALL_SHAPED = "argument_shapes::all_of_shape[op={},change={}]"
_BAD = "bad_arguments::bad[op={}]"
_CONVOLVED = (
    "nn.conv1d.input",
    "nn.conv2d.input",
    "nn.convolution.input",
    "nn.atrous_conv2d.value",
)

DIFFERS |= {
    **{
        f"arguments::arguments[call=math.top_k,{given}]": BROKEN
        for given in ("index_type=int16", "index_type=int64", "sorted=False;index_type=int64")
    },
    _TRANSPOSED.format("conv1d", "NCW", "[1, 3, 5]", "[1,2,5]"): LAYOUT,
    _TRANSPOSED.format("conv2d", "NCHW", "[1, 3, 4, 5]", "[1,2,4,5]"): LAYOUT,
    _TRANSPOSED.format("conv", "NCHW", "[1, 3, 4, 5]", "[1,2,4,5]"): LAYOUT,
    _SHAPED.format("sort.values", "empty"): BROKEN,
    _SHAPED.format("sort.values", "no_columns"): BROKEN,
    _SHAPED.format("linalg.tensor_diag_part.input", "scalar"): BROKEN,
    _SHAPED.format("nn.softmax_cross_entropy_with_logits.labels", "flatter"): BROKEN,
    _SHAPED.format("fill.value", "deeper"): SOURCE,
    **{_SHAPED.format(name, "no_columns"): EMPTY for name in _CONVOLVED},
    **{_ALL_SHAPED.format(name.rpartition(".")[0], "no_columns"): EMPTY for name in _CONVOLVED},
    **{
        _SHAPED.format(f"nn.{name}_transpose.filters", "no_rows"): EMPTY
        for name in ("conv", "conv1d", "conv2d", "conv3d")
    },
    **{
        _BAD.format(name): LENIENT
        for name in (
            "scalar_mul.x", "broadcast_static_shape.shape_x", "broadcast_static_shape.shape_y",
            "eye.batch_shape", "nn.moments.x", "nn.batch_normalization.x", "strings.format.inputs",
        )
    },
    **{
        _BAD.format(name): FALSE
        for name in (
            "shape.out_type", "matmul.output_type", "random.categorical.dtype",
            "random.stateless_categorical.dtype",
        )
    },
}  # fmt: skip

# --- wrong operands inside of functions ----------------------------------------------------------
ELSEWHERE = "another op of those that TensorFlow makes this of finds the fault, or none does there"

DIFFERS |= {
    f"errors_in_functions::raised[op={name}]": ELSEWHERE
    for name in (
        "add_n", "bitcast", "eig", "eigvals", "einsum", "gather_nd", "identity_n",
        "linalg.band_part", "linalg.expm", "linalg.lu_matrix_inverse", "linalg.lu_solve",
        "linalg.set_diag", "linalg.tensor_diag_part", "math.accumulate_n", "math.in_top_k",
        "math.polygamma", "math.polyval", "math.reciprocal", "meshgrid", "nn.avg_pool",
        "nn.avg_pool3d", "nn.batch_normalization", "nn.bias_add", "nn.conv1d", "nn.conv3d",
        "nn.conv3d_transpose", "nn.embedding_lookup", "nn.max_pool", "nn.max_pool3d",
        "nn.softmax_cross_entropy_with_logits", "nn.sufficient_statistics",
        "random.categorical", "random.stateless_categorical", "reverse", "searchsorted",
        "shape_n", "sparse.sparse_dense_matmul", "tensor_scatter_nd_add",
        "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub", "tuple",
    )
}  # fmt: skip

# --- faults that were reported --------------------------------------------------------------------
SPACES = (
    "TensorFlow makes the shape of the rows in the dtype of the indices, for which it has no op"
)
DROPPED = "TensorFlow has dropped the Python function by then and raises; ours is the derivative"
CONSTANT = (
    "what does not depend on the input has no tangent, where TensorFlow happens to give zeros"
)
SLICED = (
    "the error comes from another op: TensorFlow turns the slice of the gradient function around"
)
_FORWARD = "reported::forward_mode_through_py_function[function={},place={}]"

DIFFERS |= {
    "reported::gather_nd_has_a_gradient[dtype=int16,kind=tensor]": SPACES,
    "reported::gather_nd_has_a_gradient[dtype=int16,kind=function]": SPACES,
    **{
        _FORWARD.format(name, "function"): DROPPED
        for name in ("square", "two", "constant", "nothing_of_it")
    },
    **{_FORWARD.format("nothing_of_it", place): CONSTANT for place in ("eager", "tape")},
    "reported::custom_gradient_of_many_values[given=wrong_shape,place=eager,mode=forward]": SLICED,
}

if sys.version_info < (3, 12):
    BUFFER = "a class written in Python has had a buffer since Python 3.12"
    DIFFERS |= dict.fromkeys(
        [
            f"reported::memory_of_tensors[value={value},kind=tensor]"
            for value in (
                "floats", "wholes", "scalar", "truths", "complex", "empty", "texts", "halves",
                "brains",
            )
        ],
        BUFFER,
    )  # fmt: skip
STACKED = "TensorFlow gives nan for all matrices of a stack of which one has nan"
DIFFERS |= {
    f"reported::decomposed[name=expm,value=nan,whole={whole}]": STACKED for whole in (True, False)
}

SUBNORMAL = (
    "numbers below the smallest normal one are kept, where TensorFlow's CPU flushes them to 0"
)
DIFFERS |= {
    f"reported::numbers_below_the_smallest_normal_one[name={name},place={place}]": SUBNORMAL
    for name in (
        "log_softmax_of_softmax", "exp", "mul", "div", "add", "neg", "matmul", "reduce_sum",
        "log_of_constant", "double",
    )
    for place in ("eager", "function")
}  # fmt: skip

PYTHON_RUNS = "a recording is made for each size and each variable, though one trace is counted"
DIFFERS |= {
    **{
        f"reported::reduce_retracing[sizes={sizes},reduce=True]": PYTHON_RUNS
        for sizes in ("vectors", "one_axis", "both_axes", "ranks", "back", "scalar")
    },
    **{
        f"reported::one_trace_for_variables_that_are_alike[variables={name}]": PYTHON_RUNS
        for name in ("alike", "pairs", "shapes", "lists", "twice")
    },
}
