"""What happens to a voice between mouth and file: rooms, microphones, lines, noise, other voices.

Samples are float32 at 16 kHz. `rng` is a random.Random, `noise` a numpy Generator.
"""
import math
from dataclasses import dataclass

import numpy as np

from speech import nonspeech
from speech.augment import NoiseBank

RATE = 16000
_SPEED_OF_SOUND = 343.0
# Images up to this many reflections a wall; what comes later is a tail of noise that decays alike.
_REFLECTIONS = 2


@dataclass(frozen=True)
class Room:
    """`size`, `microphone` [3] in metres; `decay` seconds to -60 dB; `reflection` the share of the amplitude that a
    wall gives back."""
    size: np.ndarray
    microphone: np.ndarray
    decay: float
    reflection: float


def draw_room(rng):
    size = np.array([rng.uniform(2.5, 9), rng.uniform(2.5, 8), rng.uniform(2.3, 4)])
    microphone = size * [rng.uniform(0.2, 0.8), rng.uniform(0.2, 0.8), rng.uniform(0.25, 0.6)]
    decay = rng.uniform(0.12, 0.7)
    # Sabine: the mean share of energy that a wall takes for such a decay.
    surface = 2 * (size[0] * size[1] + size[0] * size[2] + size[1] * size[2])
    taken = min(0.95, 0.161 * size.prod() / (surface * decay))
    return Room(size, microphone, decay, math.sqrt(1 - taken))


def _images(room, mouth):
    """(distances, amplitudes) of the mouth and its mirror images."""
    orders = np.arange(-_REFLECTIONS, _REFLECTIONS + 1)
    grid = np.stack(np.meshgrid(orders, orders, orders, indexing="ij"), -1).reshape(-1, 3)
    places = np.where(grid % 2 == 0, grid * room.size + mouth, (grid + 1) * room.size - mouth)
    distance = np.maximum(0.15, np.linalg.norm(places - room.microphone, axis=1))
    return distance, room.reflection ** np.abs(grid).sum(1) / distance


def impulse(room, rng, noise):
    """Impulse response (image method, then a diffuse tail) from a mouth at a random place; the direct sound is at
    sample 0 with amplitude 1."""
    near, height = rng.uniform(0.3, 3.0), rng.uniform(-0.3, 0.3)
    angle = rng.uniform(0, 2 * math.pi)
    mouth = room.microphone + [near * math.cos(angle), near * math.sin(angle), height]
    mouth = np.clip(mouth, 0.2, room.size - 0.2)
    distance, amplitude = _images(room, mouth)
    direct = max(0.15, np.linalg.norm(mouth - room.microphone))
    place = np.rint((distance - direct) / _SPEED_OF_SOUND * RATE).astype(int)
    length = int(RATE * room.decay)
    response = np.zeros(length, np.float32)
    inside = (place >= 0) & (place < length)
    # Walls turn the phase of some of what they reflect.
    sign = noise.choice([-1.0, 1.0], inside.sum(), p=[0.2, 0.8])
    np.add.at(response, place[inside], (amplitude * direct)[inside] * sign)
    response[0] = 1
    return response + _tail(room, direct, length, noise)


def _tail(room, direct, length, noise):
    """Diffuse sound from the time on when the images end, as loud as the direct sound at the room's critical distance."""
    start = int(_REFLECTIONS * room.size.mean() / _SPEED_OF_SOUND * RATE)
    if start >= length:
        return np.zeros(length, np.float32)
    critical = 0.057 * math.sqrt(room.size.prod() / room.decay)
    envelope = 10 ** (-3 * np.arange(length) / RATE / room.decay)
    energy = (direct / critical) ** 2 * 13.8 / (room.decay * RATE)
    tail = noise.standard_normal(length) * envelope * math.sqrt(energy)
    tail[:start] = 0
    return tail.astype(np.float32)


def draw_gain(rng, bins, strength=8.0):
    """Linear gain [bins] of a microphone and a line from 0 to 8 kHz: a smooth equaliser, at times a narrow band."""
    hz = np.linspace(0, RATE / 2, bins)
    points = np.array([0, 120, 300, 700, 1500, 2600, 4000, 6000, 8000])
    gain = np.interp(hz, points, [rng.uniform(-strength, strength) for _ in points])
    draw = rng.random()
    if draw < 0.08:
        low, high = rng.uniform(150, 350), rng.uniform(3100, 3900)
        gain = gain - np.clip((low - hz) / low, 0, 1) * 40 - np.clip((hz - high) / 300, 0, 1) * 60
    elif draw < 0.2:
        gain = gain - np.clip((hz - rng.uniform(3600, 7200)) / 400, 0, 1) * 50
    return (10 ** (gain / 20)).astype(np.float32)


def fast_size(length):
    """The next length of which an FFT is quick: 2^k, 3 * 2^k or 5 * 2^k."""
    return min(factor << max(0, math.ceil(math.log2(length / factor))) for factor in (1, 3, 5))


def render(samples, gain=None, response=None, speed=64):
    """`samples` through a line and a room, 64 / `speed` times as fast and as high: one FFT. Of len * speed / 64 samples."""
    reach = len(samples) + (0 if response is None else len(response))
    size = fast_size(max(4096, reach))
    spectrum = np.fft.rfft(samples, size)
    if response is not None:
        spectrum *= np.fft.rfft(response, size)
    if gain is not None:
        spectrum *= np.interp(np.linspace(0, 1, len(spectrum)), np.linspace(0, 1, len(gain)), gain)
    target = size // 64 * speed
    bins = min(len(spectrum), target // 2 + 1)
    return np.fft.irfft(spectrum[:bins], target)[:len(samples) * speed // 64].astype(np.float32) * (target / size)


def level(samples):
    """Root mean square, never 0."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) + 1e-7


class Backgrounds:
    """Noise of many kinds at an RMS of 1: coloured noise and hum, music-like tones, clicks and breath, babble.

    `voice(length, rng)` gives some seconds of anybody's speech."""

    def __init__(self, voice):
        self._voice, self._bank = voice, NoiseBank(np.random.default_rng(7))

    def _babble(self, length, rng):
        return sum(self._voice(length, rng) * 10 ** (rng.uniform(-6, 6) / 20) for _ in range(rng.randint(3, 7)))

    def draw(self, length, rng, noise):
        draw = rng.random()
        if draw < 0.45:
            sound = self._bank.cut(length, rng)
        elif draw < 0.6:
            sound = nonspeech.music(length, rng)
        elif draw < 0.67:
            sound = nonspeech.tone(length, rng)
        elif draw < 0.8:
            sound = nonspeech.bursts(length, rng, noise)
        else:
            sound = self._babble(length, rng)
        return (sound / level(sound)).astype(np.float32)
