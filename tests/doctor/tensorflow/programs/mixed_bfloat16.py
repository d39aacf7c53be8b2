"""bfloat16 in the layers by policy, and by hand with casts around a float32 master copy."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(33)
keras.mixed_precision.set_global_policy("mixed_bfloat16")

x = np.random.normal(size=(160, 10)).astype("float32")
y = (x[:, 0] - x[:, 1] > 0).astype("float32")

model = keras.Sequential(
    [
        keras.Input((10,)),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.LayerNormalization(),
        keras.layers.Dense(1, dtype="float32"),
    ]
)
model.compile(
    optimizer=keras.optimizers.AdamW(0.01),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
for layer in model.layers:
    print(layer.name, layer.compute_dtype, layer.variable_dtype)
model.fit(x, y, epochs=4, batch_size=32, verbose=2)
keras.mixed_precision.set_global_policy("float32")

# By hand.
w = tf.Variable(tf.random.normal([10, 1], stddev=0.1))
b = tf.Variable(tf.zeros([1]))
inputs, labels = tf.constant(x), tf.constant(y[:, None])


@tf.function
def step():
    with tf.GradientTape() as tape:
        low = tf.cast(inputs, tf.bfloat16) @ tf.cast(w, tf.bfloat16) + tf.cast(b, tf.bfloat16)
        logits = tf.cast(low, tf.float32)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.5 * dw)
    b.assign_sub(0.5 * db)
    return loss


for k in range(21):
    loss = step()
    if k % 5 == 0:
        print(f"step {k:2d}  loss {float(loss):.5f}")
print("dtype of the gradient's variable:", w.dtype.name, np.round(w.numpy().ravel()[:3], 3))
