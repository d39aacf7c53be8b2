"""A training step of a big network: four layers of 1024, ReLU, batch 512, squared error, SGD."""

import numpy as np

from . import Step, jax_training, torch_training

WIDTH, LAYERS, BATCH, RATE = 1024, 4, 512, 1e-1


def start():
    rng = np.random.default_rng(0)
    params = []
    for _ in range(LAYERS):
        weights = rng.normal(size=(WIDTH, WIDTH)) * np.sqrt(2 / WIDTH)
        params += [weights.astype("float32"), np.zeros(WIDTH, "float32")]
    x, y = rng.normal(size=(2, BATCH, WIDTH)).astype("float32")
    return params, x, y


def tape(tf):
    params, x, y = start()
    params = [tf.Variable(p) for p in params]
    w1, b1, w2, b2, w3, b3, w4, b4 = params

    def step(x, y):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(x @ w1 + b1)
            h = tf.nn.relu(h @ w2 + b2)
            h = tf.nn.relu(h @ w3 + b3)
            loss = tf.reduce_mean(tf.square(h @ w4 + b4 - y))
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.assign_sub(RATE * g)
        return loss, grads

    return Step(step, [tf.constant(x), tf.constant(y)], params)


def torch(training=torch_training):
    import torch

    def loss(params, x, y):
        w1, b1, w2, b2, w3, b3, w4, b4 = params
        h = torch.relu(x @ w1 + b1)
        h = torch.relu(h @ w2 + b2)
        h = torch.relu(h @ w3 + b3)
        return torch.mean(torch.square(h @ w4 + b4 - y))

    params, *data = start()
    return training(loss, params, data, RATE)


def jax():
    import jax
    from jax import numpy as jnp

    def loss(params, x, y):
        w1, b1, w2, b2, w3, b3, w4, b4 = params
        h = jax.nn.relu(x @ w1 + b1)
        h = jax.nn.relu(h @ w2 + b2)
        h = jax.nn.relu(h @ w3 + b3)
        return jnp.mean(jnp.square(h @ w4 + b4 - y))

    params, *data = start()
    return jax_training(loss, params, data, RATE)
