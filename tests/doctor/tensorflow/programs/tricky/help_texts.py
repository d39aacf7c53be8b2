"""What `help` says."""

import pydoc

import tensorflow as tf

for thing in (tf.GradientTape.gradient, tf.Variable.assign, tf.GradientTape.watch):
    print(pydoc.plain(pydoc.render_doc(thing))[:400])
