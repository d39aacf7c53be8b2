"""The workloads of `eager.py` and `function.py`: the same step as every library spells it.

A workload file defines any of the builders `tape(tf)` (gradtape and TensorFlow), `torch()`,
`torch_compiled()`, `jax()`, `autograd()` and `numpy()`. A builder makes its data and parameters,
always the same ones, and returns a step: called without arguments it does the whole work once. A
new file here is a new workload.

A step is a `Step`, or a plain function that returns the list of gradients. A training step
returns the pair of its loss and its gradients; compiled, it returns its loss alone, as people
write it, so that no gradient needs to be kept. What the libraries compute is compared.
"""


class Step:
    """A function of its data, and the parameters that it changes, if it does."""

    def __init__(self, run, data=(), params=None, layout=list):
        self.run, self.data, self.params = run, tuple(data), params
        self.layout = layout  # of parameters and gradients, as the other libraries have them

    def __call__(self):
        return self.run(*self.data)


def torch_training(loss, params, data, rate, layout=list):
    """SGD on `loss(params, *data)` with PyTorch."""
    import torch

    params, data = [torch.tensor(p, requires_grad=True) for p in params], map(torch.tensor, data)

    def step(*data):
        value = loss(params, *data)
        grads = torch.autograd.grad(value, params)
        with torch.no_grad():
            for p, g in zip(params, grads, strict=True):
                p -= rate * g
        return value, grads

    return Step(step, data, params, layout)


def torch_compiled_training(loss, params, data, rate, layout=list):
    """The same under torch.compile, with torch.func.

    `torch.autograd.grad` would break the step into several graphs, which takes longer.
    """
    import torch

    params, data = [torch.tensor(p) for p in params], map(torch.tensor, data)
    derivative = torch.func.grad_and_value(loss)

    @torch.compile
    def step(*data):
        grads, value = derivative(params, *data)
        for p, g in zip(params, grads, strict=True):
            p -= rate * g
        return value

    return Step(step, data, params, layout)


def jax_training(loss, params, data, rate):
    """The same with JAX, which may write the new parameters over the old ones."""
    import jax

    params, data = [jax.numpy.array(p) for p in params], map(jax.numpy.array, data)

    def update(params, *data):
        value, grads = jax.value_and_grad(loss)(params, *data)
        return value, [p - rate * g for p, g in zip(params, grads, strict=True)]

    update = jax.jit(update, donate_argnums=0)

    def step(*data):
        value, params[:] = update(params, *data)
        return value.block_until_ready()

    return Step(step, data, params)
