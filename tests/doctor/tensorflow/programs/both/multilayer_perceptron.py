"""A perceptron with modules of one's own: Xavier weights, Adam by hand, softmax by hand."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(10)


def xavier_init(shape):
    lim = np.sqrt(6.0 / sum(shape))
    return tf.constant(rng.uniform(-lim, lim, size=shape), tf.float32)


class DenseLayer(tf.Module):
    def __init__(self, in_dim, out_dim, activation=tf.identity):
        super().__init__()
        self.w = tf.Variable(xavier_init((in_dim, out_dim)))
        self.b = tf.Variable(tf.zeros([out_dim]))
        self.activation = activation

    def __call__(self, x):
        return self.activation(tf.matmul(x, self.w) + self.b)


class MLP(tf.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    @tf.function
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Adam:
    def __init__(self, learning_rate=1e-2, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.settings = learning_rate, beta_1, beta_2, ep
        self.t, self.slots = 0, None

    def apply_gradients(self, grads, variables):
        rate, beta_1, beta_2, ep = self.settings
        if self.slots is None:
            self.slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v)))
                          for v in variables]  # fmt: skip
        self.t += 1
        for (m, s), d_var, var in zip(self.slots, grads, variables):
            m.assign(beta_1 * m + (1 - beta_1) * d_var)
            s.assign(beta_2 * s + (1 - beta_2) * tf.square(d_var))
            m_hat, s_hat = m / (1 - beta_1**self.t), s / (1 - beta_2**self.t)
            var.assign_sub(rate * m_hat / (tf.sqrt(s_hat) + ep))


def cross_entropy_loss(y_pred, y):
    sparse_ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=y_pred)
    return tf.reduce_mean(sparse_ce)


# Three arms of a spiral.
turn = np.repeat(np.arange(3), 60)
radius = np.tile(np.linspace(0.1, 1, 60), 3)
angle = turn * 2.1 + radius * 3 + 0.1 * rng.normal(size=180)
x = tf.constant(np.stack([radius * np.sin(angle), radius * np.cos(angle)], 1), tf.float32)
y = tf.constant(turn)

model = MLP([DenseLayer(2, 24, tf.nn.relu), DenseLayer(24, 24, tf.nn.relu), DenseLayer(24, 3)])
optimizer = Adam()
for epoch in range(120):
    with tf.GradientTape() as tape:
        loss = cross_entropy_loss(model(x), y)
    variables = model.trainable_variables
    optimizer.apply_gradients(tape.gradient(loss, variables), variables)
    if epoch % 20 == 0:
        class_preds = tf.argmax(tf.nn.softmax(model(x)), axis=1)
        acc = tf.reduce_mean(tf.cast(tf.equal(tf.cast(class_preds, y.dtype), y), tf.float32))
        print(f"epoch {epoch:3d}: loss {float(loss):.2f}, accuracy {float(acc):.1f}")
print("parameters:", sum(int(tf.size(v)) for v in model.trainable_variables))
