"""A training step of an LSTM over 50 steps: 64 inputs, 64 units, batch 32, a cell written by hand.

The loss is the mean square of the last state's distance to a target; gradients of all weights, SGD.
"""

import numpy as np

from . import Step, jax_training, torch_training

BATCH, STEPS, INPUTS, UNITS, RATE = 32, 50, 64, 64, 1e-2


def start():
    rng = np.random.default_rng(0)
    wx, wh = (
        (rng.normal(size=(n, 4 * UNITS)) / np.sqrt(n)).astype("float32") for n in (INPUTS, UNITS)
    )
    bias = np.zeros(4 * UNITS, "float32")
    xs = rng.normal(size=(STEPS, BATCH, INPUTS)).astype("float32")
    target = rng.normal(size=(BATCH, UNITS)).astype("float32")
    return [wx, wh, bias], xs, target


def tape(tf):
    params, xs, target = start()
    params = [tf.Variable(p) for p in params]
    wx, wh, bias = params

    def step(xs, target):
        with tf.GradientTape() as tape:
            h = c = tf.zeros((BATCH, UNITS))
            for x in tf.unstack(xs):
                i, f, g, o = tf.split(x @ wx + h @ wh + bias, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
                h = tf.sigmoid(o) * tf.tanh(c)
            loss = tf.reduce_mean(tf.square(h - target))
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.assign_sub(RATE * g)
        return loss, grads

    return Step(step, [tf.constant(xs), tf.constant(target)], params)


def torch(training=torch_training):
    import torch

    def loss(params, xs, target):
        wx, wh, bias = params
        h = c = torch.zeros(BATCH, UNITS)
        for x in xs.unbind():
            i, f, g, o = (x @ wx + h @ wh + bias).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return torch.mean(torch.square(h - target))

    params, *data = start()
    return training(loss, params, data, RATE)


def jax():
    """With a scan, as its users write it: unrolled it is slow to compile, and runs no faster."""
    import jax
    from jax import numpy as jnp

    def loss(params, xs, target):
        wx, wh, bias = params

        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ wx + h @ wh + bias, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((BATCH, UNITS))
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), xs)
        return jnp.mean(jnp.square(h - target))

    params, *data = start()
    return jax_training(loss, params, data, RATE)


def autograd():
    import autograd.numpy as anp
    from autograd import grad

    params, xs, target = start()

    def sigmoid(x):
        return 0.5 * (anp.tanh(0.5 * x) + 1)

    def loss(params):
        wx, wh, bias = params
        h = c = np.zeros((BATCH, UNITS), "float32")
        for x in xs:
            i, f, g, o = anp.split(x @ wx + h @ wh + bias, 4, axis=1)
            c = sigmoid(f) * c + sigmoid(i) * anp.tanh(g)
            h = sigmoid(o) * anp.tanh(c)
        return anp.mean((h - target) ** 2)

    derivative = grad(loss)

    def step():
        grads = derivative(params)
        for p, g in zip(params, grads, strict=True):
            p -= RATE * g
        return grads

    return step


def numpy():
    params, xs, target = start()
    wx, wh, bias = params
    gates = [slice(k * UNITS, (k + 1) * UNITS) for k in range(4)]

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def step():
        h = c = np.zeros((BATCH, UNITS), "float32")
        kept = []
        for x in xs:
            z = x @ wx + h @ wh + bias
            i, f, o = (sigmoid(z[:, gates[k]]) for k in (0, 1, 3))
            g = np.tanh(z[:, gates[2]])
            before, h_before = c, h
            c = f * c + i * g
            t = np.tanh(c)
            h = o * t
            kept.append((x, h_before, before, i, f, g, o, t))
        gh = (h - target) * (2 / h.size)
        gc = np.zeros_like(gh)
        gwx, gwh, gb = (np.zeros_like(p) for p in params)
        gz = np.empty((BATCH, 4 * UNITS), "float32")
        for x, h, c, i, f, g, o, t in reversed(kept):
            gc = gc + gh * o * (1 - t * t)
            gz[:, gates[0]] = gc * g * i * (1 - i)
            gz[:, gates[1]] = gc * c * f * (1 - f)
            gz[:, gates[2]] = gc * i * (1 - g * g)
            gz[:, gates[3]] = gh * t * o * (1 - o)
            gwx += x.T @ gz
            gwh += h.T @ gz
            gb += gz.sum(0)
            gh, gc = gz @ wh.T, gc * f
        grads = [gwx, gwh, gb]
        for p, d in zip(params, grads, strict=True):
            p -= RATE * d
        return grads

    return step
