"""The version of gradtape, and the TensorFlow release whose answers it gives."""

from .framework.namespaces import lookup

__getattr__ = lookup(__name__)

__version__ = "0.1.0"
TENSORFLOW = "2.21.0"
# Where tools look for the documentation: an absolute URI, because services that read SARIF refuse a
# relative one. A project without an address of its own names its pages by a scheme of its own.
DOCUMENTATION = "gradtape:docs/"

__all__ = ["VERSION"]
VERSION = TENSORFLOW
