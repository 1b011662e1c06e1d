"""Batches for the voice embedding: two cuts each of some voices, through rooms, lines, codecs and noise."""
import random
from dataclasses import dataclass

import numpy as np
import torch

from . import sound
from .corpus import RATE
from .features import log_mel

# How fast each person speaks, in 64ths of the length: a person a tenth faster and higher is another voice.
SPEEDS = (64, 58, 71)
# Seconds of the cuts of a batch, and how often.
_SECONDS = ((1.5, 2.0), (2.0, 4.0), (3.0, 3.0), (4.0, 1.0))


@dataclass
class Batch:
    """`mel` [2 n, 80, frames], `voices` [2 n]."""
    mel: torch.Tensor
    voices: torch.Tensor


class CutMaker:
    """Draws cuts of a Corpus. A voice's number is len(SPEEDS) * person + speed."""

    def __init__(self, corpus):
        self._corpus, self._people = corpus, sorted(corpus.by_speaker)
        self._weights = [min(len(corpus.by_speaker[p]), 16) ** 0.7 for p in self._people]
        self._clips = [(p, clip) for p in self._people for clip in corpus.by_speaker[p]]
        self._backgrounds = sound.Backgrounds(self._anybody)

    @property
    def voices(self):
        return len(self._people) * len(SPEEDS)

    def _anybody(self, length, rng):
        key, clip = rng.choice(self._clips)
        start = rng.randrange(max(1, clip.length - length))
        samples = self._corpus.samples(key, clip, start, start + length)
        return np.resize(samples, length) / sound.level(samples)

    def _raw(self, key, clip, length, part, rng):
        """`length` samples of a clip, wrapped round when it is shorter. `part` 0 or 1 prefers one half of the clip."""
        room = clip.length - length
        if room <= 0:
            start = 0
        elif part is None:
            start = rng.randrange(room + 1)
        else:
            start = rng.randrange(room // 2 + 1) + part * (room - room // 2)
        samples = self._corpus.samples(key, clip, start, start + length, coded=rng.random() < 0.25)
        return samples if len(samples) == length else np.resize(samples, length)

    def _disguised(self, raw, speed, length, rng, noise):
        response = gain = None
        if rng.random() < 0.4:
            response = sound.impulse(sound.draw_room(rng), rng, noise)
        if rng.random() < 0.8:
            gain = sound.draw_gain(rng, 257)
        voice = sound.render(raw, gain, response, speed)[:length]
        voice = voice / sound.level(voice)
        if rng.random() < 0.65:
            voice = voice + self._backgrounds.draw(length, rng, noise) * 10 ** (-rng.uniform(3, 30) / 20)
        return voice * 10 ** (-rng.uniform(14, 40) / 20)

    def _draw_people(self, count, rng):
        """Different ones: two voices of a batch must not be the same."""
        drawn = {}
        while len(drawn) < count:
            drawn[rng.choices(range(len(self._people)), self._weights)[0]] = True
        return list(drawn)

    def _pair(self, person, rng, noise, length):
        speed = rng.randrange(len(SPEEDS))
        key = self._people[person]
        clips = self._corpus.by_speaker[key]
        chosen = rng.sample(clips, 2) if len(clips) > 1 else clips * 2
        taken = length * 64 // SPEEDS[speed] + 2
        for part, clip in enumerate(chosen):
            raw = self._raw(key, clip, taken, part if len(clips) == 1 else None, rng)
            yield self._disguised(raw, SPEEDS[speed], length, rng, noise), person * len(SPEEDS) + speed

    def batch(self, seed, seconds):
        """A Batch of about `seconds` of sound, the same for the same seed."""
        rng, noise = random.Random(seed), np.random.default_rng(seed)
        each = rng.choices([s for s, _ in _SECONDS], [w for _, w in _SECONDS])[0]
        length = int(each * RATE)
        people = self._draw_people(min(len(self._people), max(2, round(seconds / each / 2))), rng)
        cuts = [cut for person in people for cut in self._pair(person, rng, noise, length)]
        samples = torch.from_numpy(np.stack([c[0][:length] for c in cuts]).astype(np.float32))
        return Batch(masked(log_mel(samples), rng), torch.tensor([c[1] for c in cuts]))


def masked(mel, rng):
    """Features with a stretch of bands and a stretch of frames of each row left out, every other time."""
    for row in mel:
        if rng.random() < 0.5:
            start, width = rng.randrange(74), rng.randint(1, 8)
            row[start:start + width] = 0
        if rng.random() < 0.3:
            start, width = rng.randrange(row.shape[1]), rng.randint(2, 20)
            row[:, start:start + width] = 0
    return mel
