"""`tf.experimental.dtensor`: tensors spread over machines, which are not here."""

from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__: list[str] = []
