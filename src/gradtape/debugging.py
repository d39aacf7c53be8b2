"""`tf.debugging`: assertions about values, shapes and dtypes, and a check for NaN and infinity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import convert, dtypes, errors
from .core.apply import wrong_dtype
from .core.record import Value
from .ops import checks, compare
from .ops import reduce as reduce_ops
from .ops.elementwise import absolute_difference_within  # placeholder
