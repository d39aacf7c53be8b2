"""The expressions whose operands and results have shapes of their own, one to a line.

Behind an expression stand the shapes of `{0}` and `{1}` and that of the result; `-` is a number.
"""

from __future__ import annotations

# Convolutions, pools, rearrangements and what else wants shapes of its own.
NEURAL = """
    tf.random.stateless_gamma([3], [1, 2], tf.abs({0}) + 0.5, dtype={0}.dtype) * {1} :: 3, - -> 3
    tf.cast(tf.nn.ctc_loss([[1, 2]], tf.cast({0}, 'float32'), [2], [4]), {1}.dtype) :: 4 1 3, - -> 1
    tf.cast(tf.nn.ctc_loss([[1, 0]], tf.cast({0}, 'float32'), [2], [3], blank_index=-1), {1}.dtype)
        :: 4 1 3, - -> 1
    tf.cast(tf.nn.ctc_loss([[2, 2]], tf.cast({0}, 'float32'), [2], [3], False), {1}.dtype)
        :: 1 3 3, - -> 1
    tf.linalg.tridiagonal_solve(tf.tanh({0}) + [[0.0], [4.0], [0.0]], {1}) :: 3 3, 3 2 -> 3 2
    tf.linalg.tridiagonal_matmul({0}, {1}, diagonals_format='compact') :: 3 3, 3 2 -> 3 2
    tf.linalg.banded_triangular_solve(tf.abs({0}) + 2.0, {1}) :: 2 3, 3 2 -> 3 2
    tf.linalg.cross({0}, {1}) :: 2 3, 2 3 -> 2 3
    tf.nn.lrn({0}, 1, alpha=0.5, beta=0.75) * {1} :: 1 2 2 3, - -> 1 2 2 3
    tf.nn.pool({0}, [2], 'AVG', padding='SAME') * {1} :: 1 4 2, - -> 1 4 2
    tf.nn.avg_pool3d({0}, 2, 1, 'VALID') * {1} :: 1 2 2 2 2, - -> 1 1 1 1 2
    tf.nn.max_pool3d({0}, 2, 1, 'SAME') * {1} :: 1 2 2 2 1, - -> 1 2 2 2 1
    tf.nn.max_pool1d({0}, 2, 2, 'VALID') * {1} :: 1 4 2, - -> 1 2 2
    tf.nn.avg_pool1d({0}, 2, 1, 'SAME') * {1} :: 1 4 2, - -> 1 4 2
    tf.batch_to_space({0}, [2], [[0, 1]]) * {1} :: 2 2 2, - -> 1 3 2
    tf.space_to_batch({0}, [2], [[0, 0]]) * {1} :: 1 4 2, - -> 2 2 2
    tf.nn.space_to_depth({0}, 2) * {1} :: 1 4 4 1, - -> 1 2 2 4
    tf.nn.depth_to_space({0}, 2) * {1} :: 1 2 2 4, - -> 1 4 4 1
    tf.nn.convolution({0}, {1}, padding='VALID') :: 1 4 2, 2 2 2 -> 1 3 2
    tf.nn.separable_conv2d({0}, {1}, {0}[:, :1, :1, :, None][0], [1] * 4, 'SAME')
        :: 1 3 3 2, 2 2 2 1 -> 1 3 3 1
    tf.nn.conv2d({0}, {1}, 1, [[0, 0], [1, 0], [0, 1], [0, 0]]) :: 1 3 3 1, 2 2 1 2 -> 1 3 3 2
    tf.nn.conv2d({0}, {1}, 1, 'SAME', dilations=2) :: 1 4 4 1, 2 2 1 1 -> 1 4 4 1
    tf.nn.atrous_conv2d({0}, {1}, 2, 'SAME') :: 1 4 4 1, 2 2 1 1 -> 1 4 4 1
    tf.nn.conv1d_transpose({0}, {1}, [1, 4, 1], 2) :: 1 2 2, 2 1 2 -> 1 4 1
    tf.nn.conv2d_transpose({0}, {1}, [1, 4, 4, 1], 2, 'SAME') :: 1 2 2 2, 2 2 1 2 -> 1 4 4 1
    tf.nn.conv3d({0}, {1}, [1] * 5, 'SAME') :: 1 2 2 2 1, 2 2 1 1 2 -> 1 2 2 2 2
    tf.nn.conv1d({0}, {1}, 2, 'VALID') :: 1 4 2, 2 2 1 -> 1 2 1
    tf.nn.conv1d({0}, {1}, 1, 'SAME') :: 1 4 2, 2 2 2 -> 1 4 2
    tf.nn.conv3d_transpose({0}, {1}, [1, 2, 2, 2, 1], 1, 'SAME')
        :: 1 2 2 2 2, 2 1 1 1 2 -> 1 2 2 2 1
    tf.nn.conv_transpose({0}, {1}, [1, 4, 1], 2) :: 1 2 2, 2 1 2 -> 1 4 1
    tf.nn.atrous_conv2d_transpose({0}, {1}, [1, 4, 4, 1], 2, 'SAME') :: 1 4 4 1, 2 2 1 1 -> 1 4 4 1
    tf.nn.conv2d({0}, {1}, [1, 2, 1, 1], 'SAME') :: 2 4 3 1, 2 2 1 2 -> 2 2 3 2
    tf.nn.dilation2d({0}, {1}, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
        :: 1 3 3 2, 2 2 2 -> 1 3 3 2
    tf.nn.erosion2d({0}, {1}, [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1])
        :: 1 3 3 2, 2 2 2 -> 1 2 2 2
    tf.nn.max_pool_with_argmax({0}, 2, 1, 'SAME')[0] * {1} :: 1 3 3 1, - -> 1 3 3 1
    tf.nn.avg_pool({0}, 2, 1, 'SAME') * {1} :: 1 3 3 1, - -> 1 3 3 1
    tf.nn.max_pool({0}, [1, 2, 1, 1], [1, 2, 1, 1], [[0, 0], [1, 1], [0, 0], [0, 0]]) * {1}
        :: 1 4 3 1, - -> 1 3 3 1
    tf.nn.max_pool2d({0}, 2, 1, 'VALID') * {1} :: 2 3 3 2, - -> 2 2 2 2
    tf.nn.depthwise_conv2d({0}, {1}, [1] * 4, 'SAME', dilations=[2, 2])
        :: 1 4 4 1, 2 2 1 2 -> 1 4 4 2
    tf.nn.depthwise_conv2d_backprop_input([1, 3, 3, 1], {1}, {0}, [1] * 4, 'SAME')
        :: 1 3 3 2, 2 2 1 2 -> 1 3 3 1
    tf.nn.pool({0}, [2], 'MAX', dilations=[2], padding='VALID') * {1} :: 1 4 2, - -> 1 2 2
    tf.nn.isotonic_regression({0})[0] * {1} :: 2 3, - -> 2 3
    tf.nn.batch_norm_with_global_normalization({0}, {1}, {1} ** 2, {1}, {1} + 1.0, 0.01, True)
        :: 1 2 2 2, 2 -> 1 2 2 2
    tf.nn.sufficient_statistics({0}, [0], keepdims=True)[2] * {1} :: 3 2, 3 2 -> 3 2
    tf.nn.experimental.stateless_dropout({0}, 0.5, seed=[1, 2]) * {1} :: 2 3, - -> 2 3
    tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax({1}, axis=0), {0}, axis=0)
        :: 2 3, 2 3 -> 3
    tf.nn.bias_add({0}, {1}, data_format='NCHW') :: 1 2 2 3, 2 -> 1 2 2 3
    tf.nn.log_softmax({0}, axis=1) * {1} :: 2 2 3, - -> 2 2 3
    tf.extract_volume_patches({0}, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], 'VALID') * {1}
        :: 1 2 2 3 1, - -> 1 1 1 2 8
    tf.cast(tf.histogram_fixed_width({0}, [-1.0, 1.0], nbins=3), {1}.dtype) * {1} :: 2 3, - -> 3
"""

