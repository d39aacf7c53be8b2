"""The expressions of a fixed kind of result that programs are made of, separated by bars.

`{0}` and `{1}` are operands. What needs parameters or a shape of its own is in `families`.
"""

from __future__ import annotations

# What a function of a limited domain is applied to, so that most programs stay finite.
INTO = {
    "unit": "tf.tanh({0}) * 0.75",
    "positive": "tf.abs({0}) + 0.5",
    "fraction": "tf.sigmoid({0})",
}

UNARY = {
    "any": """
        tf.sin({0}) | tf.cos({0}) | tf.tanh({0}) | tf.sigmoid({0}) | tf.abs({0}) | tf.square({0})
        -{0} | tf.sign({0}) | tf.floor({0}) | tf.math.ceil({0}) | tf.round({0}) | tf.identity({0})
        tf.stop_gradient({0}) | tf.math.erf({0}) | tf.math.erfc({0}) | tf.math.atan({0})
        tf.math.asinh({0}) | tf.ones_like({0}) | tf.zeros_like({0}) | {0} * 2.0 | 1.0 - {0}
        {0} + 1.0 | {0} ** 2 | {0} ** 3.0 | {0} / 3.0 | 0.5 * {0} | {0} % 0.75 | {0} // 0.5
        tf.math.rint({0}) | tf.math.reciprocal_no_nan({0}) | abs({0}) | tf.math.softplus({0})
        tf.clip_by_value({0}, -1.0, 0.5) | tf.math.bessel_i0e({0}) | tf.math.log_sigmoid({0})
        tf.maximum({0}, 0.0) | tf.minimum({0}, 1.0) | tf.math.multiply_no_nan({0}, 0.0)
        tf.convert_to_tensor({0}) | tf.math.polyval([1.0, {0}, 0.5], {0}) | tf.add_n([{0}, {0}])
    """,
    "unit": """
        tf.math.asin({0}) | tf.math.acos({0}) | tf.math.atanh({0}) | tf.math.erfinv({0})
        tf.tan({0}) | tf.exp({0}) | tf.math.expm1({0}) | tf.sinh({0}) | tf.cosh({0}) | 2.0 ** {0}
    """,
    "positive": """
        tf.sqrt({0}) | tf.math.rsqrt({0}) | tf.math.log({0}) | tf.math.log1p({0}) | 1.0 / {0}
        tf.math.lgamma({0}) | tf.math.digamma({0}) | tf.math.reciprocal({0}) | {0} ** 1.5
        tf.math.acosh({0} + 1.0) | {0} ** -1 | {0} ** 0.5 | tf.math.zeta({0} + 1.5, 2.0)
    """,
    "fraction": "tf.math.ndtri({0}) | tf.math.log({0})",
}

ACTIVATIONS = """
    tf.nn.relu({0}) | tf.nn.relu6({0}) | tf.nn.elu({0}) | tf.nn.selu({0})
    tf.nn.leaky_relu({0}, alpha=0.25) | tf.nn.gelu({0}) | tf.nn.gelu({0}, approximate=True)
    tf.nn.silu({0}) | tf.nn.swish({0}, beta=0.5) | tf.nn.softplus({0}) | tf.nn.softsign({0})
    tf.nn.sigmoid({0}) | tf.nn.tanh({0})
"""

# Control flow and hand-written gradients that keep the shape.
FLOW = """
    tf.cond(tf.reduce_sum({0}) > 0.0, lambda: {0} * 2.0, lambda: tf.sin({0}))
    tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 0.5 + tf.sin(v)), [0, {0}])[1]
    tf.custom_gradient(lambda v: (tf.sin(v), lambda g: g * tf.cos(v) * 2.0))({0})
    tf.custom_gradient(lambda v: (tf.round(v), lambda g: g))({0})
    tf.grad_pass_through(tf.floor)({0})
    tf.recompute_grad(lambda v: tf.tanh(v) * v)({0})
    tf.function(lambda v: tf.sin(v) * v, autograph=False)({0})
    tf.switch_case(tf.constant(1), [lambda: {0}, lambda: {0} * {0}])
    tf.case([(tf.reduce_sum({0}) > 1.0, lambda: -{0})], default=lambda: tf.cos({0}))
    tf.nest.map_structure(tf.sin, [{0}, {0}])[1]
    tf.Variable(1.0, dtype={0}.dtype) * {0}
    tf.debugging.check_numerics(tf.sin({0}), "sine")
"""

