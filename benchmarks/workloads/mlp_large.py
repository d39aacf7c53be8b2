"""A training step of a larger network: 784-256-256-10, ReLU, batch 128, cross entropy, SGD."""

from itertools import pairwise

import numpy as np

from . import Step, jax_training, torch_training

SIZES, BATCH, RATE = (784, 256, 256, 10), 128, 1e-3


def start():
    rng = np.random.default_rng(0)
    params = []
    for inputs, outputs in pairwise(SIZES):
        weights = rng.normal(size=(inputs, outputs)) * np.sqrt(2 / inputs)
        params += [weights.astype("float32"), np.zeros(outputs, "float32")]
    x = rng.normal(size=(BATCH, SIZES[0])).astype("float32")
    labels = rng.integers(SIZES[-1], size=BATCH)
    return params, x, labels


def tape(tf):
    params, x, labels = start()
    params = [tf.Variable(p) for p in params]
    w1, b1, w2, b2, w3, b3 = params

    def step(x, labels):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(x @ w1 + b1)
            h = tf.nn.relu(h @ w2 + b2)
            logits = h @ w3 + b3
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.assign_sub(RATE * g)
        return loss, grads

    return Step(step, [tf.constant(x), tf.constant(labels)], params)


def torch(training=torch_training):
    import torch
    from torch.nn import functional as F

    def loss(params, x, labels):
        w1, b1, w2, b2, w3, b3 = params
        h = torch.relu(x @ w1 + b1)
        h = torch.relu(h @ w2 + b2)
        return F.cross_entropy(h @ w3 + b3, labels)

    params, *data = start()
    return training(loss, params, data, RATE)


def jax():
    import jax
    from jax import numpy as jnp

    def loss(params, x, labels):
        w1, b1, w2, b2, w3, b3 = params
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        scores = jax.nn.log_softmax(h @ w3 + b3)
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    params, *data = start()
    return jax_training(loss, params, data, RATE)


def autograd():
    import autograd.numpy as anp
    from autograd import grad
    from autograd.scipy.special import logsumexp

    params, x, labels = start()
    rows = np.arange(BATCH)

    def loss(params):
        w1, b1, w2, b2, w3, b3 = params
        h = anp.maximum(x @ w1 + b1, 0)
        h = anp.maximum(h @ w2 + b2, 0)
        logits = h @ w3 + b3
        return anp.mean(logsumexp(logits, axis=1) - logits[rows, labels])

    derivative = grad(loss)

    def step():
        grads = derivative(params)
        for p, g in zip(params, grads, strict=True):
            p -= RATE * g
        return grads

    return step


def numpy():
    params, x, labels = start()
    w1, b1, w2, b2, w3, b3 = params
    rows = np.arange(BATCH)

    def step():
        h1 = np.maximum(x @ w1 + b1, 0)
        h2 = np.maximum(h1 @ w2 + b2, 0)
        logits = h2 @ w3 + b3
        g = np.exp(logits - logits.max(1, keepdims=True))  # becomes softmax - onehot
        g /= g.sum(1, keepdims=True)
        g[rows, labels] -= 1
        g /= BATCH
        g2 = (g @ w3.T) * (h2 > 0)
        g1 = (g2 @ w2.T) * (h1 > 0)
        grads = [x.T @ g1, g1.sum(0), h1.T @ g2, g2.sum(0), h2.T @ g, g.sum(0)]
        for p, d in zip(params, grads, strict=True):
            p -= RATE * d
        return grads

    return step
