"""A generator learns to imitate a distribution: two players, two tapes on one computation."""

import tensorflow as tf

tf.random.set_seed(7)


def network(inputs, hidden):
    shapes = ([inputs, hidden], [hidden], [hidden, 1], [1])
    return [tf.Variable(0.3 * tf.random.normal(shape)) for shape in shapes]


def run(weights, x):
    w1, b1, w2, b2 = weights
    return tf.nn.leaky_relu(x @ w1 + b1) @ w2 + b2


def loss_if(label, logits):
    labels = tf.fill(logits.shape, label)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def descend(weights, gradients):
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.assign_sub(0.05 * gradient)


generator, judge = network(4, 16), network(1, 16)

for step in range(401):
    real = tf.random.normal([64, 1], mean=3.0, stddev=0.5)
    noise = tf.random.normal([64, 4])
    with tf.GradientTape() as generator_tape, tf.GradientTape() as judge_tape:
        fake = run(generator, noise)
        on_real, on_fake = run(judge, real), run(judge, fake)
        generator_loss = loss_if(1.0, on_fake)  # it wants to be taken for real
        judge_loss = loss_if(1.0, on_real) + loss_if(0.0, on_fake)

    descend(generator, generator_tape.gradient(generator_loss, generator))
    descend(judge, judge_tape.gradient(judge_loss, judge))

    if step % 100 == 0:
        mean = tf.reduce_mean(fake)
        print(f"step {step:3}   judge {judge_loss:.3f}   mean of the fakes {mean:6.3f}")

print(f"the real ones have mean 3.0, the fakes {mean:.1f}")
