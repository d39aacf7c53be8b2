"""Distributed training by hand: a MirroredStrategy over two logical CPUs."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()]
)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print("replicas:", strategy.num_replicas_in_sync)

GLOBAL_BATCH = 32
EPOCHS = 3

rng = np.random.default_rng(3)
features = rng.normal(size=(256, 6)).astype("float32")
labels = (features.sum(axis=1) > 0).astype("int32")

dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(GLOBAL_BATCH)
distributed = strategy.experimental_distribute_dataset(dataset)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((6,)),
            tf.keras.layers.Dense(16, activation="relu"),
            tf.keras.layers.Dense(2),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.build(model.trainable_variables)
    cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction="none"
    )
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")


def compute_loss(labels, predictions):
    per_example = cross_entropy(labels, predictions)
    return tf.nn.compute_average_loss(per_example, global_batch_size=GLOBAL_BATCH)


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = compute_loss(y, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    accuracy.update_state(y, predictions)
    return loss


@tf.function
def distributed_train_step(batch):
    per_replica = strategy.run(train_step, args=(batch,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


for epoch in range(EPOCHS):
    total, batches = 0.0, 0
    for batch in distributed:
        total += float(distributed_train_step(batch))
        batches += 1
    print(
        f"epoch {epoch + 1}: loss {total / batches:.6f}, "
        f"accuracy {float(accuracy.result()) * 100:.2f} %"
    )
    accuracy.reset_state()
