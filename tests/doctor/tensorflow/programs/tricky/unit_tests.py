"""`unittest` runs in the program."""

import io
import unittest

import tensorflow as tf


class Gradients(unittest.TestCase):
    def setUp(self):
        self.v = tf.Variable(2.0)

    def test_square(self):
        with tf.GradientTape() as tape:
            y = self.v**2
        assert float(tape.gradient(y, self.v)) == 4.0

    def test_fails(self):
        with tf.GradientTape() as tape:
            y = self.v * 3.0
        assert float(tape.gradient(y, self.v)) == 4.0

    def test_warns(self):
        with self.assertLogs("mine") as logs:
            __import__("logging").getLogger("mine").warning("careful")
        assert len(logs.records) == 1


text = io.StringIO()
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Gradients)
result = unittest.TextTestRunner(stream=text).run(suite)
print(result.testsRun, len(result.failures), result.failures[0][1].splitlines()[-1])
