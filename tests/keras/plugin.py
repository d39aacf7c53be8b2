"""A pytest plugin under which `tensorflow`, and so Keras's TensorFlow backend, is gradtape."""

import os

from gradtape.api import alias

os.environ["KERAS_BACKEND"] = "tensorflow"
alias.install()