# Over the first axis of something with at least one axis.
OVER_ROWS = """
    tf.map_fn(lambda r: tf.sin(r) * r, {0})
    tf.vectorized_map(lambda r: tf.tanh(r) * 2.0, {0})
    tf.scan(lambda c, r: c * 0.5 + r, {0})
    tf.cumsum({0}, axis=0, exclusive=True)
    tf.cumsum({0}, axis=-1, reverse=True)
    tf.math.cumprod({0}, axis=0)
    tf.math.cumprod({0}, axis=-1, exclusive=True, reverse=True)
    tf.math.cumulative_logsumexp({0}, axis=0)
    tf.nn.softmax({0})
    tf.nn.softmax({0}, axis=0)
    tf.nn.log_softmax({0})
    tf.math.l2_normalize({0} + 3.0, axis=-1)
    tf.sort({0})
    tf.sort({0}, axis=0, direction="DESCENDING")
    tf.reverse({0}, axis=[0])
    {0}[::-1]
    tf.roll({0}, shift=1, axis=0)
    tf.clip_by_norm({0}, 1.0, axes=[-1])
    tf.linalg.normalize({0} + 3.0, axis=0)[0]
"""

BINARY = {
    "any": """
        {0} + {1} | {0} - {1} | {0} * {1} | tf.maximum({0}, {1}) | tf.minimum({0}, {1})
        tf.math.squared_difference({0}, {1}) | tf.math.divide_no_nan({0}, {1})
        tf.where({0} > {1}, {0}, {1}) | tf.where({0} <= 0.0, {1}, tf.sin({0}))
        tf.math.multiply_no_nan({0}, {1}) | tf.atan2({0}, {1} + 3.5)
        tf.add({0}, {1}) | tf.multiply({0}, {1}) | tf.subtract({0}, {1})
    """,
    "positive": """
        {0} / {1} | tf.math.xlogy({0}, {1}) | tf.math.xdivy({0}, {1}) | tf.math.xlog1py({0}, {1})
        tf.pow({1}, {0}) | {0} % {1} | {0} // {1} | tf.atan2({0}, {1}) | {1} ** {0}
        tf.math.floormod({0}, {1}) | tf.math.igamma({1}, {1} + 1.0) + {0}
    """,
}

REDUCE = """
    tf.reduce_sum | tf.reduce_mean | tf.reduce_max | tf.reduce_min | tf.reduce_prod
    tf.math.reduce_std | tf.math.reduce_variance | tf.reduce_logsumexp
    tf.math.reduce_euclidean_norm
"""

COMPARE = """
    {0} > {1} | {0} < {1} | {0} >= {1} | {0} <= {1} | tf.equal({0}, {1}) | tf.not_equal({0}, {1})
"""

TO_SCALAR = """
    tf.nn.l2_loss({0}) | tf.norm({0} + 3.0) | tf.linalg.global_norm([{0} + 3.0, {0}])
    tf.nn.zero_fraction({0}) | tf.reduce_sum({0} * {0}) | tf.norm({0} + 3.0, ord=1)
    tf.reduce_mean(tf.abs({0})) | tf.reduce_max({0} * {0}) | tf.linalg.norm({0} - 4.0)
"""

SQUARE = """
    tf.linalg.inv({0}) | tf.linalg.cholesky({0}) | tf.linalg.solve({0}, {0} + 1.0)
    tf.linalg.expm({0} * 0.125) | tf.linalg.matrix_transpose({0}) | tf.linalg.pinv({0})
    tf.linalg.triangular_solve({0}, {0} * 0.5 + 1.0) | tf.linalg.band_part({0}, 0, -1)
    tf.linalg.set_diag({0}, tf.linalg.diag_part({0}) * 2.0) | tf.linalg.sqrtm({0})
    tf.linalg.cholesky_solve(tf.linalg.cholesky({0}), {0} * 2.0) | tf.linalg.qr({0})[1]
    tf.linalg.lstsq({0}, {0} + 1.0, fast=True) | tf.linalg.diag(tf.linalg.diag_part({0}))
    tf.linalg.adjoint({0})
"""

