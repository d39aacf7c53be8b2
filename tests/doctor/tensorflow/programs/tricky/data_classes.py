"""Dataclasses, named tuples and enumerations with tensors."""

import dataclasses
import enum
from typing import NamedTuple

import tensorflow as tf


@dataclasses.dataclass(eq=False)
class State:
    w: tf.Variable
    rate: float = 0.5
    losses: list = dataclasses.field(default_factory=list)


class Pair(NamedTuple):
    loss: tf.Tensor
    grad: tf.Tensor


class Mode(enum.Enum):
    TRAIN = "train"


state = State(tf.Variable([1.0, 3.0]))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(state.w**2)
    pair = Pair(loss, tape.gradient(loss, state.w))
    state.w.assign_sub(state.rate * 0.1 * pair.grad)
    state.losses.append(float(pair.loss))
other = dataclasses.replace(state, rate=0.1)
print(state.losses, other.w is state.w, other.rate, pair._fields, Mode.TRAIN)
print([f.name for f in dataclasses.fields(state)], pair.grad.numpy())
