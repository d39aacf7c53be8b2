"""The version of gradtape, and the TensorFlow release whose answers it gives."""

from .framework.namespaces import lookup

__getattr__ = lookup(__name__)

__version__ = "0.1.0"
TENSORFLOW = "2.21.0"

__all__ = ["VERSION"]
VERSION = TENSORFLOW
