"""The names that programs with a gradient tape use most are there, most used first."""

from __future__ import annotations

from functools import reduce

import pytest

import gradtape as tf

NAMES = """
GradientTape reduce_mean float32 cast function reduce_sum Variable reshape constant square
argmax matmul nn.relu equal one_hot int32 zeros convert_to_tensor nn.softmax random.uniform
random.set_seed random.normal concat int64 shape range ones squeeze Module expand_dims
reduce_max nn.sparse_softmax_cross_entropy_with_logits sigmoid add clip_by_value abs math.log
TensorSpec stack reduce_min linspace ones_like transpose zeros_like exp sqrt device add_n
newaxis split map_fn pow nn.sigmoid_cross_entropy_with_logits errors.InvalidArgumentError sin
where maximum minimum math.reduce_std print string gather cos tile broadcast_to
random.truncated_normal nn.compute_average_loss nn.scale_regularization_loss identity Tensor
reduce_prod norm clip_by_norm einsum uint8 TensorShape bool random.stateless_normal size
TensorArray tanh nest.map_structure nn.conv2d pad eye greater nn.moments logical_not
math.l2_normalize float16 multiply cond fill less nn.embedding_lookup linalg.set_diag
zeros_initializer clip_by_global_norm meshgrid nn.l2_loss reverse tensor_scatter_nd_add
math.top_k random.shuffle float64 Graph int16 int8 IndexedSlices group uint32 while_loop
errors.UnimplementedError custom_gradient name_scope slice gather_nd linalg.diag nest.flatten
stop_gradient linalg.solve sign unstack math.is_nan nn.elu rank reduce_all type_spec_from_value
argmin cumsum errors.OutOfRangeError linalg.diag_part nn.bias_add nn.leaky_relu nn.max_pool
vectorized_map UnconnectedGradients init_scope is_tensor linalg.svd logical_and math.cumprod
nn.batch_normalization nn.gelu py_function random.Generator random_normal_initializer roll
scatter_nd tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub dtypes.int32
dtypes.int64 math.not_equal math.softplus nn.avg_pool2d nn.depth_to_space numpy_function
random.categorical random.get_global_generator random.stateless_uniform
"""
GONE = {
    "Session": "drop the session",
    "placeholder": "as an argument",
    "global_variables_initializer": "drop",
    "keras": "tf.GradientTape",
}


@pytest.mark.parametrize("name", NAMES.split())
def test_the_name_is_there(name: str) -> None:
    assert reduce(getattr, name.split("."), tf) is not NotImplemented


@pytest.mark.parametrize(("name", "advice"), GONE.items())
def test_a_name_of_the_past_says_what_to_use(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=advice):
        getattr(tf, name)
