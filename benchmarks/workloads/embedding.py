"""A training step of a table of 50,000 x 64 of which 1,024 rows are used, with sparse SGD.

The loss is the mean square of the distance to targets. Nobody touches the rows that are not used:
TensorFlow's gradient is IndexedSlices, PyTorch's a sparse tensor.
"""

import numpy as np

from . import Step

ROWS, WIDTH, USED, RATE = 50_000, 64, 1024, 1.0


def start():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(ROWS, WIDTH)).astype("float32")
    places = rng.integers(ROWS, size=USED)
    return table, places, rng.normal(size=(USED, WIDTH)).astype("float32")


def tape(tf):
    table, places, target = start()
    table = tf.Variable(table)

    def step(places, target):
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, places)
            loss = tf.reduce_mean(tf.square(rows - target))
        g = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(RATE * g.values, g.indices))
        return loss, [g.values]

    return Step(step, [tf.constant(places), tf.constant(target)], [table])


def torch():
    import torch
    from torch.nn import functional as F

    table, places, target = map(torch.tensor, start())
    table.requires_grad_()
    optimizer = torch.optim.SGD([table], lr=RATE)

    def step(places, target):
        optimizer.zero_grad()
        rows = F.embedding(places, table, sparse=True)
        loss = torch.mean(torch.square(rows - target))
        loss.backward()
        g = table.grad
        optimizer.step()
        return loss, [g._values()]

    return Step(step, [places, target], [table])


def torch_compiled():
    """The gradient of the rows in use: torch.compile knows no sparse ones."""
    import torch

    table, places, target = map(torch.tensor, start())

    def loss(rows, target):
        return torch.mean(torch.square(rows - target))

    derivative = torch.func.grad_and_value(loss)

    @torch.compile
    def step(places, target):
        g, value = derivative(table[places], target)
        table.index_add_(0, places, g, alpha=-RATE)
        return value

    return Step(step, [places, target], [table])


def jax():
    """The gradient of the rows in use: JAX has no sparse ones."""
    import jax
    from jax import numpy as jnp

    table, places, target = map(jnp.array, start())
    params = [table]

    def loss(rows, target):
        return jnp.mean(jnp.square(rows - target))

    def update(table, places, target):
        value, g = jax.value_and_grad(loss)(table[places], target)
        return value, table.at[places].add(-RATE * g)

    update = jax.jit(update, donate_argnums=0)

    def step(places, target):
        value, params[0] = update(params[0], places, target)
        return value.block_until_ready()

    return Step(step, [places, target], params)


def numpy():
    table, places, target = start()

    def step():
        g = (table[places] - target) * (2 / target.size)
        np.subtract.at(table, places, RATE * g)
        return [g]

    return step
