"""Sounds without speech: silence, noise, hum, music-like tones, sweeps, clicks, breath. Float32 at 16 kHz."""
import numpy as np

from .augment import RATE

_SCALE = (0, 2, 3, 5, 7, 8, 10, 12)


def _envelope(length, rng):
    attack, release = rng.uniform(0.005, 0.1), rng.uniform(0.05, 0.5)
    time = np.arange(length) / RATE
    return np.minimum(1, time / attack) * np.minimum(1, (length / RATE - time) / release)


def _note(hertz, length, rng):
    time = np.arange(length) / RATE
    wobble = rng.uniform(0, 0.004) * np.sin(2 * np.pi * rng.uniform(4, 7) * time) if rng.random() < 0.4 else 0
    decay = rng.uniform(0.5, 2.0)
    tone = sum(rng.uniform(0.2, 1) / k ** decay * np.sin(2 * np.pi * hertz * k * (time + wobble))
               for k in range(1, rng.randint(2, 8)) if hertz * k < 7500)
    return tone * _envelope(length, rng)


def music(length, rng):
    """Notes and chords of a scale, in sequence."""
    out, place, root = np.zeros(length), 0, rng.uniform(80, 500)
    while place < length:
        size = min(length - place, int(RATE * rng.uniform(0.1, 1.5)))
        if size < 400:
            break
        for _ in range(rng.choice([1, 1, 2, 3])):
            out[place:place + size] += _note(root * 2 ** (rng.choice(_SCALE) / 12), size, rng)
        place += size + int(RATE * rng.choice([0, 0, rng.uniform(0, 0.4)]))
    return out


def tone(length, rng):
    time = np.arange(length) / RATE
    if rng.random() < 0.5:
        return sum(np.sin(2 * np.pi * rng.uniform(80, 3000) * time) for _ in range(rng.randint(1, 3)))
    low, high = rng.uniform(100, 800), rng.uniform(900, 4000)
    phase = 2 * np.pi * np.cumsum(low + (high - low) * (0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(0.1, 2) * time)))
    return np.sin(phase / RATE)


def bursts(length, rng, noise):
    """Clicks (a millisecond) or breath and rustle (tenths of a second)."""
    out, click = np.zeros(length), rng.random() < 0.5
    for _ in range(max(1, int(length / RATE * rng.uniform(0.4, 4)))):
        size = int(RATE * (rng.uniform(0.0005, 0.01) if click else rng.uniform(0.1, 0.6)))
        start = rng.randrange(max(1, length - size))
        burst = noise.standard_normal(size)
        if not click:
            burst = np.convolve(burst, np.ones(rng.randint(1, 6)), "same") * _envelope(size, rng)
        part = out[start:start + size]
        part += burst[:len(part)]
    return out


def draw(length, rng, noise, bank):
    """A random sound without speech, at a random level."""
    kind = rng.random()
    if kind < 0.15:
        return np.zeros(length, np.float32)
    if kind < 0.25:
        return (noise.standard_normal(length) * 10 ** rng.uniform(-5, -3)).astype(np.float32)
    if kind < 0.5:
        sound = bank.cut(length, rng)
    elif kind < 0.75:
        sound = music(length, rng)
    elif kind < 0.87:
        sound = tone(length, rng)
    else:
        sound = bursts(length, rng, noise)
    sound = sound / (np.abs(sound).max() + 1e-6) * 10 ** (rng.uniform(-45, 0) / 20)
    if kind >= 0.5 and rng.random() < 0.6:
        sound = sound + bank.cut(length, rng) * 10 ** (rng.uniform(-75, -30) / 20)
    return sound.astype(np.float32)
