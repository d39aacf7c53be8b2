"""A training step of a convolutional network on 64 images of 28 x 28: two 5 x 5 convolutions
(16 and 32 channels) with ReLU and 2 x 2 max pooling, one dense layer, cross entropy, SGD."""

import numpy as np

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
    x, labels = tf.constant(x), tf.constant(labels)

    def step():
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
        return grads

    return step


def torch():
    """Channels first, as PyTorch has it; the gradients are laid out as the others' at the end."""
    import torch
    from torch.nn import functional as F

    (k1, b1, k2, b2, w, b), x, labels = start()
    side = SIZE // 4
    kernels = [np.ascontiguousarray(k.transpose(3, 2, 0, 1)) for k in (k1, k2)]
    dense = w.reshape(side, side, -1, CLASSES).transpose(3, 2, 0, 1).reshape(CLASSES, FLAT)
    arrays = [kernels[0], b1, kernels[1], b2, dense, b]
    params = [torch.tensor(p, requires_grad=True) for p in arrays]
    k1, b1, k2, b2, w, b = params
    x = torch.tensor(np.ascontiguousarray(x.transpose(0, 3, 1, 2)))
    labels = torch.tensor(labels)

    def step():
        h = F.max_pool2d(torch.relu(F.conv2d(x, k1, b1, padding=2)), 2)
        h = F.max_pool2d(torch.relu(F.conv2d(h, k2, b2, padding=2)), 2)
        loss = F.cross_entropy(F.linear(h.flatten(1), w, b), labels)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, g in zip(params, grads, strict=True):
                p -= RATE * g
        dk1, db1, dk2, db2, dw, db = grads  # what follows takes 0.01 ms
        dw = dw.view(CLASSES, -1, side, side).permute(2, 3, 1, 0).flatten(0, 2)
        return dk1.permute(2, 3, 1, 0), db1, dk2.permute(2, 3, 1, 0), db2, dw, db

    return step
