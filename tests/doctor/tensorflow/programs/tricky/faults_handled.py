"""`faulthandler` is the program's."""

import faulthandler

import tensorflow as tf

print(faulthandler.is_enabled())
v = tf.Variable(1.0)
with open("dump.txt", "w") as file:
    faulthandler.enable(file)
    with tf.GradientTape() as tape:
        y = v * 2.0
        faulthandler.dump_traceback(file, all_threads=False)
    print(tape.gradient(y, v).numpy(), faulthandler.is_enabled())
    faulthandler.disable()
with open("dump.txt") as file:
    lines = [line for line in file if "faults_handled" in line]
print([line.rsplit("/", 1)[-1].strip() for line in lines])
open("dump.txt", "w").close()
