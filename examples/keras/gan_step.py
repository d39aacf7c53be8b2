"""A generative adversarial network: one compiled step with two tapes and two optimizers."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
NOISE, BATCH = 8, 32


def blobs(count):
    """Return pictures of 8 x 8 pixels from -1 to 1 with a bright spot somewhere in the middle."""
    x, y = np.meshgrid(np.arange(8), np.arange(8))
    centre = rng.uniform(2.5, 4.5, (2, count, 1, 1))
    distance = (x - centre[0]) ** 2 + (y - centre[1]) ** 2
    return (2 * np.exp(-distance / 4) - 1)[..., None].astype("float32")


generator = keras.Sequential(
    [
        keras.Input((NOISE,)),
        layers.Dense(2 * 2 * 16, use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.2),
        layers.Reshape((2, 2, 16)),
        layers.Conv2DTranspose(8, 4, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.LeakyReLU(0.2),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ]
)
discriminator = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(8, 4, strides=2, padding="same"),
        layers.LeakyReLU(0.2),
        layers.Dropout(0.3),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
generator_optimizer = keras.optimizers.Adam(0.001, beta_1=0.5)
discriminator_optimizer = keras.optimizers.Adam(0.001, beta_1=0.5)
cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = generator(noise, training=True)
        on_real = discriminator(real, training=True)
        on_fake = discriminator(fake, training=True)
        gen_loss = cross_entropy(tf.ones_like(on_fake), on_fake)
        disc_loss = cross_entropy(tf.ones_like(on_real), on_real)
        disc_loss += cross_entropy(tf.zeros_like(on_fake), on_fake)

    gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
    gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    discriminator_optimizer.apply_gradients(
        zip(gradients, discriminator.trainable_variables, strict=True)
    )
    return gen_loss, disc_loss


batches = tf.data.Dataset.from_tensor_slices(blobs(256)).shuffle(256).batch(BATCH)
for epoch in range(1, 5):
    for real in batches:
        gen_loss, disc_loss = train_step(real)
    print(f"epoch {epoch}   generator loss {gen_loss:.6f}   discriminator loss {disc_loss:.6f}")

samples = generator(tf.random.normal([100, NOISE]), training=False)
print(f"mean brightness of the real {blobs(100).mean():.4f}, of the generated ", end="")
print(f"{tf.reduce_mean(samples):.4f}")
