"""`tf.experimental.numpy`, also `gradtape.numpy`: NumPy's names, recorded by the tape.

Functions take arrays, lists, numbers, tensors and variables, promote them as NumPy does, and return
tensors; whatever has a derivative is differentiable, because it is made of gradtape's own
functions.

>>> import gradtape as tf
>>> import gradtape.numpy as tnp
>>> x = tf.Variable([1.0, 2.0])
>>> with tf.GradientTape() as tape:
...     y = tnp.sum(tnp.square(x) * [1, 10])
>>> tape.gradient(y, x)
<tf.Tensor: shape=(2,), dtype=float32, numpy=array([ 2., 40.], dtype=float32)>

Differs from TensorFlow: functions for which TensorFlow needs `experimental_enable_numpy_behavior`
(whole numbers in `exp`, `around`, `average`, …) work without it, and lists and numbers are taken
everywhere.
"""

from __future__ import annotations

from numpy import e, inf, newaxis, pi

from ..framework.tensor import Tensor as ndarray
from . import behavior, creation, elementwise, indexing, linear, logic, reductions, shaping, types
from . import random as random
from .behavior import *
from .creation import *
from .elementwise import *
from .indexing import *
from .linear import *
from .logic import *
from .reductions import *
from .shaping import *
from .types import *

_FAMILIES = (behavior, creation, elementwise, indexing, linear, logic, reductions, shaping, types)
__all__ = ["e", "inf", "ndarray", "newaxis", "pi", "random"]
__all__ += [name for family in _FAMILIES for name in family.__all__]
