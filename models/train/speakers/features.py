"""Log-mel features that both speaker models compute inside their graph, so that a runtime feeds samples.

16 kHz, 400-sample periodic Hann window, hop 160, 80 slaney mel bands of the power spectrum (201 bins), log10(power +
1e-8), then each band's mean over the input is taken away, which takes the level and most of a line's colour away with
it. Frame i is centred on sample 160 i + 80; the input counts as silent before its start and after its end.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn

from speech.features import FFT, FILTERS, HOP, MELS, SAMPLE_RATE

_LEFT = _RIGHT = (FFT - HOP) // 2
_TINY = 1e-8
# Fewest samples an input may have: one frame.
SHORTEST = HOP

__all__ = ["HOP", "MELS", "SAMPLE_RATE", "SHORTEST", "GraphFeatures", "log_mel"]


def _dft_kernel():
    """float32 [402, 1, 400]: cosines, then sines, of 201 frequencies under the window."""
    time = torch.arange(FFT, dtype=torch.float64)
    angle = 2 * math.pi / FFT * torch.arange(FFT // 2 + 1, dtype=torch.float64)[:, None] * time
    hann = 0.5 - 0.5 * torch.cos(2 * math.pi / FFT * time)
    return (torch.cat([angle.cos(), angle.sin()]) * hann).float()[:, None]


def _centred(mel):
    return mel - mel.mean(-1, keepdim=True)


_FILTERS_T = torch.from_numpy(FILTERS).t().contiguous()
_HANN = torch.hann_window(FFT, periodic=True)


def log_mel(samples):
    """[n, samples] in [-1, 1] -> [n, 80, samples // 160], by FFT: what training uses."""
    frames = F.pad(samples, (_LEFT, _RIGHT)).unfold(-1, FFT, HOP) * _HANN
    spectrum = torch.fft.rfft(frames)
    power = (spectrum.real ** 2 + spectrum.imag ** 2) @ _FILTERS_T
    return _centred((power + _TINY).log10().transpose(-1, -2))


class GraphFeatures(nn.Module):
    """The same by a convolution, which every ONNX runtime has."""

    def __init__(self):
        super().__init__()
        self.register_buffer("kernel", _dft_kernel())
        self.register_buffer("filters", torch.from_numpy(FILTERS)[:, :, None])

    def forward(self, samples):
        """[n, 1, samples] -> [n, 80, samples // 160]"""
        parts = F.conv1d(samples, self.kernel, stride=HOP, padding=_LEFT)
        squares = parts * parts
        power = squares[:, :FFT // 2 + 1] + squares[:, FFT // 2 + 1:]
        return _centred((F.conv1d(power, self.filters) + _TINY).log10())
