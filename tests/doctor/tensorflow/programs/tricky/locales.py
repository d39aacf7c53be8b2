"""The locale and the encodings."""

import locale
import sys

import tensorflow as tf

v = tf.Variable(1234.5)
locale.setlocale(locale.LC_ALL, "C")
with tf.GradientTape() as tape:
    y = v * v
print(f"{tape.gradient(y, v).numpy():n}", locale.getlocale(), locale.localeconv()["decimal_point"])
print(locale.getpreferredencoding(False), sys.getdefaultencoding(), sys.getfilesystemencoding())
print(locale.setlocale(locale.LC_ALL), sys.flags.utf8_mode)
