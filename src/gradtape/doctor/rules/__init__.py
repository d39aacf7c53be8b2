"""The catalogue of rules, in the order in which they are asked: the surest and nearest first.

A module of this package is one rule: an instance `RULE` of a class with `examine`.
"""

from __future__ import annotations

from importlib import import_module

from .base import Rule

ORDER = """
tape_reused no_gradient_registered custom_gradient_arity unconnected_zero_keras
indexed_slices tf_function_leak
broadcast_mismatch double_softmax custom_gradient_wrong
learning_rate_divergence degenerate_spectrum where_nan_trap nan_input
exploding_init exploding_recurrence unscaled_input inf_mask
norm_at_zero sqrt_at_zero log_of_zero division_by_zero exp_overflow
domain_boundary
unconnected_zero zero_mask zero_init vanishing_recurrence vanishing_depth
constant_function dead_relu saturated_activation float16_underflow
clipped_value implicit_sum_of_targets
integer_source not_a_tensor constant_derivative py_function
variable_rebound watch_too_late not_watched nontrainable_variable auto_watch_off
left_the_tape python_scalar keras_predict metric_as_loss stateful_source
tf_function_python_state
constant_copy variable_rewrap variable_assign second_order_outside stop_gradient
gather_index integer_cast rounding_op comparison_op discrete_index sampling_op outside_tape
custom_gradient_none recreated_variable wrong_sources inactive_branch unused_variable
unbuilt_model untracked_variable
unexplained
"""

CATALOGUE: tuple[Rule, ...] = tuple(
    import_module(f".{name}", __name__).RULE for name in ORDER.split()
)
