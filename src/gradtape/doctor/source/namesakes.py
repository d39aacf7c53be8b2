"""NumPy's functions and the names of the recorded ones that do the same."""

from __future__ import annotations

# Same arguments in the same order, as far as people give them.
SAME = {
    "mean": "reduce_mean", "sum": "reduce_sum", "prod": "reduce_prod", "max": "reduce_max",
    "amax": "reduce_max", "min": "reduce_min", "amin": "reduce_min", "std": "math.reduce_std",
    "var": "math.reduce_variance", "exp": "exp", "expm1": "math.expm1", "log": "math.log",
    "log1p": "math.log1p", "sqrt": "sqrt", "square": "square", "abs": "abs", "absolute": "abs",
    "fabs": "abs", "negative": "negative", "reciprocal": "math.reciprocal", "sin": "sin",
    "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "maximum": "maximum", "minimum": "minimum",
    "clip": "clip_by_value", "power": "pow", "float_power": "pow", "add": "add",
    "subtract": "subtract", "multiply": "multiply", "divide": "divide", "true_divide": "divide",
    "matmul": "matmul", "reshape": "reshape", "transpose": "transpose", "squeeze": "squeeze",
    "expand_dims": "expand_dims", "stack": "stack", "concatenate": "concat", "where": "where",
    "dot": "tensordot",
    "cumsum": "cumsum", "cumprod": "math.cumprod", "tile": "tile",
    "tensordot": "tensordot", "einsum": "einsum", "trace": "linalg.trace", "roll": "roll",
    "broadcast_to": "broadcast_to", "take": "gather", "sign": "sign",
    "diff": "experimental.numpy.diff", "ravel": "experimental.numpy.ravel",
}  # fmt: skip
# Those whose counterpart wants one more argument, at the end.
EXTRA = {"concatenate": "axis=0", "dot": "axes=1"}
# The value as it is.
IDENTITIES = frozenset(
    {"array", "asarray", "asanyarray", "ascontiguousarray", "float32", "float64"}
)
SCIPY = {
    "special.expit": "sigmoid", "special.erf": "math.erf", "special.erfc": "math.erfc",
    "special.gammaln": "math.lgamma", "special.digamma": "math.digamma",
    "special.logsumexp": "reduce_logsumexp", "special.softmax": "nn.softmax",
    "special.log_softmax": "nn.log_softmax", "special.xlogy": "math.xlogy",
    "special.ndtri": "math.ndtri", "special.i0": "math.bessel_i0", "linalg.inv": "linalg.inv",
    "linalg.det": "linalg.det", "linalg.solve": "linalg.solve", "linalg.norm": "norm",
    "linalg.expm": "linalg.expm",
}  # fmt: skip
LINALG = {
    "linalg.inv": "linalg.inv", "linalg.det": "linalg.det", "linalg.solve": "linalg.solve",
    "linalg.norm": "norm", "linalg.cholesky": "linalg.cholesky", "fft.fft": "signal.fft",
}  # fmt: skip
MATH = {
    "exp": "exp", "log": "math.log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan",
    "tanh": "tanh", "pow": "pow", "fabs": "abs", "log1p": "math.log1p", "expm1": "math.expm1",
    "atan": "atan", "atan2": "atan2", "asin": "asin", "acos": "acos", "sinh": "sinh",
    "cosh": "cosh", "erf": "math.erf", "lgamma": "math.lgamma",
}  # fmt: skip
# Methods of arrays that are functions of tensors.
METHODS = {
    "mean": "reduce_mean", "sum": "reduce_sum", "max": "reduce_max", "min": "reduce_min",
    "prod": "reduce_prod", "std": "math.reduce_std", "var": "math.reduce_variance",
    "reshape": "reshape", "transpose": "transpose", "squeeze": "squeeze", "cumsum": "cumsum",
}  # fmt: skip


def recorded(name: str) -> str | None:
    """The recorded function for a function's full name: `reduce_mean` for `numpy.mean`."""
    package, _, rest = name.partition(".")
    table = {"numpy": {**SAME, **LINALG}, "scipy": SCIPY, "math": MATH}.get(package, {})
    if not package:
        return None
    return {"abs": "abs", "max": "maximum", "min": "minimum", "sum": "add_n"}.get(name) or (
        table.get(rest)
    )
