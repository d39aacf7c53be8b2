"""Prices of 1,000,000 European calls (Black and Scholes) and four greeks, by differentiation.

Delta, vega and theta are first derivatives of the price, gamma is the derivative of delta.
"""

import numpy as np

from . import Step

COUNT, STRIKE, INTEREST = 1_000_000, 100.0, 0.03


def start():
    rng = np.random.default_rng(0)
    ranges = ((60.0, 140.0), (0.1, 0.5), (0.2, 2.0))  # spot, volatility, years left
    return [rng.uniform(*ends, size=COUNT).astype("float32") for ends in ranges]


def tape(tf):
    def normal(x):  # its distribution function
        return 0.5 * (1.0 + tf.math.erf(x * 0.5**0.5))

    def price(spot, volatility, years):
        spread = volatility * tf.sqrt(years)
        d = (tf.math.log(spot / STRIKE) + INTEREST * years) / spread + 0.5 * spread
        return spot * normal(d) - STRIKE * tf.exp(-INTEREST * years) * normal(d - spread)

    def step(spot, volatility, years):
        with tf.GradientTape() as outer:
            outer.watch(spot)
            with tf.GradientTape() as inner:
                inner.watch([spot, volatility, years])
                value = price(spot, volatility, years)
            delta, vega, decay = inner.gradient(value, [spot, volatility, years])
        gamma = outer.gradient(delta, spot)
        return [value, delta, gamma, vega, -decay]

    return Step(step, map(tf.constant, start()))


def torch():
    import torch

    spot, volatility, years = (torch.tensor(x, requires_grad=True) for x in start())

    def normal(x):
        return 0.5 * (1.0 + torch.erf(x * 0.5**0.5))

    def price(spot, volatility, years):
        spread = volatility * torch.sqrt(years)
        d = (torch.log(spot / STRIKE) + INTEREST * years) / spread + 0.5 * spread
        return spot * normal(d) - STRIKE * torch.exp(-INTEREST * years) * normal(d - spread)

    def step():
        value = price(spot, volatility, years)
        inputs, ones = [spot, volatility, years], torch.ones_like(value)
        delta, vega, decay = torch.autograd.grad(value, inputs, ones, create_graph=True)
        (gamma,) = torch.autograd.grad(delta, spot, ones)
        return [x.detach() for x in (value, delta, gamma, vega, -decay)]

    return Step(step)


def torch_compiled():
    """With torch.func: torch.compile does not differentiate twice through `torch.autograd`."""
    import torch
    from torch.func import grad, grad_and_value, vmap

    def normal(x):
        return 0.5 * (1.0 + torch.erf(x * 0.5**0.5))

    def price(spot, volatility, years):
        spread = volatility * torch.sqrt(years)
        d = (torch.log(spot / STRIKE) + INTEREST * years) / spread + 0.5 * spread
        return spot * normal(d) - STRIKE * torch.exp(-INTEREST * years) * normal(d - spread)

    def greeks(spot, volatility, years):
        (delta, vega, decay), value = grad_and_value(price, (0, 1, 2))(spot, volatility, years)
        gamma = grad(grad(price))(spot, volatility, years)
        return value, delta, gamma, vega, -decay

    step = torch.compile(vmap(greeks))
    return Step(lambda *data: list(step(*data)), map(torch.tensor, start()))


def jax():
    import jax
    from jax import numpy as jnp

    def normal(x):
        return 0.5 * (1.0 + jax.lax.erf(x * 0.5**0.5))

    def price(spot, volatility, years):
        spread = volatility * jnp.sqrt(years)
        d = (jnp.log(spot / STRIKE) + INTEREST * years) / spread + 0.5 * spread
        return spot * normal(d) - STRIKE * jnp.exp(-INTEREST * years) * normal(d - spread)

    def greeks(spot, volatility, years):
        value, slopes = jax.value_and_grad(price, (0, 1, 2))(spot, volatility, years)
        delta, vega, decay = slopes
        gamma = jax.grad(jax.grad(price))(spot, volatility, years)
        return [value, delta, gamma, vega, -decay]

    step = jax.jit(jax.vmap(greeks))
    data = map(jnp.array, start())
    return Step(lambda *data: jax.block_until_ready(step(*data)), data)


def autograd():
    import autograd.numpy as anp
    from autograd import elementwise_grad
    from autograd.scipy.special import erf

    inputs = start()

    def normal(x):
        return 0.5 * (1.0 + erf(x * 0.5**0.5))

    def price(spot, volatility, years):
        spread = volatility * anp.sqrt(years)
        d = (anp.log(spot / STRIKE) + INTEREST * years) / spread + 0.5 * spread
        return spot * normal(d) - STRIKE * anp.exp(-INTEREST * years) * normal(d - spread)

    delta, vega, decay = (elementwise_grad(price, k) for k in range(3))
    gamma = elementwise_grad(delta)

    def step():
        greeks = [greek(*inputs) for greek in (delta, gamma, vega, decay)]
        return [price(*inputs), *greeks[:3], -greeks[3]]

    return step
