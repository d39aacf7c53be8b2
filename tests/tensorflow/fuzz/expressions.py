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
        tf.convert_to_tensor({0}) | tf.math.polyval([{0}, {0}], {0}) | tf.add_n([{0}, {0}])
        tf.math.bessel_i1e({0}) | tf.identity_n([{0}, {0}])[1] | tf.math.accumulate_n([{0}, {0}])
        tf.scalar_mul(0.5, {0}) | tf.math.softsign({0}) | tf.truncatemod({0}, 0.75)
        tf.math.nextafter(tf.abs({0}) + 0.5, 9.0) | tf.math.bessel_i0({0}) | tf.math.bessel_i1({0})
        tf.tuple([{0}, {0}])[0] | tf.where({0} > 0.0).shape[0] * {0}
        tf.where(tf.math.is_finite({0}), {0}, tf.zeros_like({0}))
        tf.where(tf.math.is_nan({0})|tf.math.is_inf({0}), tf.ones_like({0}), {0})
        tf.saturate_cast({0}, {0}.dtype)
        tf.clip_by_norm({0}, 1.5) | tf.clip_by_global_norm([{0}, {0}], 2.0)[0][0]
        tf.ensure_shape({0}, {0}.shape) | tf.math.cosh(tf.math.softsign({0}))
        tf.fill({0}.shape, tf.cast(1.5, {0}.dtype)) * {0}
        tf.linspace(tf.constant(0.0, {0}.dtype), 1.0, 3)[1] * {0} | tf.gather({0}[tf.newaxis], 0)
        tf.nn.crelu({0}[..., None])[..., 1]
    """,
    "unit": """
        tf.math.asin({0}) | tf.math.acos({0}) | tf.math.atanh({0}) | tf.math.erfinv({0})
        tf.tan({0}) | tf.exp({0}) | tf.math.expm1({0}) | tf.sinh({0}) | tf.cosh({0}) | 2.0 ** {0}
        tf.math.log1p({0}) | tf.sin(tf.math.acos({0}))
    """,
    "positive": """
        tf.sqrt({0}) | tf.math.rsqrt({0}) | tf.math.log({0}) | tf.math.log1p({0}) | 1.0 / {0}
        tf.math.lgamma({0}) | tf.math.digamma({0}) | tf.math.reciprocal({0}) | {0} ** 1.5
        tf.math.acosh({0} + 1.0) | {0} ** -1 | {0} ** 0.5 | tf.math.zeta({0} + 1.5, {0} * 0.0 + 2.0)
        tf.math.polygamma(tf.ones_like({0}), {0}) | tf.math.igamma({0} * 0.0 + 1.5, {0})
        tf.math.igammac({0} * 0.0 + 2.0, {0}) | tf.math.special.bessel_j0({0})
        tf.math.special.bessel_j1({0}) | tf.math.special.bessel_k0({0})
        tf.math.special.bessel_k0e({0}) | tf.math.special.bessel_k1({0})
        tf.math.special.bessel_k1e({0}) | tf.math.special.bessel_y0({0})
        tf.math.special.bessel_y1({0}) | tf.math.special.dawsn({0})
        tf.math.special.expint({0}) | tf.math.special.fresnel_cos({0})
        tf.math.special.fresnel_sin({0}) | tf.math.special.spence({0})
    """,
    "fraction": """
        tf.math.ndtri({0}) | tf.math.log({0}) | tf.math.erfcinv({0} * 1.5 + 0.125)
        tf.math.betainc({0} * 0.0 + 2.0, {0} * 0.0 + 0.5, {0})
    """,
}

ACTIVATIONS = """
    tf.nn.relu({0}) | tf.nn.relu6({0}) | tf.nn.elu({0}) | tf.nn.selu({0})
    tf.nn.leaky_relu({0}) | tf.nn.leaky_relu({0}, alpha=0.25) | tf.nn.gelu({0})
    tf.nn.gelu({0}, approximate=True)
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
    tf.cond(tf.reduce_any({0} > 1.0), lambda: tf.square({0}), lambda: {0} - 1.0)
    tf.while_loop(lambda v: tf.norm(v) > 1.0, lambda v: [v * 0.5], [{0}], maximum_iterations=4)[0]
    tf.custom_gradient(lambda v: (v * 1.0, lambda g: tf.clip_by_value(g, -0.5, 0.5)))({0})
    tf.custom_gradient(lambda v, w: (v * w, lambda g: (g * w, None)))({0}, {0})
    tf.custom_gradient(lambda v: ([v, v * 2.0], lambda g, h: g - h))({0})[1]
    tf.switch_case(tf.constant(2), {0: lambda: {0} * 3.0}, default=lambda: tf.sin({0}))
    tf.TensorArray({0}.dtype, 2).write(0, {0}).write(1, tf.sin({0})).read(1)
    tf.TensorArray({0}.dtype, 1).unstack({0}[tf.newaxis]).stack()[0]
    tf.foldl(lambda c, r: c * 0.5 + r, tf.stack([{0}, {0} + 1.0]))
    tf.foldr(lambda c, r: c * r, tf.stack([{0}, {0} + 1.0]))
    tf.recompute_grad(lambda v, w: tf.sin(v) * w)({0}, {0})
    {0} * tf.random.stateless_uniform({0}.shape, seed=[1, 2], dtype={0}.dtype)
    {0} + tf.random.stateless_normal({0}.shape, seed=[3, 4], dtype={0}.dtype)
    {0} + tf.random.stateless_truncated_normal({0}.shape, seed=[5, 6], dtype={0}.dtype)
    {0} * tf.cast(tf.random.stateless_uniform({0}.shape, [7, 8], 0, 5, "int32"), {0}.dtype)
    tf.vectorized_map(lambda r: tf.sin(r) * 2.0, {0}[tf.newaxis])[0]
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
    tf.math.cumulative_logsumexp({0}, axis=-1, exclusive=True, reverse=True)
    tf.scan(lambda c, r: c * r, {0}, reverse=True)
    tf.scan(lambda c, r: tf.sin(c) + r, {0}, initializer=tf.zeros_like({0}[0]))
    tf.map_fn(lambda r: (r * 2.0, r), {0}, fn_output_signature=({0}.dtype, {0}.dtype))[0]
    tf.reverse({0}, axis=[-1])
    tf.roll({0}, shift=[-1], axis=[-1])
    tf.nn.moments({0}, [0], keepdims=True)[1] + {0}
    tf.nn.l2_normalize({0} - 4.0, axis=0)
    tf.reverse_sequence({0}[tf.newaxis], [{0}.shape[0]], seq_axis=1)[0]
    tf.math.l2_normalize({0} + 3.0)
    tf.stack(tf.unstack({0}))
    tf.concat(tf.split({0}, {0}.shape[0]), axis=0)
    tf.random.experimental.stateless_shuffle({0}, seed=[3, 1])
    tf.dynamic_stitch([[0], tf.range(1, {0}.shape[0])], [{0}[:1], {0}[1:]])
    tf.searchsorted(tf.sort(tf.reshape({0}, [-1])), tf.reshape({0}, [-1])).shape[0] * {0}
    tf.TensorArray({0}.dtype, 0, dynamic_size=True).unstack({0}).stack()
    tf.nn.softmax({0} * 2.0, axis=-1)
    tf.sparse.to_dense(tf.sparse.from_dense({0}))
