"""The catalogue of rules, in the order in which they are asked: the surest and nearest first.

A module of a family's folder is one rule: an instance `RULE` of a class with `examine`.
"""

from __future__ import annotations

from importlib import import_module

from .base import Rule

ORDER = """
error.tape_reused error.no_gradient_registered error.custom_gradient_arity
error.unconnected_zero_keras
error.indexed_slices error.tf_function_leak
wrong.broadcast_mismatch wrong.double_softmax wrong.custom_gradient_wrong
nan.learning_rate_divergence zero.degenerate_spectrum nan.where_nan_trap nan.nan_input
size.exploding_init size.exploding_recurrence size.unscaled_input size.steep_derivative
nan.inf_mask
nan.exp_overflow nan.norm_at_zero nan.sqrt_at_zero nan.log_of_zero nan.division_by_zero
nan.domain_boundary
error.tf_function_python_state zero.unconnected_zero zero.zero_mask zero.zero_init
size.vanishing_recurrence size.vanishing_depth
zero.constant_function zero.dead_relu zero.saturated_activation zero.float16_underflow
zero.clipped_value wrong.implicit_sum_of_targets
none.nontrainable_sources none.integer_source none.not_a_tensor none.constant_derivative
none.py_function
none.variable_rebound none.watch_too_late none.not_watched none.nontrainable_variable
none.auto_watch_off
none.left_the_tape none.python_scalar none.keras_predict none.metric_as_loss none.stateful_source
none.constant_copy none.variable_rewrap none.variable_assign none.second_order_outside
none.stop_gradient
none.gather_index none.integer_cast none.rounding_op none.comparison_op none.discrete_index
none.sampling_op none.outside_tape
none.custom_gradient_none none.recreated_variable none.wrong_sources none.inactive_branch
none.unused_variable
none.unbuilt_model none.untracked_variable
none.unexplained
head.label_coding head.softmax_of_one head.target_out_of_reach head.loss_mismatch
head.nothing_left head.linear_stack head.one_class head.constant_input
head.frozen_rate head.normalisation_off
"""

CATALOGUE: tuple[Rule, ...] = tuple(
    import_module(f".{name}", __name__).RULE for name in ORDER.split()
)