# Of tf.image, in float32, which most of it computes in.
IMAGES = """
    tf.image.resize({0}, [3, 4]) * {1} :: 1 2 2 2, - -> 1 3 4 2
    tf.image.resize({0}, [4, 3], 'nearest') * {1} :: 1 2 2 2, - -> 1 4 3 2
    tf.image.resize({0}, [3, 3], 'bicubic') * {1} :: 1 2 2 2, - -> 1 3 3 2
    tf.image.resize({0}, [2, 3], 'lanczos3', antialias=True) * {1} :: 1 4 4 1, - -> 1 2 3 1
    tf.image.resize_with_pad({0}, 3, 3) * {1} :: 1 2 4 1, - -> 1 3 3 1
    tf.image.ssim(tf.sigmoid({0}), tf.sigmoid({1}), 1.0, filter_size=2) :: 3 3 1, 3 3 1 -> -
    tf.image.flip_left_right({0}) * {1} :: 2 3 2, - -> 2 3 2
    tf.image.flip_up_down({0}) * {1} :: 2 3 2, - -> 2 3 2
    tf.image.rot90({0}, 1) * {1} :: 1 2 3 1, - -> 1 3 2 1
    tf.image.transpose({0}) * {1} :: 2 3 1, - -> 3 2 1
    tf.image.adjust_brightness({0}, 0.25) * {1} :: 2 3 2, - -> 2 3 2
    tf.image.adjust_gamma(tf.abs({0}) + 0.5, 1.5) * {1} :: 2 2 3, - -> 2 2 3
    tf.image.central_crop({0}, 0.5) * {1} :: 4 4 1, - -> 2 2 1
    tf.image.crop_to_bounding_box({0}, 1, 0, 2, 2) * {1} :: 3 3 2, - -> 2 2 2
    tf.image.pad_to_bounding_box({0}, 1, 0, 4, 3) * {1} :: 2 2 2, - -> 4 3 2
    tf.image.resize_with_crop_or_pad({0}, 3, 3) * {1} :: 2 4 1, - -> 3 3 1
    tf.image.per_image_standardization({0}) :: 2 3 2, - -> 2 3 2
    tf.image.rgb_to_grayscale({0}) * {1} :: 2 2 3, - -> 2 2 1
    tf.image.grayscale_to_rgb({0}) * {1} :: 2 2 1, - -> 2 2 3
    tf.image.rgb_to_yuv({0}) * {1} :: 2 2 3, - -> 2 2 3
    tf.image.yuv_to_rgb({0}) * {1} :: 2 2 3, - -> 2 2 3
    tf.image.rgb_to_yiq({0}) * {1} :: 2 2 3, - -> 2 2 3
    tf.image.yiq_to_rgb({0}) * {1} :: 2 2 3, - -> 2 2 3
    tf.image.total_variation({0}) * {1} :: 3 3 1, - -> -
    tf.image.image_gradients({0})[1] * {1} :: 1 3 3 1, - -> 1 3 3 1
    tf.image.sobel_edges({0}) * {1} :: 1 3 3 1, - -> 1 3 3 1 2
    tf.image.extract_patches({0}, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID') * {1}
        :: 1 3 3 1, - -> 1 2 2 4
    tf.image.crop_and_resize({0}, [[0.1, 0.0, 0.9, 0.75]], [0], [2, 2]) * {1}
        :: 1 3 3 1, - -> 1 2 2 1
    tf.image.psnr(tf.sigmoid({0}), tf.sigmoid({1}), 1.0) :: 3 3 1, 3 3 1 -> -
"""

