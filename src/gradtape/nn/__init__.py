"""`tf.nn`: what layers are made of: activations, convolutions, pooling, losses, embeddings."""

from __future__ import annotations

from ..framework.namespaces import namespace

_HOMES = {
    "activations": """
        batch_norm_with_global_normalization batch_normalization bias_add crelu dropout elu gelu
        leaky_relu local_response_normalization log_softmax lrn moments normalize_moments relu
        relu6 selu silu softmax sufficient_statistics swish weighted_moments""",
    "backprops": """
        atrous_conv2d_transpose depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input
        with_space_to_batch""",
    "convolutions": """
        atrous_conv2d conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose
        conv_transpose convolution depthwise_conv2d separable_conv2d""",
    "ctc": """
        collapse_repeated ctc_beam_search_decoder ctc_greedy_decoder ctc_loss ctc_unique_labels""",
    "embeddings": "embedding_lookup_sparse safe_embedding_lookup_sparse",
    "isotonic": "isotonic_regression",
    "losses": """
        compute_average_loss l2_loss log_poisson_loss scale_regularization_loss
        sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits
        sparse_softmax_cross_entropy_with_logits weighted_cross_entropy_with_logits""",
    "morphology": "dilation2d erosion2d max_pool_with_argmax",
    "pooling": """
        avg_pool avg_pool1d avg_pool2d avg_pool3d max_pool max_pool1d max_pool2d max_pool3d pool""",
    "sampling": """
        all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
        learned_unigram_candidate_sampler nce_loss sampled_softmax_loss""",
    "..arrays.gathering": "embedding_lookup",
    "..arrays.sorting": "approx_max_k approx_min_k top_k",
    "..arrays.space_depth": "depth_to_space space_to_batch space_to_depth",
    "..math.elementwise": "sigmoid softplus softsign tanh",
    "..math.reductions": "in_top_k l2_normalize zero_fraction",
    "": "experimental",  # modules
}  # fmt: skip
__getattr__, __dir__, __all__ = namespace(__name__, _HOMES)
