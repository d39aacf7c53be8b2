"""Optimizers of one's own: by hand with slots, by subclassing Keras's, and with a schedule."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(46)


class Momentum:
    """The smallest thing that may be called an optimizer."""

    def __init__(self, rate=0.05, beta=0.9):
        self.rate, self.beta, self.velocity = rate, beta, {}

    def apply(self, grads, variables):
        for g, v in zip(grads, variables):
            m = self.velocity.setdefault(v.ref(), tf.Variable(tf.zeros_like(v), trainable=False))
            m.assign(self.beta * m + g)
            v.assign_sub(self.rate * m)


class AdamByHand(tf.Module):
    def __init__(self, learning_rate=0.05, beta_1=0.9, beta_2=0.999, ep=1e-7):
        self.beta_1, self.beta_2, self.ep, self.t = beta_1, beta_2, ep, 1.0
        self.learning_rate, self.v_dvar, self.s_dvar, self.built = learning_rate, [], [], False

    def apply(self, grads, variables):
        if not self.built:
            for var in variables:
                self.v_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
                self.s_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, variables)):
            self.v_dvar[i].assign(self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var)
            self.s_dvar[i].assign(
                self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var)
            )
            v_corrected = self.v_dvar[i] / (1 - self.beta_1**self.t)
            s_corrected = self.s_dvar[i] / (1 - self.beta_2**self.t)
            var.assign_sub(self.learning_rate * v_corrected / (tf.sqrt(s_corrected) + self.ep))
        self.t += 1.0


class SignSGD(keras.optimizers.Optimizer):
    """Moves every weight by the same amount, whatever the size of its gradient."""

    def build(self, variables):
        if not self.built:
            super().build(variables)
            self.seen = [self.add_variable_from_reference(v, name="seen") for v in variables]

    def update_step(self, gradient, variable, learning_rate):
        seen = self.seen[self._get_variable_index(variable)]
        self.assign(seen, 0.5 * (seen + gradient))
        self.assign_sub(variable, tf.cast(learning_rate, variable.dtype) * tf.sign(seen))

    def get_config(self):
        return super().get_config()


def rosenbrock(x, y):
    return (1.0 - x) ** 2 + 10.0 * (y - x**2) ** 2


for optimizer in (Momentum(0.002), AdamByHand(0.05)):
    x, y = tf.Variable(-1.0), tf.Variable(1.5)
    for step in range(100):
        with tf.GradientTape() as tape:
            loss = rosenbrock(x, y)
        optimizer.apply(tape.gradient(loss, [x, y]), [x, y])
    name = type(optimizer).__name__
    print(f"{name}: f({float(x):.4f}, {float(y):.4f}) = {float(loss):.6f}")

inputs = np.random.normal(size=(128, 6)).astype("float32")
targets = inputs @ np.linspace(-1, 1, 6, dtype="float32")[:, None]
rate = keras.optimizers.schedules.ExponentialDecay(0.05, 20, 0.7)
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
model.compile(optimizer=SignSGD(learning_rate=rate), loss="mse")
model.fit(inputs, targets, epochs=4, batch_size=16, verbose=2)
names = [v.name for v in model.optimizer.variables]
print("iterations", int(model.optimizer.iterations), names[:3])
model.save("signed.keras")
loaded = keras.models.load_model("signed.keras", custom_objects={"SignSGD": SignSGD})
print(type(loaded.optimizer).__name__, f"{loaded.evaluate(inputs, targets, verbose=0):.6f}")
