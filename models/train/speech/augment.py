"""What happens to clean synthetic speech before the model hears it: other throats, rooms, microphones, lines, noise.

Samples are float32 in [-1, 1] at 16 kHz. `rng` is a random.Random, `noise` a numpy Generator.
"""
import math

import numpy as np
import torch

RATE = 16000


def _gain_curve(bins, rng, telephone):
    """Linear gain per FFT bin up to 8 kHz: a smooth equaliser, and the band of a line or a low-rate codec."""
    hz = np.linspace(0, RATE / 2, bins)
    gain = np.zeros(bins)
    if rng.random() < 0.35:
        points = np.array([0, 150, 400, 1000, 2000, 3500, 5500, 8000])
        gain += np.interp(hz, points, [rng.uniform(-7, 7) for _ in points])
    if telephone:
        low, high = rng.uniform(150, 350), rng.uniform(3100, 3800)
        gain -= np.clip((low - hz) / low, 0, 1) * 40 + np.clip((hz - high) / 400, 0, 1) * 60
    elif rng.random() < 0.1:
        gain -= np.clip((hz - rng.uniform(3500, 7000)) / 500, 0, 1) * 50
    return 10 ** (gain / 20)


def disguise(samples, rng):
    """Speed and pitch together by resampling (a longer or shorter throat), equaliser, band limits: one FFT."""
    step = rng.randint(54, 75) if rng.random() < 0.5 else 64
    telephone = rng.random() < 0.05
    padded = max(16384, 1 << (len(samples) + 512 - 1).bit_length())
    spectrum = np.fft.rfft(samples, padded)
    spectrum = spectrum * _gain_curve(len(spectrum), rng, telephone)
    target = padded // 64 * step
    bins = min(len(spectrum), target // 2 + 1)
    result = np.fft.irfft(spectrum[:bins], target)[:len(samples) * step // 64] * (target / padded)
    peak = np.abs(result).max() + 1e-6
    return (result * (0.6 / peak)).astype(np.float32)


def reverberate(samples, rng, noise):
    length = int(RATE * rng.uniform(0.06, 0.35))
    impulse = noise.standard_normal(length).astype(np.float32)
    impulse *= np.exp(-np.arange(length) / (length / rng.uniform(4, 7))).astype(np.float32)
    impulse *= rng.uniform(0.15, 0.7) / math.sqrt(float((impulse ** 2).sum()))
    impulse[0] = 1
    size = 1 << (len(samples) + length - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(impulse, size), size)[:len(samples)].astype(np.float32)


def companded(samples):
    """Mu-law at 8 bits, as on telephone lines."""
    magnitude = np.log1p(255 * np.abs(samples).clip(0, 1)) / math.log(256)
    return (np.sign(samples) * np.expm1(np.round(magnitude * 127) / 127 * math.log(256)) / 255).astype(np.float32)


def warp_mels(raw, rng):
    """Raw log mel [80, frames] with its bands moved: formants shift, pitch does not."""
    factor, bands = rng.uniform(0.9, 1.12), raw.shape[0]
    place = (torch.arange(bands) * factor).clamp(max=bands - 1.001)
    low = place.long()
    part = (place - low)[:, None]
    return raw[low] * (1 - part) + raw[low + 1] * part


def mask_bands(features, rng):
    """Network input with one or two bands of mels and, sometimes, a few frames at their mean."""
    mean = features.mean()
    for _ in range(rng.randint(1, 2)):
        start = rng.randint(0, 72)
        features[start:start + rng.randint(1, 8)] = mean
    if rng.random() < 0.3:
        start = rng.randrange(max(1, features.shape[1] - 8))
        features[:, start:start + rng.randint(2, 8)] = mean
    return features


class NoiseBank:
    """Long loops of coloured noise and hum, cut anywhere."""
    LENGTH = 1 << 20

    def __init__(self, noise):
        white = noise.standard_normal(self.LENGTH).astype(np.float32)
        spectrum, places = np.fft.rfft(white), np.arange(self.LENGTH // 2 + 1) + 1.0
        colours = [white] + [np.fft.irfft(spectrum / places ** power) for power in (0.5, 0.8, 1.0)]
        time = np.arange(self.LENGTH) / RATE
        for mains in (50, 60, 100):
            hum = sum(np.sin(2 * np.pi * mains * k * time + k) / k for k in (1, 2, 3, 5))
            colours.append(hum + 0.2 * white)
        self._loops = [(loop / loop.std()).astype(np.float32) for loop in colours]

    def cut(self, length, rng):
        """`length` samples of one noise at an RMS of 1."""
        start = rng.randrange(self.LENGTH - length)
        return rng.choice(self._loops)[start:start + length]
