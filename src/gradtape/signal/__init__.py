"""`tf.signal`: Fourier and cosine transforms, frames, windows and spectrograms."""

from ..framework.namespaces import lookup

# isort: skip_file

from .cosine import dct, idct
from .fourier import (
    fft, fft2d, fft3d, fftnd, fftshift, ifft, ifft2d, ifft3d, ifftnd, ifftshift, irfft, irfft2d,
    irfft3d, irfftnd, rfft, rfft2d, rfft3d, rfftnd,
)  # fmt: skip
from .frames import frame, overlap_and_add
from .mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from .spectral import inverse_mdct, inverse_stft, inverse_stft_window_fn, mdct, stft
from .windows import (
    hamming_window, hann_window, kaiser_bessel_derived_window, kaiser_window, vorbis_window,
)  # fmt: skip

__getattr__ = lookup(__name__)

__all__ = [
    "dct", "idct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "ifft", "ifft2d", "ifft3d",
    "ifftnd", "ifftshift", "irfft", "irfft2d", "irfft3d", "irfftnd", "rfft", "rfft2d", "rfft3d",
    "rfftnd", "frame", "overlap_and_add", "linear_to_mel_weight_matrix",
    "mfccs_from_log_mel_spectrograms", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn",
    "mdct", "stft", "hamming_window", "hann_window", "kaiser_bessel_derived_window",
    "kaiser_window", "vorbis_window",
]  # fmt: skip
