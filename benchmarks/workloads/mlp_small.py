"""A training step of a small network: 4-64-64-2, ReLU, batch 32, mean squared error, SGD."""

from itertools import pairwise

import numpy as np

from . import Step, jax_training, torch_training

SIZES, BATCH, RATE = (4, 64, 64, 2), 32, 1e-3


def start():
    rng = np.random.default_rng(0)
    params = []
    for inputs, outputs in pairwise(SIZES):
        weights = rng.normal(size=(inputs, outputs)) * np.sqrt(2 / inputs)
        params += [weights.astype("float32"), np.zeros(outputs, "float32")]
    x = rng.normal(size=(BATCH, SIZES[0])).astype("float32")
    y = rng.normal(size=(BATCH, SIZES[-1])).astype("float32")
    return params, x, y


def tape(tf):
    params, x, y = start()
    params = [tf.Variable(p) for p in params]
    w1, b1, w2, b2, w3, b3 = params

    def step(x, y):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(x @ w1 + b1)
            h = tf.nn.relu(h @ w2 + b2)
            loss = tf.reduce_mean(tf.square(h @ w3 + b3 - y))
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.assign_sub(RATE * g)
        return loss, grads

    return Step(step, [tf.constant(x), tf.constant(y)], params)


def torch(training=torch_training):
    import torch

    def loss(params, x, y):
        w1, b1, w2, b2, w3, b3 = params
        h = torch.relu(x @ w1 + b1)
        h = torch.relu(h @ w2 + b2)
        return torch.mean(torch.square(h @ w3 + b3 - y))

    params, *data = start()
    return training(loss, params, data, RATE)


def jax():
    import jax
    from jax import numpy as jnp

    def loss(params, x, y):
        w1, b1, w2, b2, w3, b3 = params
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        return jnp.mean(jnp.square(h @ w3 + b3 - y))

    params, *data = start()
    return jax_training(loss, params, data, RATE)


def autograd():
    import autograd.numpy as anp
    from autograd import grad

    params, x, y = start()

    def loss(params):
        w1, b1, w2, b2, w3, b3 = params
        h = anp.maximum(x @ w1 + b1, 0)
        h = anp.maximum(h @ w2 + b2, 0)
        return anp.mean((h @ w3 + b3 - y) ** 2)

    derivative = grad(loss)

    def step():
        grads = derivative(params)
        for p, g in zip(params, grads, strict=True):
            p -= RATE * g
        return grads

    return step


def numpy():
    params, x, y = start()
    w1, b1, w2, b2, w3, b3 = params

    def step():
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        g = (h2 @ w3 + b3 - y) * (2 / y.size)
        g2 = (g @ w3.T) * (h2 > 0)
        g1 = (g2 @ w2.T) * (h1 > 0)
        grads = [x.T @ g1, g1.sum(0), h1.T @ g2, g2.sum(0), h2.T @ g, g.sum(0)]
        for p, d in zip(params, grads, strict=True):
            p -= RATE * d
        return grads

    return step