"""

BINARY = {
    "any": """
        {0} + {1} | {0} - {1} | {0} * {1} | tf.maximum({0}, {1}) | tf.minimum({0}, {1})
        tf.math.squared_difference({0}, {1}) | tf.math.divide_no_nan({0}, {1})
        tf.where({0} > {1}, {0}, {1}) | tf.where({0} <= 0.0, {1}, tf.sin({0}))
        tf.math.multiply_no_nan({0}, {1}) | tf.atan2({0}, {1} + 3.5)
        tf.add({0}, {1}) | tf.multiply({0}, {1}) | tf.subtract({0}, {1})
        tf.math.truediv({0}, {1}) | tf.math.mod({0}, {1})
        tf.clip_by_value({0} + {1}, -0.5, tf.abs({1}))
    """,
    "positive": """
        {0} / {1} | tf.math.xlogy({0}, {1}) | tf.math.xdivy({0}, {1}) | tf.math.xlog1py({0}, {1})
        tf.pow({1}, {0}) | {0} % {1} | {0} // {1} | tf.atan2({0}, {1}) | {1} ** {0}
        tf.math.floormod({0}, {1}) | tf.math.igamma({1}, {1} + 1.0) + {0}
        tf.math.igamma({1}, tf.abs({0})) | tf.math.igammac({1}, tf.abs({0}) + 0.25)
        tf.math.betainc({1}, {1} + 0.5, tf.sigmoid({1})) * {0}
        tf.math.polygamma({1} * 0.0 + 2.0, {1}) * {0}
        tf.math.zeta({1} + 1.5, {1}) + {0} | tf.realdiv({0}, {1}) | tf.divide({0}, {1})
    """,
}

REDUCE = """
    tf.reduce_sum | tf.reduce_mean | tf.reduce_max | tf.reduce_min | tf.reduce_prod
    tf.math.reduce_std | tf.math.reduce_variance | tf.reduce_logsumexp
    tf.math.reduce_euclidean_norm
