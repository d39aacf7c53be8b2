"""Floats of 8 bits, to store numbers in: `tf.cast` makes them and makes other floats of them.

Differs from TensorFlow: the ops that it refuses to them compute here.
"""

from ..dtypes import as_dtype

float8_e4m3fn = as_dtype("float8_e4m3fn")
float8_e5m2 = as_dtype("float8_e5m2")
