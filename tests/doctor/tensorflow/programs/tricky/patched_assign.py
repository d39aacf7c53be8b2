"""A program that replaces the methods of variables."""

import tensorflow as tf

v = tf.Variable(1.0)
owner = type(v)
names = ("assign", "assign_add", "assign_sub")
before = {name: getattr(owner, name) for name in names}
calls = []


def patched(name):
    def method(self, *args, **kwargs):
        calls.append(name)
        return before[name](self, *args, **kwargs)

    return method


for name in names:
    setattr(owner, name, patched(name))
for _ in range(2):
    with tf.GradientTape() as tape:
        y = v * v
    v.assign_sub(0.1 * tape.gradient(y, v))
v.assign_add(1.0)
v.assign(v * 2.0)
for name in names:
    setattr(owner, name, before[name])
v.assign(5.0)
print(v.numpy(), calls, all(getattr(owner, n) is before[n] for n in names))