SQUARE_TO_VECTOR = """
    tf.linalg.diag_part({0}) | tf.linalg.eigvalsh({0}) | tf.linalg.svd({0}, compute_uv=False)
    tf.linalg.matvec({0}, {0}[:, 0]) | tf.linalg.eigh({0})[0]
"""

SQUARE_TO_SCALAR = """
    tf.linalg.det({0}) | tf.linalg.logdet({0}) | tf.linalg.slogdet({0})[1] | tf.linalg.trace({0})
    tf.einsum("ii", {0}) | tf.einsum("ij,ji->", {0}, {0})
"""

WRONG = """
    tf.reshape({0}, [7, 11]) | tf.reduce_sum({0}, axis=9) | {0} + tf.ones([7, 11], {0}.dtype)
    tf.gather({0}, [99]) | tf.matmul({0}, {0}) | tf.concat([{0}, tf.ones([2, 3, 1])], axis=0)
    tf.transpose({0}, [5, 6]) | {0} + tf.constant([1]) | tf.squeeze({0}, axis=0)
    tf.split({0}, 7)[0] | {0}[99] | tf.cast({0}, "float99") | tf.stack([{0}, tf.ones([9])])
    tf.einsum("ij,jk->ik", {0}, {0}) | tf.nn.softmax({0}, axis=5) | tf.unstack({0}, axis=4)
    tf.pad({0}, [[1, 1]] * 7) | tf.tile({0}, [1] * 7) | tf.broadcast_to({0}, [7])
    tf.argmax({0}, axis=7) | tf.clip_by_value({0}, "low", 1.0) | float({0}) | bool({0}) | int({0})
    tf.linalg.inv({0}) | tf.one_hot({0}, 3) | tf.sqrt(tf.constant([4])) | len({0}) | list({0})[0]
    tf.where({0}, 1.0, 0.0) | tf.expand_dims({0}, 6) | tf.scatter_nd([[9]], {0}, [2])
    tf.tensor_scatter_nd_update({0}, [[9]], [1.0]) | tf.nn.conv2d({0}, {0}, 1, "SAME")
    tf.reduce_all({0}) | tf.logical_not({0}) | tf.math.segment_sum({0}, [1, 0]) | {0} & {0}
    tf.gather_nd({0}, [[9, 9, 9, 9]]) | tf.boolean_mask({0}, [True] * 7) | {0}.no_such_name
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0] * 7, logits={0}) | tf.zeros([-1])
    tf.ensure_shape({0}, [7]) | tf.constant([[1.0], [1.0, 2.0]]) | tf.roll({0}, 1, axis=8)
    tf.cumsum({0}, axis=8) | tf.sort({0}, axis=8) | tf.nn.top_k({0}, k=50) | {0} @ tf.ones([7, 7])
    tf.repeat({0}, [1] * 7, axis=0) | tf.linalg.cholesky(-tf.eye(2)) | {0}["a"] | {0}[1.5]
    tf.custom_gradient(lambda v: (v, lambda g: (g, g)))({0}) | tf.custom_gradient(lambda v: v)({0})
    tf.Variable({0}).assign(tf.ones([7, 7], {0}.dtype)) | tf.cond({0}, lambda: 1.0, lambda: 2.0)
    tf.dynamic_partition({0}, [5], 2) | tf.tensordot({0}, {0}, axes=7) | tf.linalg.diag_part({0})
    tf.debugging.check_numerics({0} / 0.0, "division") | tf.debugging.assert_equal({0}, {0} + 1.0)
    tf.nn.softmax_cross_entropy_with_logits(labels=tf.ones([7]), logits={0}) | tf.range(0, 3, 0)
    tf.reverse({0}, axis=[6]) | tf.meshgrid() | tf.add_n([]) | tf.concat([], 0) | tf.stack([])
    +{0}
"""


def listed(text: str) -> list[str]:
    """The expressions of a text above."""
    return [part.strip() for part in text.replace("\n", " | ").split(" | ") if part.strip()]
