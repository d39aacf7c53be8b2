"""The moving averages of variables."""

from __future__ import annotations

from typing import Any

from ..framework import convert
from ..framework.variable import Variable


class ExponentialMovingAverage:
    """Keeps for variables the mean of their values, in which older ones count less and less.

    >>> import gradtape as tf
    >>> v, mean = tf.Variable(0.0), tf.train.ExponentialMovingAverage(decay=0.9)
    >>> mean.apply([v])
    >>> _ = v.assign(10.0)
    >>> mean.apply([v])
    >>> mean.average(v).numpy().round(3).item()
    1.0
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._num_updates, self._name = decay, num_updates, name
        self._zero_debias = zero_debias
        self._averages: dict[int, tuple[Any, Variable]] = {}

    @property
    def name(self) -> str:
        """The name, which those of the averages end in."""
        return self._name

    def apply(self, var_list: Any = None) -> None:
        """Take the present values of the variables into their means, the first time as they are."""
        decay = float(convert.to_tensor(self._decay)._value)
        if self._num_updates is not None:
            count = float(convert.to_tensor(self._num_updates)._value)
            decay = min(decay, (1.0 + count) / (10.0 + count))
        for var in var_list or ():
            if not isinstance(var, Variable):
                raise TypeError(
                    "tf.train.ExponentialMovingAverage does not support non-Variable tensors when "
                    "eager execution is enabled."
                )
            if var._value.dtype.kind not in "fV":
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if id(var) not in self._averages:
                made = Variable(var, trainable=False, name=self.average_name(var))
                self._averages[id(var)] = var, made
            mean = self._averages[id(var)][1]
            mean.assign_sub((convert.to_tensor(mean) - var) * (1.0 - decay))

    def average(self, var: Any) -> Any:
        """The variable that holds the mean of a variable, or None."""
        found = self._averages.get(id(var))
        return None if found is None else found[1]

    def average_name(self, var: Any) -> str:
        """The name of the mean of a variable."""
        return f"{var.name.partition(':')[0]}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """The variables by the names of their means."""
        kept = [var for var, _ in self._averages.values()]
        given = kept if moving_avg_variables is None else moving_avg_variables
        return {self.average_name(var): var for var in given}