# Of tf.signal.
SIGNALS = """
    tf.signal.dct({0}, norm='ortho') + {1} :: 2 3, - -> 2 3
    tf.signal.overlap_and_add({0}, 1) * {1} :: 3 2, - -> 4
    tf.signal.frame({0}, 2, 1) * {1} :: 4, - -> 3 2
    tf.signal.irfft3d(tf.complex({0}, {0})) * {1} :: 2 2 2, - -> 2 2 2
    tf.abs(tf.signal.rfft3d({0})) * {1} :: 2 2 2, - -> 2 2 2
    tf.abs(tf.signal.fft2d(tf.complex({0}, {1}))) :: 2 3, 2 3 -> 2 3
    tf.signal.irfft(tf.complex({0}, {1})) :: 2 3, 2 3 -> 2 4
    tf.math.imag(tf.signal.rfft({0})) * {1} :: 2 4, - -> 2 3
    tf.math.real(tf.signal.ifft(tf.signal.fft(tf.complex({0}, {1})))) :: 2 3, 2 3 -> 2 3
    tf.abs(tf.signal.stft({0}, 4, 2)) * {1} :: 8, - -> 3 3
    tf.signal.inverse_stft(tf.signal.stft({0}, 4, 2), 4, 2) * {1} :: 8, - -> 8
    tf.signal.mdct({0}, 4) * {1} :: 8, - -> 3 2
    tf.signal.inverse_mdct({0}) * {1} :: 3 2, - -> 8
    tf.signal.idct({0}) * {1} :: 2 3, - -> 2 3
    tf.signal.dct({0}, type=3) * {1} :: 2 3, - -> 2 3
    tf.signal.dct({0}, type=1) * {1} :: 2 3, - -> 2 3
    tf.signal.dct({0}, type=4) * {1} :: 2 3, - -> 2 3
    tf.math.real(tf.signal.ifft2d(tf.complex({0}, {1}))) :: 2 3, 2 3 -> 2 3
    tf.signal.irfft2d(tf.complex({0}, {1})) :: 2 3, 2 3 -> 2 4
    tf.abs(tf.signal.rfft2d({0})) * {1} :: 2 3, - -> 2 2
    tf.math.imag(tf.signal.fft3d(tf.complex({0}, {1}))) :: 2 2 2, 2 2 2 -> 2 2 2
    tf.math.real(tf.signal.ifft3d(tf.complex({0}, {1}))) :: 2 2 2, 2 2 2 -> 2 2 2
    tf.signal.fftshift({0}) * {1} :: 2 3, - -> 2 3
    tf.signal.ifftshift({0}, axes=[1]) * {1} :: 2 3, - -> 2 3
    {0} * tf.signal.hann_window(3, dtype={0}.dtype) * {1} :: 2 3, - -> 2 3
    {0} * tf.signal.kaiser_window(4, dtype={0}.dtype) * {1} :: 2 4, - -> 2 4
    tf.signal.frame({0}, 3, 2, pad_end=True) * {1} :: 2 4, - -> 2 2 3
"""

