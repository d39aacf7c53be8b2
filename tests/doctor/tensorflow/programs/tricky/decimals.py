"""Decimal contexts and fractions in a program that has a tape."""

import decimal
import fractions

import tensorflow as tf

decimal.getcontext().prec = 5
v = tf.Variable(3.0)
with decimal.localcontext() as context, tf.GradientTape() as tape:
    context.prec = 3
    y = v * float(decimal.Decimal(1) / decimal.Decimal(7))
    print(decimal.getcontext().prec)
print(tape.gradient(y, v).numpy(), decimal.getcontext().prec, decimal.Decimal(1) / 7)
print(decimal.getcontext().flags[decimal.Inexact], fractions.Fraction(1, 3) + 1)
