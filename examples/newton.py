"""Newton's method on Rosenbrock's valley: second derivatives from a tape inside a tape."""

import tensorflow as tf

point = tf.Variable([-1.2, 1.0], dtype=tf.float64)


def valley(x):
    return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2


for step in range(7):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            height = valley(point)
        # Taken inside the outer tape, the gradient is itself something to differentiate.
        derivative = inner.gradient(height, point)
    curvature = outer.jacobian(derivative, point)

    # The minimum of the parabola that touches the valley here: curvature @ move = derivative.
    move = tf.linalg.solve(curvature, derivative[:, tf.newaxis])
    point.assign_sub(tf.squeeze(move, axis=1))
    print(f"step {step}   height {height.numpy():14.8f}   at {point.numpy().round(6)}")

print(f"minimum at ({point[0]:.3f}, {point[1]:.3f})")