# Through sparse and ragged tensors.
SPARSE = """
    tf.sparse.sparse_dense_matmul(tf.sparse.from_dense({0}), {1}) :: 2 3, 3 2 -> 2 2
    tf.sparse.sparse_dense_matmul(tf.sparse.from_dense({0}), {1}, adjoint_a=True) :: 3 2, 3 2 -> 2 2
    tf.sparse.reduce_sum(tf.sparse.from_dense({0}), axis=1) * {1} :: 2 3, - -> 2
    tf.sparse.to_dense(tf.sparse.softmax(tf.sparse.from_dense(tf.abs({0}) + 0.5))) * {1}
        :: 2 3, - -> 2 3
    tf.sparse.to_dense(tf.sparse.transpose(tf.sparse.from_dense({0}))) * {1} :: 2 3, - -> 3 2
    tf.sparse.to_dense(tf.sparse.reshape(tf.sparse.from_dense({0}), [3, 2])) * {1} :: 2 3, - -> 3 2
    tf.sparse.to_dense(tf.sparse.concat(0, [tf.sparse.from_dense({0}), tf.sparse.from_dense({1})]))
        :: 2 3, 2 3 -> 4 3
    tf.sparse.to_dense(tf.sparse.add(tf.sparse.from_dense({0}), tf.sparse.from_dense({1})))
        :: 2 3, 2 3 -> 2 3
    tf.sparse.add(tf.sparse.from_dense({0}), {1}) :: 2 3, 2 3 -> 2 3
    tf.sparse.to_dense(tf.sparse.slice(tf.sparse.from_dense({0}), [0, 1], [2, 2])) * {1}
        :: 2 3, - -> 2 2
    tf.sparse.to_dense(tf.sparse.from_dense({0}) * {1}) :: 2 3, 2 3 -> 2 3
    tf.sparse.to_dense(tf.sparse.map_values(tf.sin, tf.sparse.from_dense({0}))) * {1}
        :: 2 3, - -> 2 3
    tf.sparse.to_dense(tf.sparse.expand_dims(tf.sparse.from_dense({0}), 0)) * {1} :: 2 3, - -> 1 2 3
    tf.sparse.segment_sum({0}, [0, 1, 0], [0, 0, 1]) * {1} :: 3 2, - -> 2 2
    tf.sparse.segment_mean({0}, [2, 1, 0], [0, 0, 1]) * {1} :: 3 2, - -> 2 2
    tf.sparse.segment_sqrt_n({0}, [0, 1, 0], [0, 0, 1]) * {1} :: 3 2, - -> 2 2
    tf.nn.embedding_lookup_sparse({0}, tf.sparse.from_dense([[1, 2]]), None) * {1} :: 3 2, - -> 1 2
    tf.nn.safe_embedding_lookup_sparse({0}, tf.sparse.from_dense([[1, 0]])) * {1} :: 3 2, - -> 1 2
    tf.ragged.map_flat_values(tf.sin, tf.RaggedTensor.from_row_lengths({0}, [3])).values * {1}
        :: 3, - -> 3
"""

