"""`tf.quantization`: numbers rounded as if they had few bits, for training that knows of it."""

from ..framework.namespaces import namespace

_HOMES = {
    "fake": """
        fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
        fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
    """,
}
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
