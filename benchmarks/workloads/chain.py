"""A chain of 200 scalar operations, `x = x * w + b` a hundred times, forward and backward."""

import numpy as np

from . import Step

LENGTH = 100
X, W, B = np.float32(1.0), np.float32(0.99), np.float32(0.02)


def tape(tf):
    w, b = tf.Variable(W), tf.Variable(B)

    def step(x):
        with tf.GradientTape() as tape:
            for _ in range(LENGTH):
                x = x * w + b
        return tape.gradient(x, [w, b])

    return Step(step, [tf.constant(X)])


def torch():
    import torch

    x0 = torch.tensor(X)
    w, b = torch.tensor(W, requires_grad=True), torch.tensor(B, requires_grad=True)

    def step():
        x = x0
        for _ in range(LENGTH):
            x = x * w + b
        return torch.autograd.grad(x, [w, b])

    return Step(step)


def torch_compiled():
    import torch

    def chain(x, w, b):
        for _ in range(LENGTH):
            x = x * w + b
        return x

    step = torch.compile(torch.func.grad(chain, (1, 2)))
    return Step(step, [torch.tensor(a) for a in (X, W, B)])


def jax():
    import jax

    def chain(x, w, b):
        for _ in range(LENGTH):
            x = x * w + b
        return x

    derivative = jax.jit(jax.grad(chain, (1, 2)))
    data = [jax.numpy.array(a) for a in (X, W, B)]
    return Step(lambda *data: jax.block_until_ready(derivative(*data)), data)


def autograd():
    from autograd import grad

    def chain(params):
        w, b = params
        x = X
        for _ in range(LENGTH):
            x = x * w + b
        return x

    derivative = grad(chain)
    return lambda: derivative([W, B])


def numpy():
    def step():
        xs = [X]
        for _ in range(LENGTH):
            xs.append(xs[-1] * W + B)
        g, gw, gb = np.float32(1), np.float32(0), np.float32(0)
        for x in reversed(xs[:-1]):
            gb = gb + g
            gw = gw + g * x
            g = g * W
        return [gw, gb]

    return step
