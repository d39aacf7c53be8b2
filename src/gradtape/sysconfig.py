"""`tf.sysconfig`: what gradtape is built with, which is no CUDA, ROCm or TensorRT."""

from __future__ import annotations

from collections import OrderedDict

from .framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["get_build_info"]


def get_build_info() -> OrderedDict[str, bool]:
    """What is in the build."""
    return OrderedDict(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)
