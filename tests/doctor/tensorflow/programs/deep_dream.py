"""DeepDream on a small untrained network: gradient ascent on the picture, in octaves and tiles."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(88)

base_model = tf.keras.Sequential(
    [
        tf.keras.Input((None, None, 3)),
        tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu", name="mixed0"),
        tf.keras.layers.AveragePooling2D(2),
        tf.keras.layers.Conv2D(12, 3, padding="same", activation="relu", name="mixed1"),
    ]
)
names = ["mixed0", "mixed1"]
layers = [base_model.get_layer(name).output for name in names]
dream_model = tf.keras.Model(inputs=base_model.inputs, outputs=layers)


def calc_loss(img, model):
    img_batch = tf.expand_dims(img, axis=0)
    layer_activations = model(img_batch)
    return tf.reduce_sum([tf.math.reduce_mean(act) for act in layer_activations])


class DeepDream(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(
        input_signature=(
            tf.TensorSpec(shape=[None, None, 3], dtype=tf.float32),
            tf.TensorSpec(shape=[], dtype=tf.int32),
            tf.TensorSpec(shape=[], dtype=tf.float32),
        )
    )
    def __call__(self, img, steps, step_size):
        print("Tracing")
        loss = tf.constant(0.0)
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                tape.watch(img)
                loss = calc_loss(img, self.model)
            gradients = tape.gradient(loss, img)
            gradients /= tf.math.reduce_std(gradients) + 1e-8
            img = tf.clip_by_value(img + gradients * step_size, -1, 1)
        return loss, img


def random_roll(img, maxroll):
    shift = tf.random.uniform([2], -maxroll, maxroll, tf.int32, seed=4)
    return shift, tf.roll(img, shift=shift, axis=[0, 1])


yy, xx = np.mgrid[0:32, 0:40] / 32.0
picture = np.stack([np.sin(5 * xx), np.cos(4 * yy), xx * yy], axis=-1).astype("float32")
deepdream = DeepDream(dream_model)
img = tf.constant(picture)

loss, out = deepdream(img, tf.constant(10), tf.constant(0.01))
print(f"Step 10, loss {float(loss):.6f}")

base_shape = tf.cast(tf.shape(img)[:-1], tf.float32)
for octave in range(-1, 2):
    new_shape = tf.cast(base_shape * (1.2**octave), tf.int32)
    img = tf.image.resize(img, new_shape)
    shift, rolled = random_roll(img, 5)
    loss, rolled = deepdream(rolled, tf.constant(5), tf.constant(0.02))
    img = tf.roll(rolled, shift=-shift, axis=[0, 1])
    print(f"octave {octave}: {tuple(img.shape)} loss {float(loss):.6f}")

result = tf.cast(255 * (tf.image.resize(img, tf.cast(base_shape, tf.int32)) + 1.0) / 2.0, tf.uint8)
tf.io.write_file("dream.png", tf.io.encode_png(result))
print("mean colour", np.round(result.numpy().mean(axis=(0, 1)), 3))
