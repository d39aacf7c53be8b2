"""The Hessian, 100 x 100, of f(x) = sum(log(1 + exp(A x))) + sum(x^4), with A of 200 x 100."""

import numpy as np


def start():
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(200, 100)) / 10).astype("float32")
    return matrix, rng.normal(size=100).astype("float32")


def tape(tf):
    matrix, x = start()
    matrix, x = tf.constant(matrix), tf.Variable(x)

    def step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                z = tf.linalg.matvec(matrix, x)
                y = tf.reduce_sum(tf.math.log(1.0 + tf.exp(z))) + tf.reduce_sum(x**4)
            derivative = inner.gradient(y, x)
        return [outer.jacobian(derivative, x)]

    return step


def torch():
    import torch

    matrix, x = map(torch.tensor, start())

    def f(x):
        return torch.sum(torch.log(1 + torch.exp(matrix @ x))) + torch.sum(x**4)

    hessian = torch.func.hessian(f)
    return lambda: [hessian(x)]


def autograd():
    import autograd.numpy as anp
    from autograd import hessian

    matrix, x = start()

    def f(x):
        return anp.sum(anp.log(1 + anp.exp(matrix @ x))) + anp.sum(x**4)

    curvature = hessian(f)
    return lambda: [curvature(x)]


def numpy():
    matrix, x = start()

    def step():
        p = 1 / (1 + np.exp(-(matrix @ x)))
        return [(matrix.T * (p * (1 - p))) @ matrix + np.diag(12 * x * x)]

    return step
