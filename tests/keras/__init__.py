"""Keras on gradtape: its own tests, beside the same run on TensorFlow."""
