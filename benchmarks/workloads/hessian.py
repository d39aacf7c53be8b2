"""The Hessian, 100 x 100, of f(x) = sum(log(1 + exp(A x))) + sum(x^4), with A of 200 x 100."""

import numpy as np

from . import Step


def start():
    rng = np.random.default_rng(0)
    matrix = (rng.normal(size=(200, 100)) / 10).astype("float32")
    return matrix, rng.normal(size=100).astype("float32")


def tape(tf):
    matrix, x = start()
    x = tf.Variable(x)

    def step(matrix):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                z = tf.linalg.matvec(matrix, x)
                y = tf.reduce_sum(tf.math.log(1.0 + tf.exp(z))) + tf.reduce_sum(x**4)
            derivative = inner.gradient(y, x)
        return [outer.jacobian(derivative, x)]

    return Step(step, [tf.constant(matrix)])


def torch(compiler=lambda function: function):
    import torch

    def f(x, matrix):
        return torch.sum(torch.log(1 + torch.exp(matrix @ x))) + torch.sum(x**4)

    matrix, x = map(torch.tensor, start())
    hessian = compiler(torch.func.hessian(f))
    return Step(lambda x, matrix: [hessian(x, matrix)], [x, matrix])


def torch_compiled():
    import torch as library

    return torch(library.compile)


def jax():
    import jax
    from jax import numpy as jnp

    def f(x, matrix):
        return jnp.sum(jnp.log(1 + jnp.exp(matrix @ x))) + jnp.sum(x**4)

    matrix, x = map(jnp.array, start())
    hessian = jax.jit(jax.hessian(f))
    return Step(lambda x, matrix: [hessian(x, matrix).block_until_ready()], [x, matrix])


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
