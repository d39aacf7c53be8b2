"""Ragged and sparse inputs: bags of words of different lengths, sparse features, segment sums."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(66)
rng = np.random.default_rng(66)

VOCAB, DIM = 30, 6
weights_true = rng.normal(size=VOCAB).astype("float32")
bags = [rng.integers(0, VOCAB, size=rng.integers(1, 9)).tolist() for _ in range(96)]
targets = np.array([weights_true[bag].mean() for bag in bags], "float32")
ragged = tf.ragged.constant(bags, dtype=tf.int64)
print("shape", ragged.shape, "lengths", ragged.row_lengths().numpy()[:6])

table = tf.Variable(tf.random.normal([VOCAB, DIM], stddev=0.3))
head = tf.Variable(tf.random.normal([DIM, 1], stddev=0.3))
optimizer = tf.keras.optimizers.Adagrad(0.3)


@tf.function
def ragged_step(bag, target):
    with tf.GradientTape() as tape:
        embedded = tf.ragged.map_flat_values(tf.nn.embedding_lookup, table, bag)
        pooled = tf.reduce_mean(embedded, axis=1)
        loss = tf.reduce_mean((tf.squeeze(pooled @ head, 1) - target) ** 2)
    gradients = tape.gradient(loss, [table, head])
    optimizer.apply_gradients(zip(gradients, [table, head]))
    return loss


dataset = tf.data.Dataset.from_tensor_slices((ragged, targets)).batch(24)
for epoch in range(4):
    losses = [float(ragged_step(bag, target)) for bag, target in dataset]
    print(f"ragged epoch {epoch}: {np.mean(losses):.6f}")

# The same bags as a sparse matrix of counts.
counts = tf.sparse.reorder(
    tf.sparse.SparseTensor(
        [[r, c] for r, bag in enumerate(bags) for c in sorted(set(bag))],
        [float(bag.count(c)) / len(bag) for bag in bags for c in sorted(set(bag))],
        [len(bags), VOCAB],
    )
)
w = tf.Variable(tf.zeros([VOCAB, 1]))
for step in range(40):
    with tf.GradientTape() as tape:
        prediction = tf.sparse.sparse_dense_matmul(counts, w)[:, 0]
        loss = tf.reduce_mean((prediction - targets) ** 2)
    w.assign_sub(2.0 * tape.gradient(loss, w))
print(f"sparse loss {float(loss):.6f}, nonzero {int(counts.indices.shape[0])}")

# And by segments, with the rows that a gather touches.
with tf.GradientTape() as tape:
    rows = tf.gather(table, ragged.values)
    sums = tf.math.segment_sum(rows, ragged.value_rowids())
    loss = tf.reduce_sum(sums**2)
gradient = tape.gradient(loss, table)
print(type(gradient).__name__, gradient.values.shape, f"{float(tf.norm(gradient.values)):.4f}")
print("padded:", ragged.to_tensor(default_value=-1)[:2].numpy().tolist())
