"""A training step of a transformer block: width 128, 4 heads, 8 sequences of 64, GELU, SGD.

Layer norm, attention, layer norm and a feed-forward network four times as wide, each with a
shortcut around it; the loss is the mean squared error. PyTorch has functions for layer norm and
attention, which its users take; TensorFlow's write them with ops.
"""

import numpy as np

from . import Step, jax_training, torch_training

BATCH, LENGTH, WIDTH, HEADS, RATE = 8, 64, 128, 4, 1e-3
DEPTH, EPSILON = WIDTH // HEADS, 1e-5


def start():
    rng = np.random.default_rng(0)
    weights = [
        (rng.normal(size=size) / np.sqrt(size[0])).astype("float32")
        for size in ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))
    ]
    params = []
    for w in weights:
        params += [w, np.zeros(w.shape[1], "float32")]
    for _ in range(2):  # of the two layer norms
        params += [np.ones(WIDTH, "float32"), np.zeros(WIDTH, "float32")]
    x, target = rng.normal(size=(2, BATCH, LENGTH, WIDTH)).astype("float32")
    return params, x, target


def tape(tf):
    params, x, target = start()
    params = [tf.Variable(p) for p in params]
    w_in, b_in, w_out, b_out, w_up, b_up, w_down, b_down, *norms = params
    scale1, shift1, scale2, shift2 = norms

    def layer_norm(x, scale, shift):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        centred = x - mean
        variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
        return centred * tf.math.rsqrt(variance + EPSILON) * scale + shift

    def attention(x):
        parts = tf.reshape(x @ w_in + b_in, (BATCH, LENGTH, 3, HEADS, DEPTH))
        q, k, v = tf.unstack(tf.transpose(parts, (2, 0, 3, 1, 4)))
        scores = tf.matmul(q, k, transpose_b=True) * DEPTH**-0.5
        mixed = tf.transpose(tf.nn.softmax(scores) @ v, (0, 2, 1, 3))
        return tf.reshape(mixed, (BATCH, LENGTH, WIDTH)) @ w_out + b_out

    def step(x, target):
        with tf.GradientTape() as tape:
            h = x + attention(layer_norm(x, scale1, shift1))
            up = tf.nn.gelu(layer_norm(h, scale2, shift2) @ w_up + b_up)
            y = h + up @ w_down + b_down
            loss = tf.reduce_mean(tf.square(y - target))
        grads = tape.gradient(loss, params)
        for p, g in zip(params, grads, strict=True):
            p.assign_sub(RATE * g)
        return loss, grads

    return Step(step, [tf.constant(x), tf.constant(target)], params)


def torch(training=torch_training):
    from torch.nn import functional as F

    def attention(x, w_in, b_in, w_out, b_out):
        parts = (x @ w_in + b_in).view(BATCH, LENGTH, 3, HEADS, DEPTH)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind()
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return mixed.reshape(BATCH, LENGTH, WIDTH) @ w_out + b_out

    def loss(params, x, target):
        w_in, b_in, w_out, b_out, w_up, b_up, w_down, b_down, *norms = params
        scale1, shift1, scale2, shift2 = norms
        normal = F.layer_norm(x, (WIDTH,), scale1, shift1, EPSILON)
        h = x + attention(normal, w_in, b_in, w_out, b_out)
        up = F.gelu(F.layer_norm(h, (WIDTH,), scale2, shift2, EPSILON) @ w_up + b_up)
        return F.mse_loss(h + up @ w_down + b_down, target)

    params, *data = start()
    return training(loss, params, data, RATE)


def jax():
    import jax
    from jax import numpy as jnp

    def layer_norm(x, scale, shift):
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + EPSILON) * scale + shift

    def attention(x, w_in, b_in, w_out, b_out):
        parts = (x @ w_in + b_in).reshape(BATCH, LENGTH, 3, HEADS, DEPTH)
        q, k, v = parts.transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) * DEPTH**-0.5
        mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3)
        return mixed.reshape(BATCH, LENGTH, WIDTH) @ w_out + b_out

    def loss(params, x, target):
        w_in, b_in, w_out, b_out, w_up, b_up, w_down, b_down, *norms = params
        scale1, shift1, scale2, shift2 = norms
        h = x + attention(layer_norm(x, scale1, shift1), w_in, b_in, w_out, b_out)
        up = jax.nn.gelu(layer_norm(h, scale2, shift2) @ w_up + b_up, approximate=False)
        return jnp.mean(jnp.square(h + up @ w_down + b_down - target))

    params, *data = start()
    return jax_training(loss, params, data, RATE)


def autograd():
    import autograd.numpy as anp
    from autograd import grad
    from autograd.scipy.special import erf

    params, x, target = start()

    def layer_norm(x, scale, shift):
        centred = x - anp.mean(x, axis=-1, keepdims=True)
        variance = anp.mean(centred**2, axis=-1, keepdims=True)
        return centred / anp.sqrt(variance + EPSILON) * scale + shift

    def softmax(x):
        e = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
        return e / anp.sum(e, axis=-1, keepdims=True)

    def loss(params):
        w_in, b_in, w_out, b_out, w_up, b_up, w_down, b_down, *norms = params
        scale1, shift1, scale2, shift2 = norms
        parts = layer_norm(x, scale1, shift1) @ w_in + b_in
        parts = anp.reshape(parts, (BATCH, LENGTH, 3, HEADS, DEPTH))
        q, k, v = anp.transpose(parts, (2, 0, 3, 1, 4))
        mixed = softmax(q @ anp.swapaxes(k, -1, -2) * DEPTH**-0.5) @ v
        mixed = anp.reshape(anp.transpose(mixed, (0, 2, 1, 3)), (BATCH, LENGTH, WIDTH))
        h = x + mixed @ w_out + b_out
        up = layer_norm(h, scale2, shift2) @ w_up + b_up
        up = 0.5 * up * (1 + erf(up * 0.5**0.5))
        return anp.mean((h + up @ w_down + b_down - target) ** 2)

    derivative = grad(loss)

    def step():
        grads = derivative(params)
        for p, g in zip(params, grads, strict=True):
            p -= RATE * g
        return grads

    return step
