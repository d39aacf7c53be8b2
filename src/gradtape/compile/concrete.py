"""What a concrete function accepts: the arguments of its trace, or its tensors one by one."""

from __future__ import annotations

import inspect
from typing import Any

from .. import dtypes, errors
from ..framework import convert
from ..framework.tensor import Tensor
from ..framework.variable import Variable
from .differences import Key
from .kinds import Found, read
from .kinship import text
from .signature import Bound, Signature
from .traces import rows


class ConcreteSignature(Signature):
    """The parameters of one trace: none has a default, each must fit what it was traced for."""

    def __init__(self, signature: Signature, bound: Bound, trace: Key, name: str) -> None:
        self.input_signature, self.reduce_retracing = None, False
        self.defaults = {}
        self.constraints = dict(zip(*trace, strict=True))
        parameters = [
            inspect.Parameter(name, getattr(inspect.Parameter, how))
            for name, how in rows(signature, trace[0])
        ]
        self._take(parameters)
        self._bound, self._name = bound, name
        self.keywords = _keywords(bound)

    def returned(self, outputs: Any) -> None:
        """Messages show what the function returns, a structure of tensors."""
        self.returns = f" -> {text(read(outputs, Found()))}"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], specs: bool = False) -> Bound:
        """The arguments as of the function, or its tensors in their order; TypeError if neither."""
        try:
            return super().bind(args, kwargs, specs)
        except TypeError as structured:
            try:
                leaves = self._flat(list(args), dict(kwargs))
            except TypeError as flat:
                raise TypeError(
                    f"{structured}\nFallback to flat signature also failed due to: {flat}"
                ) from None
        for at, (leaf, like) in enumerate(zip(leaves, self._bound.leaves, strict=True)):
            if leaf.dtype != like.dtype:
                wanted, given = (convert.c_name(_numpy(t.dtype)) for t in (like, leaf))
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"cannot compute {self._name} as input #{at}(zero-based) was expected to be a "
                    f"{wanted} tensor but is a {given} tensor [Op:{self._name}]",
                )
        args, kwargs = self._bound.rebuild(leaves)
        names = self._bound.key[0]
        return Bound(self, names, [*args, *kwargs.values()], len(kwargs))

    def _flat(self, args: list[Any], kwargs: dict[str, Any]) -> list[Any]:
        names, short = self.keywords, self._name.removeprefix("__inference_").rpartition("_")[0]
        summary = f"{short}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{summary} takes {len(names)} positional arguments, got {len(args)}.")
        given = len(args)
        for name in names[given:]:
            if name not in kwargs:
                missing = sorted({*names[len(args) :]} - {*kwargs})
                raise TypeError(f"{summary} missing required arguments: {', '.join(missing)}.")
            args.append(kwargs.pop(name))
        for name in kwargs:
            if name in names:
                raise TypeError(f"{summary} got two values for '{name}'.")
        if kwargs:
            unknown = ", ".join(sorted(kwargs))
            raise TypeError(f"{summary} got unexpected keyword arguments: {unknown}.")
        for at, arg in enumerate(args):
            if not isinstance(arg, Tensor):
                if isinstance(arg, Variable):
                    raise TypeError(
                        "provided list of inputs contains objects other than 'EagerTensor'. "
                        f"Item {at} is type: ResourceVariable"
                    )
                raise TypeError(
                    f"{summary}: expected argument #{at}(zero-based) to be a Tensor; got "
                    f"{type(arg).__name__} ({arg})."
                )
        return args


def _numpy(dtype: dtypes.DType) -> Any:
    import numpy as np

    return np.dtype(dtype.as_numpy_dtype)


def _keywords(bound: Bound) -> list[str]:
    """The name of each tensor: that of its argument, and a number where it has several."""
    names: list[str] = []
    for name, kind in zip(*bound.key, strict=True):
        for own in _tensor_names(kind):
            wanted, count = own or name, 0
            proposal = wanted
            while proposal in names:
                count += 1
                proposal = f"{wanted}_{count}"
            names.append(proposal)
    return names


def _tensor_names(kind: Any) -> list[str | None]:
    """For each tensor of a kind the name that its spec gave it."""
    if kind[0] == "tensor":
        return [kind[3]]
    parts = kind[2] if len(kind) == 3 else ()
    return [name for part in parts for name in _tensor_names(part)]
