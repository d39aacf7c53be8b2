"""tf.data inside of tf.function: whole epochs in one call, next() in a loop, a state that stays."""

import tensorflow as tf

tf.keras.utils.set_random_seed(19)

features = tf.random.stateless_uniform([120, 3], seed=[1, 1])
targets = tf.reduce_sum(features, axis=1, keepdims=True) ** 2
dataset = (
    tf.data.Dataset.from_tensor_slices((features, targets))
    .shuffle(120, seed=2, reshuffle_each_iteration=False)
    .batch(20, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

model = tf.keras.Sequential(
    [tf.keras.Input((3,)), tf.keras.layers.Dense(16, "softplus"), tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.SGD(0.02)
loss_fn = tf.keras.losses.MeanSquaredError()


def update(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_epoch(dataset):
    """A for loop over the dataset becomes a part of the graph."""
    total, count = tf.constant(0.0), tf.constant(0)
    for x, y in dataset:
        total += update(x, y)
        count += 1
        if count % 3 == 0:
            tf.print("  batch", count, "mean", total / tf.cast(count, tf.float32), summarize=4)
    return total / tf.cast(count, tf.float32)


@tf.function
def train_multiple_steps(iterator, steps):
    """next() in a loop of the graph."""
    loss = tf.constant(0.0)
    for _ in tf.range(steps):
        loss = update(*next(iterator))
    return loss


for epoch in range(3):
    print(f"epoch {epoch}: {float(train_epoch(dataset)):.6f}")

iterator = iter(dataset.repeat())
for _ in range(3):
    print(f"five more steps: {float(train_multiple_steps(iterator, tf.constant(5))):.6f}")

try:
    once = iter(dataset.take(2))
    while True:
        print(f"to the end: {float(train_multiple_steps(once, tf.constant(1))):.6f}")
except tf.errors.OutOfRangeError:
    print("that was all")
