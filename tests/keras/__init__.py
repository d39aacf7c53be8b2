"""Keras's own tests, run on gradtape."""
