"""Values that are declared constant."""

from __future__ import annotations

import numpy as np

from .declare import op
from .infer import same
from .reasons import Missing

guarantee_const = op(
    "guarantee_const", lambda a: np.asarray(a),
    Missing("a value that is guaranteed to be constant has no derivative"),
    shape=same, label="GuaranteeConst", sample=lambda d: [([d(2, 3)], {})],
)  # fmt: skip
