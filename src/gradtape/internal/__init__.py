"""`tf.__internal__`: the few of TensorFlow's internal names that programs are seen to use."""

from ..names import get_name_scope
from ..shapes import CompositeTensor
from ..tensor import Tensor as EagerTensor
from . import eager_context, tf2

__all__ = ["CompositeTensor", "EagerTensor", "eager_context", "get_name_scope", "tf2"]
