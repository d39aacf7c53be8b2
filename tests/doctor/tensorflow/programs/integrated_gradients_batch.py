"""Integrated gradients, saliency and SmoothGrad for a small trained convolutional network."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(99)

images = np.random.uniform(0, 0.3, size=(160, 10, 10, 1)).astype("float32")
labels = np.random.randint(0, 2, size=160)
for image, label in zip(images, labels):
    row = 1 if label == 0 else 6
    image[row : row + 3, 2:8] += 0.6

model = tf.keras.Sequential(
    [
        tf.keras.Input((10, 10, 1)),
        tf.keras.layers.Conv2D(6, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(2),
    ]
)
model.compile(
    "adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"]
)
history = model.fit(images, labels, epochs=5, verbose=0)
print("accuracy", history.history["accuracy"][-1])


def interpolate_images(baseline, image, alphas):
    alphas_x = alphas[:, tf.newaxis, tf.newaxis, tf.newaxis]
    baseline_x = tf.expand_dims(baseline, axis=0)
    delta = tf.expand_dims(image, axis=0) - baseline_x
    return baseline_x + alphas_x * delta


def compute_gradients(images, target_class_idx):
    with tf.GradientTape() as tape:
        tape.watch(images)
        logits = model(images)
        probs = tf.nn.softmax(logits, axis=-1)[:, target_class_idx]
    return tape.gradient(probs, images)


def integral_approximation(gradients):
    grads = (gradients[:-1] + gradients[1:]) / tf.constant(2.0)
    return tf.math.reduce_mean(grads, axis=0)


@tf.function
def one_batch(baseline, image, alpha_batch, target_class_idx):
    interpolated = interpolate_images(baseline, image, alpha_batch)
    return compute_gradients(interpolated, target_class_idx)


def integrated_gradients(baseline, image, target_class_idx, m_steps=50, batch_size=16):
    alphas = tf.linspace(start=0.0, stop=1.0, num=m_steps + 1)
    batches = []
    for alpha in tf.range(0, len(alphas), batch_size):
        to = tf.minimum(alpha + batch_size, len(alphas))
        batches.append(one_batch(baseline, image, alphas[alpha:to], target_class_idx))
    total = tf.concat(batches, axis=0)
    return (image - baseline) * integral_approximation(total)


image, target = tf.constant(images[0]), int(labels[0])
baseline = tf.zeros_like(image)
attributions = integrated_gradients(baseline, image, target)
gap = tf.nn.softmax(model(image[None]))[0, target] - tf.nn.softmax(model(baseline[None]))[0, target]
print(f"sum of the attributions {float(tf.reduce_sum(attributions)):.5f}, difference {gap:.5f}")

with tf.GradientTape() as tape:
    tape.watch(image)
    score = model(image[tf.newaxis])[0, target]
saliency = tf.reduce_max(tf.abs(tape.gradient(score, image)), axis=-1)
print("most salient row", int(tf.argmax(tf.reduce_sum(saliency, axis=1))))

smooth = tf.zeros_like(image)
for k in range(8):
    noisy = image + 0.1 * tf.random.stateless_normal(image.shape, seed=[k, 0])
    smooth += compute_gradients(noisy[None], target)[0] / 8
print("smoothed norm", f"{float(tf.norm(smooth)):.6f}")
np.save("attributions.npy", attributions.numpy())
