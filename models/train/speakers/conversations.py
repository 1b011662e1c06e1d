"""Windows of made conversation for the segmentation: turns, pauses, overlaps, answers thrown in, in one room.

The times between turns follow what is measured in conversations (Heldner and Edlund 2010; Stivers et al. 2009): the
next speaker starts 0.2 s after the last one ends on average, with a spread of half a second, so that two in five turns
begin in an overlap; one turn in six has a short answer within it.
"""
import random
from dataclasses import dataclass

import numpy as np
import torch

from . import activity, powerset, sound
from .corpus import RATE
from .features import log_mel
from .segmentation import FRAME

SECONDS = 10
LENGTH = SECONDS * RATE
# How many people a window has, and how often.
_PEOPLE = ((0, 0.04), (1, 0.16), (2, 0.38), (3, 0.30), (4, 0.12))


@dataclass
class Batch:
    """`mel` [n, 80, 1000], `targets` [n, 500] classes of the powerset."""
    mel: torch.Tensor
    targets: torch.Tensor


@dataclass(frozen=True)
class Style:
    """`length` median seconds of a turn; `gap`, `spread` seconds between turns; `answers` a turn; `stay` the chance
    that the same person goes on; `pause` mean seconds before that."""
    length: float
    gap: float
    spread: float
    answers: float
    stay: float
    pause: float


def draw_style(rng):
    draw = rng.random()
    if draw < 0.35:  # heated
        return Style(rng.uniform(0.8, 2.0), rng.uniform(-0.5, 0.0), 0.6, 0.35, 0.1, 0.4)
    if draw < 0.52:  # read out, one after the other
        return Style(rng.uniform(3.0, 6.0), rng.uniform(0.4, 0.9), 0.3, 0.0, 0.2, 0.6)
    if draw < 0.65:  # slow
        return Style(rng.uniform(1.0, 2.5), rng.uniform(0.8, 2.5), 0.8, 0.1, 0.3, 1.5)
    return Style(rng.uniform(1.0, 2.5), 0.2, 0.5, 0.17, 0.25, 0.5)


class Person:
    """One of the people of a window: their clips, place in the room, line, speed and loudness."""

    def __init__(self, key, clips, room, rng, noise):
        self.key, self.clips = key, clips
        self.response = None if room is None else sound.impulse(room, rng, noise)
        self.gain = sound.draw_gain(rng, 257, 5.0) if rng.random() < 0.4 else None
        self.speed = rng.choice((64, 64, 58, 71))
        self.loudness = 10 ** (rng.gauss(0, 6) / 20)


