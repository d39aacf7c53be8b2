"""word2vec twice: skip-grams with negative samples, and tf.nn.nce_loss on the same corpus."""

import io
import re

import numpy as np
import tensorflow as tf

SEED = 42
tf.keras.utils.set_random_seed(SEED)

CORPUS = """the wide road shimmered in the hot sun
a cold wind blew over the wide sea
the sun went down behind the cold hills
the road led over the hills to the sea"""
sentences = [re.findall(r"\w+", line) for line in CORPUS.splitlines()]
vocab = {"<pad>": 0}
for sentence in sentences:
    for token in sentence:
        vocab.setdefault(token, len(vocab))
inverse = {index: token for token, index in vocab.items()}
VOCAB, DIM, NEGATIVE, WINDOW = len(vocab), 8, 4, 2
print(VOCAB, "words")


def skip_grams():
    for sentence in sentences:
        ids = [vocab[token] for token in sentence]
        for k, target in enumerate(ids):
            for context in ids[max(0, k - WINDOW) : k] + ids[k + 1 : k + 1 + WINDOW]:
                yield target, context


def training_data():
    targets, contexts, labels = [], [], []
    for target, context in skip_grams():
        positive = tf.constant([[context]], tf.int64)
        negatives, _, _ = tf.random.log_uniform_candidate_sampler(
            true_classes=positive, num_true=1, num_sampled=NEGATIVE, unique=True,
            range_max=VOCAB, seed=SEED, name="negative_sampling",
        )  # fmt: skip
        targets.append(target)
        contexts.append(tf.concat([positive[0], negatives], 0))
        labels.append([1] + [0] * NEGATIVE)
    return np.array(targets), np.array(contexts), np.array(labels)


targets, contexts, labels = training_data()
print("targets", targets.shape, "contexts", contexts.shape, "labels", labels.shape)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels)).shuffle(500, seed=1)
dataset = dataset.batch(20, drop_remainder=True).cache()


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super().__init__()
        self.target_embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim, name="w2v")
        self.context_embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        word = self.target_embedding(target)
        return tf.einsum("be,bce->bc", word, self.context_embedding(context))


word2vec = Word2Vec(VOCAB, DIM)
word2vec.compile(optimizer="adam", loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True))
word2vec.fit(dataset, epochs=4, verbose=2)
with io.open("vectors.tsv", "w", encoding="utf-8") as out:
    for index, vector in enumerate(word2vec.get_layer("w2v").get_weights()[0]):
        out.write(inverse[index] + "\t" + "\t".join(f"{x:.5f}" for x in vector) + "\n")

# The older way.
embeddings = tf.Variable(tf.random.uniform([VOCAB, DIM], -1.0, 1.0))
nce_weights = tf.Variable(tf.random.truncated_normal([VOCAB, DIM], stddev=DIM**-0.5))
nce_biases = tf.Variable(tf.zeros([VOCAB]))
optimizer = tf.keras.optimizers.SGD(0.2)
pairs = np.array([*skip_grams()])
for epoch in range(4):
    total = 0.0
    for start in range(0, len(pairs), 16):
        batch = pairs[start : start + 16]
        with tf.GradientTape() as tape:
            embed = tf.nn.embedding_lookup(embeddings, batch[:, 0])
            loss = tf.reduce_mean(
                tf.nn.nce_loss(nce_weights, nce_biases, batch[:, 1:], embed, NEGATIVE, VOCAB)
            )
        variables = [embeddings, nce_weights, nce_biases]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        total += float(loss)
    print(f"nce epoch {epoch}: {total:.4f}")
