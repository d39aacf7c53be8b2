"""An LSTM reads reviews: words to numbers, embeddings, padding that a mask keeps out."""

import random

import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(6)

GOOD = ["wonderful", "clever", "moving", "great", "charming"]
BAD = ["boring", "clumsy", "awful", "dull", "tiresome"]
FILLER = ["the", "a", "film", "story", "plot", "was", "really", "quite", "with", "its", "ending"]


def review():
    """Return a sentence and whether it praises: "not" turns the word that follows it around."""
    praises = random.random() < 0.5
    negated = random.random() < 0.4
    word = random.choice(GOOD if praises != negated else BAD)
    before, after = (random.choices(FILLER, k=random.randint(1, 6)) for _ in range(2))
    words = [*before, *(["not"] if negated else []), word, *after]
    return " ".join(words).capitalize() + ".", int(praises)


texts, labels = zip(*[review() for _ in range(640)], strict=True)
dataset = tf.data.Dataset.from_tensor_slices((list(texts), list(labels)))
training = dataset.take(512).shuffle(512, seed=6).batch(32)
validation = dataset.skip(512).batch(32)

encoder = layers.TextVectorization(max_tokens=50, output_sequence_length=14)
encoder.adapt(training.map(lambda text, label: text))
vocabulary = encoder.get_vocabulary()
print(f"{len(vocabulary)} words, the most frequent ones {', '.join(vocabulary[2:7])}")

model = keras.Sequential(
    [
        layers.Embedding(len(vocabulary), 16, mask_zero=True),
        layers.Bidirectional(layers.LSTM(16)),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    training.map(lambda text, label: (encoder(text), label)),
    epochs=4,
    validation_data=validation.map(lambda text, label: (encoder(text), label)),
    shuffle=False,  # the dataset does it
    verbose=0,
).history
for epoch, (loss, val_loss) in enumerate(zip(history["loss"], history["val_loss"], strict=True), 1):
    print(f"epoch {epoch}   loss {loss:.6f}   val_loss {val_loss:.6f}")

for text in ["A great film.", "Really not great with its story.", "The plot was not dull."]:
    (logit,) = model.predict(encoder([text]), verbose=0)[0]
    print(f"{'praise' if logit > 0 else 'blame'}: {text}")
