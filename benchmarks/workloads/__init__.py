"""The workloads of `eager.py`: one file each, holding the same step as every library spells it.

A workload file defines any of the builders `tape(tf)` (gradtape and TensorFlow), `torch()`,
`autograd()` and `numpy()`. A builder makes its data and parameters, always the same ones, and
returns `step`: a function without arguments that does the whole work once and returns the list
of gradients, which are compared across the libraries. A new file here is a new workload.
"""
