"""A training step of a convolutional network on 64 images of 28 x 28: two 5 x 5 convolutions
(16 and 32 channels) with ReLU and 2 x 2 max pooling, one dense layer, cross entropy, SGD."""

import numpy as np

from . import Step, jax_training, torch_training

BATCH, SIZE, CHANNELS, CLASSES, RATE = 64, 28, (1, 16, 32), 10, 1e-3
FLAT = (SIZE // 4) ** 2 * CHANNELS[-1]


def start():
    rng = np.random.default_rng(0)

    def layer(*shape):
        weights = rng.normal(size=shape) * np.sqrt(2 / np.prod(shape[:-1]))
        return [weights.astype("float32"), np.zeros(shape[-1], "float32")]

    one, few, many = CHANNELS
    params = layer(5, 5, one, few) + layer(5, 5, few, many) + layer(FLAT, CLASSES)
    x = rng.normal(size=(BATCH, SIZE, SIZE, one)).astype("float32")
    labels = rng.integers(CLASSES, size=BATCH)
    return params, x, labels


def tape(tf):
    params, x, labels = start()
    params = [tf.Variable(p) for p in params]
    k1, b1, k2, b2, w, b = params

    def step(x, labels):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k1, 1, "SAME"), b1))
            h = tf.nn.max_pool2d(h, 2, 2, "SAME")
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, k2, 1, "SAME"), b2))
            h = tf.nn.max_pool2d(h, 2, 2, "SAME")
            logits = tf.reshape(h, [BATCH, FLAT]) @ w + b
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.assign_sub(RATE * g)
        return loss, grads

    return Step(step, [tf.constant(x), tf.constant(labels)], params)


def torch(training=torch_training):
    """Channels first, as PyTorch has it; `layout` gives the others' order."""
    import torch
    from torch.nn import functional as F

    (k1, b1, k2, b2, w, b), x, labels = start()
    side = SIZE // 4
    kernels = [np.ascontiguousarray(k.transpose(3, 2, 0, 1)) for k in (k1, k2)]
    dense = w.reshape(side, side, -1, CLASSES).transpose(3, 2, 0, 1).reshape(CLASSES, FLAT)
    params = [kernels[0], b1, kernels[1], b2, dense, b]
    x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))

    def loss(params, x, labels):
        k1, b1, k2, b2, w, b = params
        h = F.max_pool2d(torch.relu(F.conv2d(x, k1, b1, padding=2)), 2)
        h = F.max_pool2d(torch.relu(F.conv2d(h, k2, b2, padding=2)), 2)
        return F.cross_entropy(F.linear(h.flatten(1), w, b), labels)

    def layout(arrays):
        k1, b1, k2, b2, w, b = arrays
        w = w.view(CLASSES, -1, side, side).permute(2, 3, 1, 0).flatten(0, 2)
        return k1.permute(2, 3, 1, 0), b1, k2.permute(2, 3, 1, 0), b2, w, b

    return training(loss, params, [x, labels], RATE, layout)


def jax():
    import jax
    from jax import lax
    from jax import numpy as jnp

    def layer(x, kernel, bias):
        x = lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jax.nn.relu(x + bias)
        # Faster here than `lax.reduce_window`, whose derivative is slow on processors.
        batch, height, width, channels = x.shape
        return x.reshape(batch, height // 2, 2, width // 2, 2, channels).max((2, 4))

    def loss(params, x, labels):
        k1, b1, k2, b2, w, b = params
        h = layer(layer(x, k1, b1), k2, b2)
        scores = jax.nn.log_softmax(h.reshape(BATCH, FLAT) @ w + b)
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], axis=1))

    params, *data = start()
    return jax_training(loss, params, data, RATE)