# Linear algebra that also takes complex numbers.
LINEAR = """
    tf.matmul({0}, {1}, transpose_a=True, transpose_b=True) :: 2 2 3, 2 3 2 -> 2 3 3
    tf.matmul({0}, {1}) :: 2 1 2 3, 2 3 2 -> 2 2 2 2
    tf.einsum('bij,bjk->bik', {0}, {1}) :: 2 2 3, 2 3 2 -> 2 2 2
    tf.einsum('...ij,...kj->...ik', {0}, {1}) :: 2 2 3, 2 3 -> 2 2 2
    tf.einsum('ii->i', {0}) * {1} :: 3 3, 3 -> 3
    tf.einsum('i,j,k->ijk', {0}, {1}, {0}) :: 2, 3 -> 2 3 2
    tf.tensordot({0}, {1}, axes=[[0, 1], [1, 0]]) :: 2 3 2, 3 2 2 -> 2 2
    tf.linalg.matvec({0}, {1}, transpose_a=True) :: 2 2 3, 2 2 -> 2 3
    tf.linalg.det({0}) * {1} :: 2 2 2, - -> 2
    tf.linalg.inv({0} + tf.eye(2, dtype={0}.dtype) * 6.0) * {1} :: 2 2 2, - -> 2 2 2
    tf.linalg.triangular_solve({0} + tf.eye(2, dtype={0}.dtype) * 6.0, {1}) :: 2 2 2, 2 2 1 -> 2 2 1
    tf.linalg.diag({0}, k=1) * {1} :: 2 2, - -> 2 3 3
    tf.linalg.diag_part({0}, k=(-1, 1)) * {1} :: 2 3, - -> 3 2
    tf.linalg.set_diag({0}, {1}, k=1) :: 2 3, 2 -> 2 3
    tf.strided_slice({0}, [0, 1], [2, 3], [1, 2]) * {1} :: 2 3, - -> 2 1
"""

