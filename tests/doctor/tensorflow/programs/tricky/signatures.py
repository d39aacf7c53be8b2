"""`inspect.signature` and the names of what the doctor listens to."""

import inspect

import tensorflow as tf

for owner, names in (
    (tf.GradientTape, ("gradient", "jacobian", "batch_jacobian", "watch", "reset", "__enter__")),
    (tf.Variable, ("assign", "assign_add", "assign_sub")),
):
    for name in names:
        function = getattr(owner, name)
        print(name, inspect.signature(function), function.__name__, function.__qualname__)
        print(function.__module__, (function.__doc__ or "").splitlines()[:1])
