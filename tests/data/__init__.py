"""Tests of `tf.data` that need no recorded answers: threads, exceptions, gathering."""
