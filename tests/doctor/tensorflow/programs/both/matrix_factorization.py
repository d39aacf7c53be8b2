"""Collaborative filtering: factors and biases for users and films, by gather and its gradient."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(27)
USERS, FILMS, RANK = 40, 30, 3

true = rng.normal(size=(USERS, RANK)) @ rng.normal(size=(RANK, FILMS))
users, films = np.nonzero(rng.random((USERS, FILMS)) < 0.5)
ratings = np.clip(3 + true[users, films] + 0.2 * rng.normal(size=len(users)), 0.5, 5.0)
order = rng.permutation(len(users))
users, films = users[order], films[order]
ratings = ratings[order].astype("float32")
cut = int(0.8 * len(ratings))
print(cut, "ratings to learn from,", len(ratings) - cut, "to check")

user_factors = tf.Variable(0.3 * rng.normal(size=(USERS, RANK)).astype("float32"))
film_factors = tf.Variable(0.3 * rng.normal(size=(FILMS, RANK)).astype("float32"))
user_bias = tf.Variable(tf.zeros([USERS]))
film_bias = tf.Variable(tf.zeros([FILMS]))
mean = float(ratings[:cut].mean())
variables = [user_factors, film_factors, user_bias, film_bias]


def predict(user, film):
    product = tf.gather(user_factors, user) * tf.gather(film_factors, film)
    biases = tf.gather(user_bias, user) + tf.gather(film_bias, film)
    return mean + tf.reduce_sum(product, axis=1) + biases


def update(variable, gradient, rate):
    """Only the rows that the batch has touched."""
    if isinstance(gradient, tf.IndexedSlices):
        delta = tf.IndexedSlices(rate * gradient.values, gradient.indices, gradient.dense_shape)
        variable.scatter_sub(delta)
    else:
        variable.assign_sub(rate * gradient)


for epoch in range(8):
    total = 0.0
    for start in range(0, cut, 64):
        batch = slice(start, min(start + 64, cut))
        with tf.GradientTape() as tape:
            error = predict(users[batch], films[batch]) - ratings[batch]
            loss = tf.reduce_mean(error**2)
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            update(variable, gradient, 2.0)
        total += float(tf.reduce_sum(error**2))
    held_out = predict(users[cut:], films[cut:]) - ratings[cut:]
    rmse = float(tf.sqrt(tf.reduce_mean(held_out**2)))
    print(f"epoch {epoch}: train {np.sqrt(total / cut):.3f}, test {rmse:.3f}")

best = tf.math.top_k(predict(np.zeros(FILMS, "int64"), np.arange(FILMS)), k=3)
print("for the first user:", best.indices.numpy().tolist())
