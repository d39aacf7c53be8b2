"""The recorded answers that gradtape deliberately does not give, and why."""

from __future__ import annotations

from pathlib import Path

ROWS = "the rows of IndexedSlices stand in the order of the sweep; their sum is the same"
TENSOR = "a gradient is always a tensor, also where the user's function returned a number"
NAN = "TensorFlow's nan is not the derivative; ours is"
ROUNDING = "TensorFlow's float32 answer is rounded farther from the float64 one than ours"

KERNEL = "TensorFlow's CPU has no kernel for this derivative and raises; ours is the derivative"
WHOLE = "a target of whole numbers has no gradient: None, where TensorFlow happens to give zeros"
CANCELLED = "float32 rounding where large terms cancel; the same cases agree in float64"
MIXED = "two tensors of different dtypes are always an error, whatever the operator"
CUT = "TensorFlow cannot differentiate a transform that cuts its input off; ours is the derivative"
ITEMS = "a tensor has `__setitem__`, which says what to write; `x[0] = 1` raises TypeError in both"

DIFFERS: dict[str, str] = {
    "debugging::mistakes[call=set_item]": ITEMS,
    "gradient::b23_two_gathers_are_concatenated": ROWS,
    "custom::b34_odd_gradients[answer=number]": TENSOR,
    "custom::b34_odd_gradients[answer=array]": TENSOR,
    "custom::b34_odd_gradients[answer=wrong_dtype]": TENSOR,
    "ctc::loss_twice": NAN,
    "ctc::sparse_loss_twice": KERNEL,
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

# The tables of arguments give every function what it is not for. Where it then answers otherwise
# than TensorFlow (most often with an exception of another type), it is in this list, which may
# only grow shorter: a case that agrees again fails until it is taken out.
ODD = "an argument that the function is not for: another exception, or an answer instead of one"
OWN = dict(DIFFERS)
_ODD = Path(__file__).parent / "odd_arguments.txt"
DIFFERS |= dict.fromkeys(_ODD.read_text().splitlines() if _ODD.exists() else (), ODD)
