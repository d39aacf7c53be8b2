"""`tf.bitwise`: operations on the bits of whole numbers; they have no gradients."""

from __future__ import annotations

from .framework.functions import binary, unary
from .framework.namespaces import lookup
from .ops import bits

__getattr__ = lookup(__name__)

bitwise_and = binary(bits.bitwise_and, "bitwise_and", "The bits set in both.")
bitwise_or = binary(bits.bitwise_or, "bitwise_or", "The bits set in one of them, or in both.")
bitwise_xor = binary(bits.bitwise_xor, "bitwise_xor", "The bits set in just one of them.")
invert = unary(bits.bitwise_not, "invert", "All bits the other way round.")
left_shift = binary(bits.left_shift, "left_shift", "x * 2^y, what overflows being lost.")
right_shift = binary(bits.right_shift, "right_shift", "x / 2^y rounded down.")
