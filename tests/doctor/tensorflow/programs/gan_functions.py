"""A GAN in the usual form: two models, two tapes, one tf.function; snapshots written to files."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(17)
NOISE, BATCH = 8, 64


def make_generator():
    model = tf.keras.Sequential()
    model.add(tf.keras.Input((NOISE,)))
    model.add(layers.Dense(32, use_bias=False))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Dense(4 * 4 * 8, use_bias=False))
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((4, 4, 8)))
    model.add(layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"))
    return model


def make_discriminator():
    return tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            layers.Conv2D(8, 4, strides=2, padding="same"),
            layers.LeakyReLU(),
            layers.Dropout(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


generator, discriminator = make_generator(), make_discriminator()
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(1e-3)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)


def discriminator_loss(real, fake):
    return cross_entropy(tf.ones_like(real), real) + cross_entropy(tf.zeros_like(fake), fake)


def generator_loss(fake):
    return cross_entropy(tf.ones_like(fake), fake)


@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gen_gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gen_gradients, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_gradients, discriminator.trainable_variables))
    return gen_loss, disc_loss


grid = np.linspace(-1, 1, 8)
centers = np.random.uniform(-0.5, 0.5, size=(512, 2))
distance = (grid[None, :, None] - centers[:, :1, None]) ** 2 + (
    grid[None, None, :] - centers[:, 1:, None]
) ** 2
pictures = (2 * np.exp(-8 * distance) - 1).astype("float32")[..., None]
dataset = tf.data.Dataset.from_tensor_slices(pictures).shuffle(512, seed=1).batch(BATCH)
seed = tf.random.normal([4, NOISE])

for epoch in range(3):
    for images in dataset:
        gen_loss, disc_loss = train_step(images)
    print(f"epoch {epoch + 1}: generator {gen_loss:.5f}, discriminator {disc_loss:.5f}")
    np.save(f"epoch_{epoch + 1:02d}.npy", generator(seed, training=False).numpy())
