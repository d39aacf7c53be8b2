"""The recorded answers that gradtape deliberately does not give, and why."""

from __future__ import annotations

ROWS = "the rows of IndexedSlices stand in the order of the sweep; their sum is the same"
TENSOR = "a gradient is always a tensor, also where the user's function returned a number"
NAN = "TensorFlow's nan is not the derivative; ours is"
ROUNDING = "TensorFlow's float32 answer is rounded farther from the float64 one than ours"

KERNEL = "TensorFlow's CPU has no kernel for this derivative and raises; ours is the derivative"
WHOLE = "a target of whole numbers has no gradient: None, where TensorFlow happens to give zeros"
CANCELLED = "float32 rounding where large terms cancel; the same cases agree in float64"
MIXED = "two tensors of different dtypes are always an error, whatever the operator"

DIFFERS: dict[str, str] = {
    "gradient::b23_two_gathers_are_concatenated": ROWS,
    "custom::b34_odd_gradients[answer=number]": TENSOR,
    "custom::b34_odd_gradients[answer=array]": TENSOR,
    "custom::b34_odd_gradients[answer=wrong_dtype]": TENSOR,
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
}
