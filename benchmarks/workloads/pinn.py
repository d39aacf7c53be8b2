"""The heat equation's residual, u_t - 0.1 u_xx of a 2-64-64-64-1 tanh network on 1,000 points.

The gradient of its mean square with respect to the parameters is a third derivative. The output
layer has no bias, because the residual does not depend on it.
"""

from itertools import pairwise

import numpy as np

from . import Step

SIZES, POINTS, DIFFUSION = (2, 64, 64, 64, 1), 1000, 0.1


def start():
    rng = np.random.default_rng(0)
    params = []
    for inputs, outputs in pairwise(SIZES):
        weights = rng.normal(size=(inputs, outputs)) * np.sqrt(1 / inputs)
        params += [weights.astype("float32"), np.zeros(outputs, "float32")]
    x, t = rng.uniform(-1, 1, size=(2, POINTS, 1)).astype("float32")
    return params[:-1], x, t


def tape(tf):
    params, x, t = start()
    params = [tf.Variable(p) for p in params]
    w1, b1, w2, b2, w3, b3, w4 = params

    def network(x, t):
        h = tf.tanh(tf.concat([x, t], axis=1) @ w1 + b1)
        h = tf.tanh(h @ w2 + b2)
        h = tf.tanh(h @ w3 + b3)
        return h @ w4

    def step(x, t):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch([x, t])
                    u = network(x, t)
                u_x, u_t = first.gradient(u, [x, t])
            u_xx = second.gradient(u_x, x)
            loss = tf.reduce_mean(tf.square(u_t - DIFFUSION * u_xx))
        return outer.gradient(loss, params)

    return Step(step, [tf.constant(x), tf.constant(t)])


def torch():
    import torch

    params, x, t = start()
    params = [torch.tensor(p, requires_grad=True) for p in params]
    w1, b1, w2, b2, w3, b3, w4 = params
    x, t = torch.tensor(x, requires_grad=True), torch.tensor(t, requires_grad=True)
    ones = torch.ones(POINTS, 1)

    def network(x, t):
        h = torch.tanh(torch.cat([x, t], 1) @ w1 + b1)
        h = torch.tanh(h @ w2 + b2)
        h = torch.tanh(h @ w3 + b3)
        return h @ w4

    def step():
        u = network(x, t)
        u_x, u_t = torch.autograd.grad(u, [x, t], ones, create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x, x, ones, create_graph=True)
        loss = torch.mean((u_t - DIFFUSION * u_xx) ** 2)
        return torch.autograd.grad(loss, params)

    return Step(step)


def torch_compiled():
    """With torch.func: torch.compile does not differentiate twice through `torch.autograd`."""
    import torch
    from torch.func import grad

    def network(params, x, t):
        w1, b1, w2, b2, w3, b3, w4 = params
        h = torch.tanh(torch.cat([x, t], 1) @ w1 + b1)
        h = torch.tanh(h @ w2 + b2)
        h = torch.tanh(h @ w3 + b3)
        return h @ w4

    def loss(params, x, t):
        def total(x, t):  # each point's u depends on that point alone
            return torch.sum(network(params, x, t))

        def slope(x):
            u_x, u_t = grad(total, (0, 1))(x, t)
            return torch.sum(u_x), u_t

        u_xx, u_t = grad(slope, has_aux=True)(x)
        return torch.mean((u_t - DIFFUSION * u_xx) ** 2)

    params, *data = start()
    params, data = [torch.tensor(p) for p in params], map(torch.tensor, data)
    return Step(torch.compile(grad(loss)), [params, *data])


def jax():
    import jax
    from jax import numpy as jnp

    def network(params, x, t):
        w1, b1, w2, b2, w3, b3, w4 = params
        h = jnp.tanh(jnp.concatenate([x, t], axis=1) @ w1 + b1)
        h = jnp.tanh(h @ w2 + b2)
        h = jnp.tanh(h @ w3 + b3)
        return h @ w4

    def loss(params, x, t):
        def total(x, t):  # each point's u depends on that point alone
            return jnp.sum(network(params, x, t))

        def slope(x):
            u_x, u_t = jax.grad(total, (0, 1))(x, t)
            return jnp.sum(u_x), u_t

        u_xx, u_t = jax.grad(slope, has_aux=True)(x)
        return jnp.mean((u_t - DIFFUSION * u_xx) ** 2)

    params, *data = start()
    derivative = jax.jit(jax.grad(loss))
    data = [[jnp.array(p) for p in params], *map(jnp.array, data)]
    return Step(lambda *data: jax.block_until_ready(derivative(*data)), data)


def autograd():
    import autograd.numpy as anp
    from autograd import elementwise_grad, grad

    params, x, t = start()

    def network(params, x, t):
        w1, b1, w2, b2, w3, b3, w4 = params
        h = anp.tanh(anp.concatenate([x, t], axis=1) @ w1 + b1)
        h = anp.tanh(h @ w2 + b2)
        h = anp.tanh(h @ w3 + b3)
        return h @ w4

    slope_x = elementwise_grad(network, 1)
    slope_t = elementwise_grad(network, 2)
    slope_xx = elementwise_grad(slope_x, 1)

    def loss(params):
        return anp.mean((slope_t(params, x, t) - DIFFUSION * slope_xx(params, x, t)) ** 2)

    derivative = grad(loss)
    return lambda: derivative(params)


def numpy():
    params, x, t = start()
    weights, biases = params[0::2], params[1::2]
    one, zero = np.ones_like(x), np.zeros_like(x)
    # The value and its derivatives by x, t and xx travel forward together, stacked: one matmul
    # per layer serves all four.
    inputs = np.stack([np.hstack(pair) for pair in ((x, t), (one, zero), (zero, one))])
    inputs = np.concatenate([inputs, np.zeros_like(inputs[:1])])

    def step():
        h, kept = inputs, []
        for w, b in zip(weights[:-1], biases, strict=True):
            z, zx, zt, zxx = (h.reshape(-1, w.shape[0]) @ w).reshape(4, POINTS, -1)
            a = np.tanh(z + b)
            s = 1 - a * a
            curve = zxx - 2 * a * zx * zx  # a_xx = s (z_xx - 2 a z_x^2)
            kept.append((h, a, s, zx, zt, curve))
            h = np.stack([a, s * zx, s * zt, s * curve])
        _, _, u_t, u_xx = h @ weights[-1]
        g = (u_t - DIFFUSION * u_xx) * (2 / POINTS)
        # u and u_x do not appear in the residual: two of the four planes start empty.
        grads = [h[2].T @ g - DIFFUSION * (h[3].T @ g)]
        gt = g @ weights[-1].T
        gxx = -DIFFUSION * gt
        ga = gx = np.zeros_like(gt)
        for w, (h, a, s, zx, zt, curve) in zip(weights[-2::-1], kept[::-1], strict=True):
            gs = gx * zx + gt * zt + gxx * curve
            gz = s * (ga - 2 * a * gs - 2 * s * zx * zx * gxx)
            gzx = s * (gx - 4 * a * zx * gxx)
            planes = np.concatenate([gz, gzx, s * gt, s * gxx])
            grads += [gz.sum(0), h.reshape(-1, w.shape[0]).T @ planes]
            ga, gx, gt, gxx = (planes @ w.T).reshape(4, POINTS, -1)
        return grads[::-1]

    return step
