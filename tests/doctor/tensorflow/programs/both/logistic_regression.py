"""Logistic regression with mini-batches, a split, standardization, and accuracy by hand."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(22)
rng = np.random.default_rng(22)

inputs = rng.normal(loc=[5.0, 100.0, 0.0], scale=[2.0, 30.0, 0.1], size=(400, 3))
score = (inputs[:, 0] - 5) / 2 - (inputs[:, 1] - 100) / 30 + 3 * inputs[:, 2]
labels = (score + 0.3 * rng.normal(size=400) > 0).astype("float32")
x_train, y_train = tf.constant(inputs[:300], tf.float32), tf.constant(labels[:300])
x_test, y_test = tf.constant(inputs[300:], tf.float32), tf.constant(labels[300:])


class Normalize(tf.Module):
    def __init__(self, x):
        self.mean = tf.Variable(tf.math.reduce_mean(x, axis=0), trainable=False)
        self.std = tf.Variable(tf.math.reduce_std(x, axis=0), trainable=False)

    def norm(self, x):
        return (x - self.mean) / self.std


class LogisticRegression(tf.Module):
    def __init__(self):
        self.built = False

    def __call__(self, x, train=True):
        if not self.built:
            rand_w = tf.random.uniform(shape=[x.shape[-1], 1], seed=22)
            self.w = tf.Variable(rand_w)
            self.b = tf.Variable(tf.zeros([]))
            self.built = True
        z = tf.squeeze(tf.add(tf.matmul(x, self.w), self.b), axis=1)
        return z if train else tf.sigmoid(z)


def log_loss(y_pred, y):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=y_pred)
    return tf.reduce_mean(ce)


def predict_class(y_pred, thresh=0.5):
    return tf.cast(y_pred > thresh, tf.float32)


def accuracy(y_pred, y):
    y_pred = tf.math.sigmoid(y_pred)
    return tf.reduce_mean(tf.cast(tf.equal(predict_class(y_pred), y), tf.float32))


norm_x = Normalize(x_train)
x_train_norm, x_test_norm = norm_x.norm(x_train), norm_x.norm(x_test)
log_reg = LogisticRegression()
batch_size, epochs, learning_rate = 50, 30, 0.3

for epoch in range(epochs):
    batch_losses, batch_accs = [], []
    order = rng.permutation(300)
    for start in range(0, 300, batch_size):
        chosen = order[start : start + batch_size]
        x_batch, y_batch = tf.gather(x_train_norm, chosen), tf.gather(y_train, chosen)
        with tf.GradientTape() as tape:
            y_pred_batch = log_reg(x_batch)
            batch_loss = log_loss(y_pred_batch, y_batch)
        batch_accs.append(accuracy(y_pred_batch, y_batch))
        grads = tape.gradient(batch_loss, log_reg.variables)
        for g, v in zip(grads, log_reg.variables):
            v.assign_sub(learning_rate * g)
        batch_losses.append(batch_loss)
    if epoch % 10 == 0:
        test = log_loss(log_reg(x_test_norm), y_test)
        train = tf.reduce_mean(batch_losses)
        print(f"Epoch: {epoch}, training loss {train:.3f}, test loss {test:.3f}")
print(f"test accuracy {float(accuracy(log_reg(x_test_norm), y_test)):.3f}")
