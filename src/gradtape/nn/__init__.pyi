"""The names of this namespace; written by `python -m tests.stubs` from `_HOMES`."""

from . import experimental as experimental
from ..arrays.gathering import embedding_lookup as embedding_lookup
from ..arrays.sorting import (
    approx_max_k as approx_max_k, approx_min_k as approx_min_k, top_k as top_k,
)  # fmt: skip
from ..arrays.space_depth import (
    depth_to_space as depth_to_space, space_to_batch as space_to_batch, space_to_depth as
    space_to_depth,
)  # fmt: skip
from ..math.elementwise import (
    sigmoid as sigmoid, softplus as softplus, softsign as softsign, tanh as tanh,
)  # fmt: skip
from ..math.reductions import (
    in_top_k as in_top_k, l2_normalize as l2_normalize, zero_fraction as zero_fraction,
)  # fmt: skip
from .activations import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    batch_normalization as batch_normalization, bias_add as bias_add, crelu as crelu, dropout as
    dropout, elu as elu, gelu as gelu, leaky_relu as leaky_relu, local_response_normalization as
    local_response_normalization, log_softmax as log_softmax, lrn as lrn, moments as moments,
    normalize_moments as normalize_moments, relu as relu, relu6 as relu6, selu as selu, silu as
    silu, softmax as softmax, sufficient_statistics as sufficient_statistics, swish as swish,
    weighted_moments as weighted_moments,
)  # fmt: skip
from .backprops import (
    atrous_conv2d_transpose as atrous_conv2d_transpose, depthwise_conv2d_backprop_filter as
    depthwise_conv2d_backprop_filter, depthwise_conv2d_backprop_input as
    depthwise_conv2d_backprop_input, with_space_to_batch as with_space_to_batch,
)  # fmt: skip
from .convolutions import (
    atrous_conv2d as atrous_conv2d, conv1d as conv1d, conv1d_transpose as conv1d_transpose,
    conv2d as conv2d, conv2d_transpose as conv2d_transpose, conv3d as conv3d, conv3d_transpose
    as conv3d_transpose, conv_transpose as conv_transpose, convolution as convolution,
    depthwise_conv2d as depthwise_conv2d, separable_conv2d as separable_conv2d,
)  # fmt: skip
from .ctc import (
    collapse_repeated as collapse_repeated, ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_greedy_decoder as ctc_greedy_decoder, ctc_loss as ctc_loss, ctc_unique_labels as
    ctc_unique_labels,
)  # fmt: skip
from .embeddings import (
    embedding_lookup_sparse as embedding_lookup_sparse, safe_embedding_lookup_sparse as
    safe_embedding_lookup_sparse,
)  # fmt: skip
from .isotonic import isotonic_regression as isotonic_regression
from .losses import (
    compute_average_loss as compute_average_loss, l2_loss as l2_loss, log_poisson_loss as
    log_poisson_loss, scale_regularization_loss as scale_regularization_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)  # fmt: skip
from .morphology import (
    dilation2d as dilation2d, erosion2d as erosion2d, max_pool_with_argmax as
    max_pool_with_argmax,
)  # fmt: skip
from .pooling import (
    avg_pool as avg_pool, avg_pool1d as avg_pool1d, avg_pool2d as avg_pool2d, avg_pool3d as
    avg_pool3d, max_pool as max_pool, max_pool1d as max_pool1d, max_pool2d as max_pool2d,
    max_pool3d as max_pool3d, pool as pool,
)  # fmt: skip
from .sampling import (
    all_candidate_sampler as all_candidate_sampler, compute_accidental_hits as
    compute_accidental_hits, fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler, nce_loss as
    nce_loss, sampled_softmax_loss as sampled_softmax_loss,
)  # fmt: skip