# Of tf.experimental.numpy, here np.
NUMPY = """
    np.sum({0}, axis=0, keepdims=True) * {1} :: 2 3, - -> 1 3
    np.mean({0}, axis=(0, 1)) * {1} :: 2 3, - -> -
    np.var({0}, axis=1) * {1} :: 2 3, - -> 2
    np.std({0}) * {1} :: 2 3, - -> -
    np.max({0}, axis=0) * {1} :: 2 3, - -> 3
    np.amin({0}) * {1} :: 2 3, - -> -
    np.prod({0}, axis=-1) * {1} :: 2 3, - -> 2
    np.average({0}, axis=0, weights=tf.abs({1}) + 0.5) :: 3 2, 3 2 -> 2
    np.dot({0}, {1}) :: 2 3, 3 2 -> 2 2
    np.matmul({0}, {1}) :: 2 3, 3 -> 2
    np.outer({0}, {1}) :: 3, 2 -> 3 2
    np.inner({0}, {1}) :: 2 3, 2 3 -> 2 2
    np.vdot({0}, {1}) :: 2 3, 2 3 -> -
    np.kron({0}, {1}) :: 2 2, 2 1 -> 4 2
    np.tensordot({0}, {1}, axes=1) :: 2 3, 3 2 -> 2 2
    np.cross({0}, {1}) :: 2 3, 2 3 -> 2 3
    np.trace({0}) * {1} :: 3 3, - -> -
    np.diagonal({0}, 1) * {1} :: 3 3, - -> 2
    np.diag({0}) * {1} :: 3, - -> 3 3
    np.tril({0}) * {1} :: 3 3, - -> 3 3
    np.triu({0}, 1) * {1} :: 3 3, - -> 3 3
    np.maximum({0}, {1}) :: 2 3, 3 -> 2 3
    np.hypot({0}, {1}) :: 2 3, 3 -> 2 3
    np.logaddexp({0}, {1}) :: 2 3, 3 -> 2 3
    np.logaddexp2({0}, {1}) :: 2 3, 3 -> 2 3
    np.heaviside({0}, {1}) :: 2 3, 3 -> 2 3
    np.arctan2({0}, {1}) :: 2 3, 3 -> 2 3
    np.power(tf.abs({0}) + 0.5, {1}) :: 2 3, 3 -> 2 3
    np.true_divide({0}, tf.abs({1}) + 0.5) :: 2 3, 3 -> 2 3
    np.mod({0}, tf.abs({1}) + 0.5) :: 2 3, 3 -> 2 3
    np.where({0} > 0.0, {0}, {1}) :: 2 3, 3 -> 2 3
    np.clip({0}, -0.5, {1}) :: 2 3, - -> 2 3
    np.exp2({0}) * {1} :: 2 3, - -> 2 3
    np.log2(tf.abs({0}) + 0.5) * {1} :: 2 3, - -> 2 3
    np.log10(tf.abs({0}) + 0.5) * {1} :: 2 3, - -> 2 3
    np.sinc({0}) * {1} :: 2 3, - -> 2 3
    np.cbrt(tf.abs({0}) + 0.5) * {1} :: 2 3, - -> 2 3
    np.deg2rad({0}) * {1} :: 2 3, - -> 2 3
    np.fix({0}) * {1} :: 2 3, - -> 2 3
    np.nansum({0}, axis=0) * {1} :: 2 3, - -> 3
    np.nanmean({0}) * {1} :: 2 3, - -> -
    np.cumsum({0}, axis=1) * {1} :: 2 3, - -> 2 3
    np.cumprod({0}) * {1} :: 2 3, - -> 6
    np.diff({0}) * {1} :: 2 3, - -> 2 2
    np.sort({0}, axis=0) * {1} :: 2 3, - -> 2 3
    np.flip({0}) * {1} :: 2 3, - -> 2 3
    np.roll({0}, 1) * {1} :: 2 3, - -> 2 3
    np.rot90({0}) * {1} :: 2 3, - -> 3 2
    np.moveaxis({0}, 0, -1) * {1} :: 2 1 3, - -> 1 3 2
    np.swapaxes({0}, 0, 1) * {1} :: 2 3, - -> 3 2
    np.ravel({0}) * {1} :: 2 3, - -> 6
    np.vstack([{0}, {1}]) :: 2 3, 2 3 -> 4 3
    np.hstack([{0}, {1}]) :: 2 3, 2 3 -> 2 6
    np.dstack([{0}, {1}]) :: 2 3, 2 3 -> 2 3 2
    np.concatenate([{0}, {1}], axis=1) :: 2 3, 2 1 -> 2 4
    np.stack([{0}, {1}], axis=1) :: 2 3, 2 3 -> 2 2 3
    np.split({0}, [1, 2], axis=1)[1] * {1} :: 2 3, - -> 2 1
    np.tile({0}, (2, 1)) * {1} :: 3, - -> 2 3
    np.repeat({0}, 2, axis=0) * {1} :: 2 3, - -> 4 3
    np.take({0}, [0, 2], axis=1) * {1} :: 2 3, - -> 2 2
    np.take_along_axis({0}, tf.constant([[0, 0], [1, 2]]), 1) * {1} :: 2 3, - -> 2 2
    np.pad({0}, [[1, 0], [0, 1]], 'reflect') * {1} :: 2 3, - -> 3 4
    np.expand_dims({0}, 1) * {1} :: 2 3, - -> 2 1 3
    np.atleast_3d({0}) * {1} :: 2 3, - -> 2 3 1
    np.broadcast_to({0}, (2, 2, 3)) * {1} :: 2 3, - -> 2 2 3
    np.einsum('ij,ij->i', {0}, {1}) :: 2 3, 2 3 -> 2
    np.polyval([{0}, {1}], {0}) :: 3, 3 -> 3
    np.select([{0} > 1.0, {0} < 0.0], [{0}, -{0}], 0.0) * {1} :: 2 3, - -> 2 3
    np.positive({0}) * {1} :: 2 3, - -> 2 3
    np.reciprocal(tf.abs({0}) + 0.5) * {1} :: 2 3, - -> 2 3
    np.angle(tf.complex({0}, {1})) :: 2 3, 2 3 -> 2 3
    np.abs({0}) * {1} :: 2 3, - -> 2 3
    np.sign({0}) * {1} :: 2 3, - -> 2 3
    np.meshgrid({0}, {1})[0] :: 3, 2 -> 2 3
    np.vander({0}, 3) * {1} :: 3, - -> 3 3
    np.array({0}) * {1} :: 2 3, - -> 2 3
    {0} + np.asarray({1}) :: 2 3, 2 3 -> 2 3
"""


Shape = tuple[int, ...]


def listed(text: str) -> list[tuple[str, list[Shape], Shape]]:
    """The expressions of a text above with the shapes of their operands and their results."""
    found = []
    for line in text.replace("\n        ::", " ::").strip().splitlines():
        op, shapes = line.replace("np.", "tf.experimental.numpy.").split(" :: ")
        of, to = shapes.split(" -> ")
        found.append((op.strip(), [_shape(part) for part in of.split(",")], _shape(to)))
    return found


def _shape(text: str) -> Shape:
    return tuple(int(n) for n in text.split() if n != "-")
