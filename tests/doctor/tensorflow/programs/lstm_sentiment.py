"""Text classification: TextVectorization, a masked embedding and a bidirectional LSTM."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)

GOOD, BAD = ["good", "great", "fine", "lovely"], ["bad", "awful", "poor", "dull"]
FILL = ["the", "film", "was", "a", "plot", "and", "actor", "music"]


def review():
    label = int(rng.integers(2))
    words = list(rng.choice(FILL, size=rng.integers(3, 8)))
    for _ in range(2):
        words.insert(int(rng.integers(len(words))), str(rng.choice(GOOD if label else BAD)))
    return " ".join(words), label


texts, labels = zip(*[review() for _ in range(256)])
train = tf.data.Dataset.from_tensor_slices((list(texts[:192]), list(labels[:192])))
test = tf.data.Dataset.from_tensor_slices((list(texts[192:]), list(labels[192:])))
train = train.shuffle(192, seed=0).batch(32).prefetch(tf.data.AUTOTUNE)
test = test.batch(32)

for example, label in train.take(1):
    print("texts:", example.numpy()[:2], "labels:", label.numpy()[:2])

encoder = layers.TextVectorization(max_tokens=40)
encoder.adapt(train.map(lambda text, label: text))
vocab = np.array(encoder.get_vocabulary())
print(vocab[:6], encoder(["a lovely film"]).numpy())

model = tf.keras.Sequential(
    [
        encoder,
        layers.Embedding(len(vocab), 12, mask_zero=True),
        layers.Bidirectional(layers.LSTM(8)),
        layers.Dense(12, activation="relu"),
        layers.Dense(1),
    ]
)
print("masking:", [layer.supports_masking for layer in model.layers])
model.compile(
    loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
    optimizer=tf.keras.optimizers.Adam(0.01),
    metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")],
)
history = model.fit(train, epochs=4, validation_data=test, validation_steps=2, verbose=2)
test_loss, test_accuracy = model.evaluate(test, verbose=0)
print(f"Test Loss: {test_loss:.5f}\nTest Accuracy: {test_accuracy:.4f}")
print(model.predict(tf.constant(["the plot was awful and dull"]), verbose=0).round(3))
