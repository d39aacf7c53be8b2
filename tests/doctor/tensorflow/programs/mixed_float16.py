"""Mixed precision: float16 in the layers, float32 in the weights, a loss that is scaled."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

keras.utils.set_random_seed(21)
mixed_precision.set_global_policy("mixed_float16")
policy = mixed_precision.global_policy()
print("compute dtype:", policy.compute_dtype, "variable dtype:", policy.variable_dtype)

inputs = keras.Input((12,))
h = layers.Dense(32, activation="relu")(inputs)
h = layers.Dense(32, activation="relu")(h)
outputs = layers.Dense(3, dtype="float32")(h)
model = keras.Model(inputs, outputs)
print("kernel:", model.layers[1].kernel.dtype, "output of the first layer:", h.dtype)

rng = np.random.default_rng(0)
x = rng.normal(size=(240, 12)).astype("float32")
y = np.argmax(x[:, :3], axis=1)

# With fit, Keras wraps the optimizer by itself.
model.compile(
    optimizer=keras.optimizers.RMSprop(0.002),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
print(type(model.optimizer).__name__)
history = model.fit(x, y, batch_size=40, epochs=3, verbose=2)

# By hand: scale the loss, and the optimizer divides the gradients again.
optimizer = mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.05))
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(40)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(3):
    mean = keras.metrics.Mean()
    for batch in dataset:
        mean.update_state(train_step(*batch))
    print(f"epoch {epoch}: {float(mean.result()):.5f}, scale {float(optimizer.dynamic_scale):g}")
mixed_precision.set_global_policy("float32")
