"""`tf.__internal__`: the few of TensorFlow's internal names that programs are seen to use."""

from ..framework.name_scopes import get_name_scope
from ..framework.namespaces import lookup
from ..framework.shapes import CompositeTensor
from ..framework.tensor import Tensor as EagerTensor
from . import eager_context, tf2

__getattr__ = lookup(__name__, {
    ".graphs": "FuncGraph", "": "distribute smart_cond tracking types",
})  # fmt: skip

__all__ = [
    "CompositeTensor", "EagerTensor", "FuncGraph", "distribute", "eager_context", "get_name_scope",
    "smart_cond", "tf2", "tracking", "types",
]  # fmt: skip