"""

REDUCE_COMPLEX = "tf.reduce_sum | tf.reduce_mean | tf.reduce_prod"

COMPARE = """
    {0} > {1} | {0} < {1} | {0} >= {1} | {0} <= {1} | tf.equal({0}, {1}) | tf.not_equal({0}, {1})
"""

TO_SCALAR = """
    tf.nn.l2_loss({0}) | tf.norm({0} + 3.0) | tf.linalg.global_norm([{0} + 3.0, {0}])
    tf.nn.zero_fraction({0}) | tf.reduce_sum({0} * {0}) | tf.norm({0} + 3.0, ord=1)
    tf.reduce_mean(tf.abs({0})) | tf.reduce_max({0} * {0}) | tf.linalg.norm({0} - 4.0)
    tf.norm({0} + 3.0, ord=3) | tf.norm({0}, ord=float("inf"))
    tf.nn.compute_average_loss(tf.reshape({0}, [-1]))
    tf.cast(tf.math.count_nonzero({0}), {0}.dtype)
    tf.cast(tf.size({0}), {0}.dtype) * tf.reduce_sum({0})
    tf.cast(tf.rank({0}), {0}.dtype) | tf.reduce_logsumexp({0}) | tf.reduce_prod({0} * 0.5 + 1.0)
    tf.numpy_function(lambda v: v.sum(), [{0}], {0}.dtype)
    tf.py_function(lambda v: tf.reduce_sum(tf.sin(v)), [{0}], {0}.dtype)
    tf.tensordot(tf.reshape({0}, [-1]), tf.reshape({0}, [-1]), axes=1)
"""

SQUARE = """
    tf.linalg.inv({0}) | tf.linalg.cholesky({0}) | tf.linalg.solve({0}, {0} + 1.0)
    tf.linalg.expm({0} * 0.125) | tf.linalg.matrix_transpose({0}) | tf.linalg.pinv({0})
    tf.linalg.triangular_solve({0}, {0} * 0.5 + 1.0) | tf.linalg.band_part({0}, 0, -1)
    tf.linalg.set_diag({0}, tf.linalg.diag_part({0}) * 2.0) | tf.linalg.sqrtm({0})
    tf.linalg.cholesky_solve(tf.linalg.cholesky({0}), {0} * 2.0) | tf.linalg.qr({0})[1]
    tf.linalg.lstsq({0}, {0} + 1.0, fast=True) | tf.linalg.diag(tf.linalg.diag_part({0}))
    tf.linalg.adjoint({0})
    tf.cast(tf.math.real(tf.linalg.logm(tf.cast({0}, "complex128"))), {0}.dtype)
    tf.linalg.lu({0})[0]
    tf.linalg.lstsq({0}, {0} + 1.0, fast=False) | tf.linalg.matmul({0}, {0}, adjoint_a=True)
    tf.linalg.solve({0}, {0} + 1.0, adjoint=True) | tf.linalg.inv({0}, adjoint=True)
    tf.linalg.triangular_solve({0}, {0} * 0.5 + 1.0, lower=False, adjoint=True)
    tf.abs(tf.linalg.qr({0})[0]) | tf.abs(tf.linalg.svd({0})[1]) | tf.linalg.eigh({0})[1] ** 2
    tf.linalg.band_part({0}, 1, 0) | tf.linalg.diag({0}[0]) | tf.linalg.tensor_diag({0}[0])
    tf.linalg.diag(tf.linalg.diag_part({0}, k=1), k=1) + {0}[:1, :1] if {0}.shape[0] > 1 else {0}
    tf.linalg.cholesky_solve(tf.linalg.cholesky({0}), {0})
    tf.einsum("ij,jk,kl->il", {0}, {0}, {0}) | tf.eye({0}.shape[0], dtype={0}.dtype) * {0}
    tf.signal.dct({0}) | tf.abs(tf.signal.fft(tf.complex({0}, {0})))
"""

SQUARE_TO_VECTOR = """
    tf.linalg.diag_part({0}) | tf.linalg.eigvalsh({0}) | tf.linalg.svd({0}, compute_uv=False)
    tf.linalg.matvec({0}, {0}[:, 0]) | tf.linalg.eigh({0})[0] | tf.linalg.tensor_diag_part({0})
    tf.sort(tf.math.real(tf.linalg.eigvals({0}))) | tf.sort(tf.math.real(tf.linalg.eig({0})[0]))
    tf.math.lbeta(tf.abs({0}) + 0.5)
