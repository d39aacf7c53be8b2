"""`tf.keras`: the Keras that is installed, on its own TensorFlow backend, which finds gradtape.

This module is never seen: the import of it gives Keras's own package for users of TensorFlow.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from types import ModuleType

from .api import alias

PACKAGE = "keras._tf_keras.keras"
BACKEND = "KERAS_BACKEND"
OURS = "tf.keras on gradtape is Keras 3 on Keras's TensorFlow backend"


def _keras() -> ModuleType:
    """Keras on gradtape, or an ImportError that says what is in the way and what to do."""
    _check_what_is_asked_for()
    _check_what_is_loaded()
    if alias.install() and alias.installed():
        warnings.warn(
            "Keras runs on gradtape in this process, so from now on `import tensorflow` gives "
            "gradtape too, though TensorFlow is installed. Start the program with `gradtape run` "
            "to have that from the start, or import keras and tensorflow and not gradtape.",
            RuntimeWarning,
            stacklevel=2,
        )
    os.environ.setdefault(BACKEND, "tensorflow")
    try:
        return import_module(PACKAGE)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "keras":
            raise
        raise ImportError(f"{OURS}, and Keras 3 is not installed: pip install keras") from None


def _check_what_is_asked_for() -> None:
    if os.environ.get("TF_USE_LEGACY_KERAS") in ("true", "True", "1"):
        raise ImportError(f"{OURS}, and TF_USE_LEGACY_KERAS asks for Keras 2: unset it")
    wanted = os.environ.get(BACKEND) or "tensorflow"
    if wanted != "tensorflow":
        raise ImportError(
            f"{OURS}, and {BACKEND} asks for {wanted!r}: unset it, or use `import keras` and not "
            "tf.keras"
        )


def _check_what_is_loaded() -> None:
    if alias.loaded():
        raise ImportError(
            f"{OURS}, and the real TensorFlow is imported in this process, which that backend "
            "would take for some of its work: import either tensorflow or gradtape, or start the "
            "program with `gradtape run`, where both are gradtape"
        )
    config = sys.modules.get("keras.src.backend.config")
    if config is not None and config.backend() != "tensorflow":
        raise ImportError(
            f"{OURS}, and keras was imported before, on its {config.backend()!r} backend: set "
            f"{BACKEND}=tensorflow and import gradtape and its tf.keras first"
        )


# The import system hands out what is in its table when the module has been run.
sys.modules[__name__] = _keras()
