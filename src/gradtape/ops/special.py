"""SciPy's special functions, imported at their first call: SciPy costs more than all of gradtape."""

from __future__ import annotations

from typing import Any

import numpy as np


class _Special:
    """`SPECIAL.erf` is `scipy.special.erf`, looked up when called, in the operand's own dtype."""

    def __getattr__(self, name: str) -> Any:
        def function(*values: Any) -> Any:
            from scipy import special

            with np.errstate(all="ignore"):
                result = getattr(special, name)(*values)
            return np.asarray(result).astype(values[-1].dtype, copy=False)[()]

        function.__name__ = name
        setattr(self, name, function)
        return function


SPECIAL = _Special()