"""

SQUARE_TO_SCALAR = """
    tf.linalg.det({0}) | tf.linalg.logdet({0}) | tf.linalg.slogdet({0})[1] | tf.linalg.trace({0})
    tf.einsum("ii", {0}) | tf.einsum("ij,ji->", {0}, {0}) | tf.linalg.slogdet({0})[0]
    tf.cast(tf.linalg.matrix_rank({0}), {0}.dtype) | tf.norm({0}, ord="fro", axis=[0, 1])
    tf.norm({0}, ord=2, axis=(-2, -1)) | tf.norm({0}, ord=1, axis=(0, 1))
    tf.norm({0}, ord=float("inf"), axis=(0, 1))
"""

BITS = """
    tf.bitwise.bitwise_and({0}, {1}) | tf.bitwise.bitwise_or({0}, {1}) | {0} ^ {1} | {0} & {1}
    tf.bitwise.bitwise_xor({0}, {1}) | tf.bitwise.invert({0}) + {1} | {0}|{1}
    tf.bitwise.left_shift({0}, tf.abs({1}) % 4) | tf.bitwise.right_shift({0}, tf.abs({1}) % 4)
    {0} + {1} | {0} * {1} | {0} - {1} | {0} // 2 + {1} | {0} % 3 - {1} | tf.maximum({0}, {1})
    tf.minimum({0}, {1}) | {0} // (tf.abs({1}) + 1) | {0} % (tf.abs({1}) + 1) | -{0} + {1}
    tf.truncatediv({0}, tf.abs({1}) + 1) | tf.truncatemod({0}, tf.abs({1}) + 1) | tf.sign({0}) * {1}
    tf.math.floordiv({0}, tf.square({1}) + 1) | tf.where({0} > {1}, {0}, {1})
    ({0} * 0 + 2) ** tf.abs({1})
    tf.math.squared_difference({0}, {1}) | tf.abs({0}) + {1} | tf.cast({0} > {1}, {0}.dtype)
"""

# Whole numbers out of whole numbers; the result's shape is that of the operand.
WHOLE = """
    tf.cumsum({0}, axis=0) | tf.sort({0}) | tf.reverse({0}, [0]) | tf.argsort({0}, stable=True)
    tf.math.cumprod({0}, axis=-1) | tf.roll({0}, 1, 0) | tf.searchsorted([0, 1, 2], {0})
    tf.clip_by_value({0}, -1, 2) | tf.square({0}) | tf.unique({0})[1]
    tf.unique_with_counts({0})[1]
    tf.cast(tf.bitcast({0}, "uint32"), "int32") | tf.saturate_cast({0}, "int8")
    tf.math.invert_permutation(tf.argsort({0})) | tf.gather({0}, tf.argsort({0}))
"""

WHOLE_TO_SCALAR = """
    tf.reduce_sum({0}) | tf.reduce_max({0}) | tf.reduce_min({0}) | tf.reduce_prod({0})
    tf.size({0})
    tf.reduce_mean({0}) | tf.reduce_sum(tf.math.bincount(tf.abs({0}))) | tf.rank({0})
    tf.reduce_sum(tf.cast(tf.sequence_mask(tf.abs({0}), 4), "int32")) | tf.reduce_sum(tf.shape({0}))
"""

TO_BOOL = """
    tf.math.is_nan({0}) | tf.math.is_inf({0}) | tf.math.is_finite({0}) | {0} > 0.0 | {0} == 0.0
    tf.reduce_any({0} > 0.0) | tf.reduce_all({0} > 0.0) | tf.math.is_non_decreasing({0})
    tf.math.is_strictly_increasing({0}) | tf.logical_not({0} > 0.5)
"""

WRONG = """
    tf.reshape({0}, [7, 11]) | tf.reduce_sum({0}, axis=9) | {0} + tf.ones([7, 11], {0}.dtype)
    tf.gather({0}, [99]) | tf.matmul({0}, {0}) | tf.concat([{0}, tf.ones([2, 3, 1])], axis=0)
    tf.transpose({0}, [5, 6]) | {0} + tf.constant([1]) | tf.squeeze({0}, axis=0)
    tf.split({0}, 7)[0] | {0}[99] | tf.cast({0}, "float99") | tf.stack([{0}, tf.ones([9])])
    tf.einsum("ij,jk->ik", {0}, {0}) | tf.nn.softmax({0}, axis=5) | tf.unstack({0}, axis=4)
    tf.pad({0}, [[1, 1]] * 7) | tf.tile({0}, [1] * 7) | tf.broadcast_to({0}, [7])
    tf.argmax({0}, axis=7) | tf.clip_by_value({0}, "low", 1.0) | float({0}) | bool({0}) | int({0})
    tf.linalg.inv({0}[:1]) | tf.one_hot({0}, 3) | tf.sqrt(tf.constant([4])) | len({0})
    list({0})[0]
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
