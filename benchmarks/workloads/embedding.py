"""A training step of a table of 50,000 x 64 of which 1,024 rows are used, with sparse SGD.

The loss is the mean square of the distance to targets. Nobody touches the rows that are not used:
TensorFlow's gradient is IndexedSlices, PyTorch's a sparse tensor.
"""

import numpy as np

ROWS, WIDTH, USED, RATE = 50_000, 64, 1024, 1.0


def start():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(ROWS, WIDTH)).astype("float32")
    places = rng.integers(ROWS, size=USED)
    return table, places, rng.normal(size=(USED, WIDTH)).astype("float32")


def tape(tf):
    table, places, target = start()
    table, places, target = tf.Variable(table), tf.constant(places), tf.constant(target)

    def step():
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, places)
            loss = tf.reduce_mean(tf.square(rows - target))
        g = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(RATE * g.values, g.indices))
        return [g.values]

    return step


def torch():
    import torch
    from torch.nn import functional as F

    table, places, target = map(torch.tensor, start())
    table.requires_grad_()
    optimizer = torch.optim.SGD([table], lr=RATE)

    def step():
        optimizer.zero_grad()
        rows = F.embedding(places, table, sparse=True)
        loss = torch.mean(torch.square(rows - target))
        loss.backward()
        g = table.grad
        optimizer.step()
        return [g._values()]

    return step


def numpy():
    table, places, target = start()

    def step():
        g = (table[places] - target) * (2 / target.size)
        np.subtract.at(table, places, RATE * g)
        return [g]

    return step