class WindowMaker:
    """Draws windows from the clips of a Corpus in which speech stands clear of the noise; of `people`, {key: [Clip]},
    when they are given."""

    def __init__(self, corpus, people=None):
        self._corpus, everyone = corpus, corpus.by_speaker if people is None else people
        clean = {key: [clip for clip in clips if clip.contrast >= activity.CLEAN] for key, clips in everyone.items()}
        self._clips = {key: clips for key, clips in clean.items() if clips}
        self._keys = sorted(self._clips)
        self._backgrounds = sound.Backgrounds(self._anybody)

    @property
    def people(self):
        return self._keys

    def _anybody(self, length, rng):
        key = rng.choice(self._keys)
        clip = rng.choice(self._clips[key])
        samples = self._corpus.samples(key, clip, 0, length)
        return np.resize(samples, length) / sound.level(samples)

    def _utterance(self, person, seconds, rng):
        """(samples, speech [frames of 10 ms]) of about `seconds` that begin and end with a span of speech."""
        clip = rng.choice(person.clips)
        first = rng.randrange(len(clip.spans))
        begin = clip.spans[first][0]
        # A long span is entered anywhere.
        if (spare := clip.spans[first][1] - begin - int(seconds * 100)) > 0:
            begin += rng.randrange(spare)
        end = begin + int(seconds * 100)
        for a, b in clip.spans[first:]:
            if a >= end:
                break
            last = min(b, end)
        coded = rng.random() < 0.2
        samples = self._corpus.samples(person.key, clip, begin * activity.FRAME, last * activity.FRAME, coded)
        speech = np.zeros(len(samples) // activity.FRAME, bool)
        for a, b in clip.spans:
            speech[max(0, a - begin):max(0, b - begin)] = True
        return _faded(samples), speech

    def _say(self, person, seconds, rng):
        samples, speech = self._utterance(person, seconds, rng)
        with_echo = np.concatenate([samples, np.zeros(RATE // 4, np.float32)])
        voice = sound.render(with_echo, person.gain, person.response, person.speed)
        moved = np.arange(len(speech) * person.speed // 64) * 64 // person.speed
        return voice * (person.loudness / sound.level(samples)), speech[moved]

    def window(self, rng, noise):
        """(samples [160000], speaking bool [1000, 3])"""
        count = rng.choices([n for n, _ in _PEOPLE], [w for _, w in _PEOPLE])[0]
        room = sound.draw_room(rng) if rng.random() < 0.6 else None
        people = [Person(key, self._clips[key], room, rng, noise) for key in rng.sample(self._keys, count)]
        stage = _Stage()
        if people:
            self._converse(people, stage, rng)
        return self._transmitted(stage.samples, rng, noise), stage.speaking

    def _converse(self, people, stage, rng):
        style, place = draw_style(rng), rng.uniform(-3, 2)
        speaker = rng.randrange(len(people))
        while place < SECONDS:
            seconds = min(9, max(0.3, rng.lognormvariate(np.log(style.length), 0.7)))
            end = stage.put(speaker, place, *self._say(people[speaker], seconds, rng))
            if len(people) > 1 and rng.random() < style.answers:
                other = rng.choice([i for i in range(len(people)) if i != speaker])
                answer = self._say(people[other], rng.uniform(0.3, 0.9), rng)
                stage.put(other, rng.uniform(place, max(place, end - 0.3)), *answer)
            if len(people) == 1 or rng.random() < style.stay:
                place = end + rng.expovariate(1 / style.pause)
            else:
                place = max(place + 0.2, end + rng.gauss(style.gap, style.spread))
                speaker = rng.choice([i for i in range(len(people)) if i != speaker])

    def _transmitted(self, samples, rng, noise):
        heard = samples[np.abs(samples) > 1e-4]
        loud = sound.level(heard) if len(heard) else 1.0
        if rng.random() < 0.85:
            samples = samples + self._backgrounds.draw(LENGTH, rng, noise) * loud * 10 ** (-rng.uniform(5, 45) / 20)
        if rng.random() < 0.3:
            samples = sound.render(samples, sound.draw_gain(rng, 257))
        return samples * (10 ** (-rng.uniform(14, 40) / 20) / loud)

    def batch(self, seed, count):
        """A Batch of `count` windows, the same for the same seed."""
        rng, noise = random.Random(seed), np.random.default_rng(seed)
        windows = [self.window(rng, noise) for _ in range(count)]
        samples = torch.from_numpy(np.stack([w[0] for w in windows]).astype(np.float32))
        speaking = torch.from_numpy(np.stack([w[1] for w in windows]).astype(np.float32))
        # An output frame is two of the labels: spoken when either is.
        halves = speaking.view(count, -1, FRAME // activity.FRAME, powerset.SPEAKERS).amax(2)
        return Batch(log_mel(samples), powerset.classes_of(halves))


class _Stage:
    """The window as it fills: sound, and who speaks by order of appearance; a fourth voice is not let in."""

    def __init__(self):
        self._slots = {}
        self.samples = np.zeros(LENGTH, np.float32)
        self.speaking = np.zeros((LENGTH // activity.FRAME, powerset.SPEAKERS), bool)

    def put(self, person, place, samples, speech):
        """Adds an utterance from `place` seconds on; returns the second at which its speech ends. Parts outside the
        window are lost."""
        start = int(place * 100)
        end = start + len(speech)
        first, last = max(0, start), min(len(self.speaking), end)
        if first >= last:
            return end / 100
        heard = speech[first - start:last - start]
        if not self._admits(person, self.speaking[first:last][heard]):
            return end / 100
        if heard.any():
            slot = self._slots.setdefault(person, len(self._slots))
            self.speaking[first:last, slot] |= heard
        begin = start * activity.FRAME
        low, high = max(0, begin), min(LENGTH, begin + len(samples))
        self.samples[low:high] += samples[low - begin:high - begin]
        return end / 100

    def _admits(self, person, meanwhile):
        """Whether `person` may speak beside those who do `meanwhile` [frames, 3]: a third voice at once, a fourth person
        and somebody who speaks already may not."""
        if person not in self._slots:
            return len(self._slots) < powerset.SPEAKERS and (meanwhile.sum(1) < powerset.AT_ONCE).all()
        return not meanwhile[:, self._slots[person]].any() and (meanwhile.sum(1) < powerset.AT_ONCE).all()


def _faded(samples, length=160):
    """A cut within a word must not click."""
    ramp = np.linspace(0, 1, length, dtype=np.float32)
    if len(samples) > 2 * length:
        samples[:length] *= ramp
        samples[-length:] *= ramp[::-1]
    return samples
