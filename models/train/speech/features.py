"""Log-mel features equal to whisper.cpp's, to the digit of float32.

whisper.cpp: 400-sample periodic Hann window, hop 160, reflection of 200 samples at the start, 80 slaney mel bands of
the power spectrum (201 bins), log10 clamped at 1e-10, then clamped at (maximum of the window) - 8, then (x + 4) / 4.
Samples behind the end of a window are zeros, so frames behind it are -10 before the clamp.
"""
import numpy as np
import torch

SAMPLE_RATE = 16000
HOP = 160
MELS = 80
FFT = 400
# log10 of the smallest power: frames of digital silence.
FLOOR = -10.0


def mel_filters():
    """float32 [80, 201]: slaney mel scale and area normalisation, as librosa and openai/whisper make it."""
    def to_mel(hz):
        return hz / (200 / 3) if hz < 1000 else 15 + np.log(hz / 1000) / (np.log(6.4) / 27)

    def to_hz(mel):
        return np.where(mel < 15, mel * (200 / 3), 1000 * np.exp((mel - 15) * (np.log(6.4) / 27)))

    edges = to_hz(np.linspace(0.0, to_mel(SAMPLE_RATE / 2), MELS + 2))
    bins = np.linspace(0, SAMPLE_RATE / 2, FFT // 2 + 1)
    ramps = edges[:, None] - bins[None]
    widths = np.diff(edges)
    weights = np.maximum(0, np.minimum(-ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]))
    # Rounded to float32 before the normalisation, as librosa does.
    return (weights.astype(np.float32) * (2.0 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


FILTERS = mel_filters()
_FILTERS_T = torch.from_numpy(FILTERS).t().contiguous()
_HANN = torch.hann_window(FFT, periodic=True)


def log_power(samples):
    """float32 samples in [-1, 1] -> raw log10 mel tensor [80, len(samples) // 160], before clamping and scaling."""
    frames = len(samples) // HOP
    padded = np.concatenate([samples[FFT // 2:0:-1], samples, np.zeros(FFT + FFT // 2, np.float32)])
    windows = torch.from_numpy(padded).unfold(0, FFT, HOP)[:frames] * _HANN
    spectrum = torch.fft.rfft(windows)
    power = (spectrum.real ** 2 + spectrum.imag ** 2) @ _FILTERS_T
    return power.clamp_min(1e-10).log10().t()


def normalise(raw, maximum=None):
    """Raw log mel -> network input: clamped at maximum - 8 (the window's own by default) and scaled."""
    maximum = raw.max() if maximum is None else maximum
    return (torch.maximum(raw, torch.as_tensor(maximum - 8.0)) + 4) / 4


def window_features(samples, frames):
    """Network input [80, frames] of a whole window, zero-padded as whisper.cpp pads it."""
    raw = torch.full((MELS, frames), FLOOR)
    power = log_power(samples)[:, :frames]
    raw[:, :power.shape[1]] = power
    return normalise(raw)
