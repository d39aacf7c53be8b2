"""Records of loggers have the lines and functions of the program."""

import logging
import threading

import tensorflow as tf

places = []


class Places(logging.Handler):
    def emit(self, record):
        places.append((record.lineno, record.funcName, record.module, record.getMessage()))


log = logging.getLogger("mine")
log.addHandler(Places())
log.setLevel(logging.DEBUG)
v = tf.Variable(1.0)


def step(k):
    with tf.GradientTape() as tape:
        log.debug("inside %d", k)
        y = v * float(k + 1)
    log.info("gradient %s", tape.gradient(y, v).numpy())


step(0)
worker = threading.Thread(target=step, args=(1,))
worker.start()
worker.join()
log.warning("end", stacklevel=1)
print(places)
