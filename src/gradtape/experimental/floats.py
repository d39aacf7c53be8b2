"""`tf.dtypes.experimental`: floats of 8 bits, which `tf.cast` makes and turns into other floats.

Differs from TensorFlow: the ops that it refuses to them compute here.
"""

from sys import modules

from ..dtypes import as_dtype
from ..framework.namespaces import lookup

__all__ = ["float8_e4m3fn", "float8_e5m2"]

float8_e4m3fn = as_dtype("float8_e4m3fn")
float8_e5m2 = as_dtype("float8_e5m2")
experimental = modules[__name__]  # what `tf.dtypes` finds under this name

__getattr__ = lookup("gradtape.dtypes.experimental")
