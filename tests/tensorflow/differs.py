"""The recorded answers that gradtape deliberately does not give, and why."""

from __future__ import annotations

ROWS = "the rows of IndexedSlices stand in the order of the sweep; their sum is the same"
TENSOR = "a gradient is always a tensor, also where the user's function returned a number"
NAN = "TensorFlow's nan is not the derivative; ours is"
ROUNDING = "TensorFlow's float32 answer is rounded farther from the float64 one than ours"

DIFFERS: dict[str, str] = {
    "gradient::b23_two_gathers_are_concatenated": ROWS,
    "custom::b34_odd_gradients[answer=number]": TENSOR,
    "custom::b34_odd_gradients[answer=array]": TENSOR,
    "custom::b34_odd_gradients[answer=wrong_dtype]": TENSOR,
    "elementwise::unary[op=math.bessel_i1,dtype=float32]": ROUNDING,
    "indexing::segments_edge[given=zero_product]": NAN,
}
