"""Causal attention learns to repeat the previous token: einsum, a mask, clipped gradients."""

import tensorflow as tf

tf.random.set_seed(2)
TOKENS, WIDTH, LENGTH, BATCH = 8, 16, 10, 32


def weights(*shape):
    return tf.Variable(tf.random.normal(shape, stddev=WIDTH**-0.5))


tokens_in, places = weights(TOKENS, WIDTH), weights(LENGTH, WIDTH)
query, key, value, tokens_out = (weights(WIDTH, n) for n in (WIDTH, WIDTH, WIDTH, TOKENS))
model = [tokens_in, places, query, key, value, tokens_out]
past = tf.linalg.band_part(tf.ones([LENGTH, LENGTH], tf.bool), -1, 0)  # no token sees the next


def predict(tokens):
    x = tf.gather(tokens_in, tokens) + places
    q, k, v = x @ query, x @ key, x @ value
    scores = tf.einsum("bqd,bkd->bqk", q, k) / WIDTH**0.5
    attention = tf.nn.softmax(tf.where(past, scores, -1e9))
    return attention @ v @ tokens_out, attention


for step in range(301):
    tokens = tf.random.uniform([BATCH, LENGTH], maxval=TOKENS, dtype=tf.int32)
    with tf.GradientTape() as tape:
        logits, attention = predict(tokens)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, :-1], logits[:, 1:])
        )
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, model), 1.0)
    for weight, gradient in zip(model, gradients, strict=True):
        weight.assign_sub(0.5 * tf.convert_to_tensor(gradient))
    if step % 100 == 0:
        print(f"step {step:3}   loss {loss.numpy():.3f}")

guesses = tf.argmax(logits[:, 1:], axis=-1, output_type=tf.int32)
right = tf.reduce_mean(tf.cast(guesses == tokens[:, :-1], tf.float32))
print(f"{right:.0%} of the tokens repeated; where the last place looks:")
print(attention[0, -1].numpy().round(1))
