"""TensorFlow's public names beside gradtape's: what is there, what differs, what is not and why."""
