"""Training windows: utterances laid on a time line as the service would cut it, with tokens and where each is heard."""
import random
import re
from dataclasses import dataclass, field

import numpy as np
import torch

from . import augment, features, nonspeech
from .alphabet import spell
from .guide import token_centres
from .tokenizer import (EOT, FIRST_TIMESTAMP, LANGUAGE, LINE_BREAK, NO_SPEECH, NO_TIMESTAMPS, PIECES, PREVIOUS, SOT,
                        TRANSCRIBE, encode)

RATE = features.SAMPLE_RATE
LANGUAGES = ("en", "es", "de", "fr")
# Key of the utterances in any other language: speech that the model must leave unwritten.
FOREIGN = "foreign"
# English has the most engines and the least regular spelling: it gets the largest share.
_SHARES = (0.34, 0.24, 0.21, 0.21)
# Share of the utterances drawn from those that say a word twice running ("dos dos cuatro"), which are one in fifty and
# where a decoder loses count.
_REPEATING = 0.05
_REPEAT = re.compile(r"\b(\w+)\W+\1\b", re.IGNORECASE)
_MAX_TOKENS = 190
# Of a window without speech: how much of the target is the no-speech token; the rest is the harmless alternative.
NO_SPEECH_SHARE = 0.8
IGNORED = -100


@dataclass
class Segment:
    start: float
    end: float
    text: str


@dataclass
class Window:
    """`features` [80, frames]; `tokens`, `targets`, `centres` run along the decoder's positions (targets: the token
    predicted there or IGNORED; centres: encoder position of that token or -1). `alternative` is (position, id) of a
    second right answer or None. `letters`: CTC symbols; `heard`: encoder positions that hold sound."""
    features: torch.Tensor
    tokens: list
    targets: list
    centres: list
    alternative: tuple = None
    letters: list = field(default_factory=list)
    heard: int = 0


class WindowMaker:
    def __init__(self, store):
        self._store, self._noise = store, np.random.default_rng(11)
        self._bank = augment.NoiseBank(self._noise)
        self._by_language = {lang: [] for lang in (*LANGUAGES, FOREIGN)}
        self._repeating = {lang: [] for lang in self._by_language}
        self._indexed = 0
        self.refresh()

    def refresh(self):
        self._store.refresh()
        for utterance in self._store.utterances[self._indexed:]:
            language = utterance.language if utterance.language in LANGUAGES else FOREIGN
            self._by_language[language].append(utterance)
            if _REPEAT.search(utterance.text):
                self._repeating[language].append(utterance)
        self._indexed = len(self._store.utterances)

    @property
    def utterances(self):
        return self._store.utterances

    def seed(self, seed):
        self._rng, self._noise = random.Random(seed), np.random.default_rng(seed)

    def make(self, frames, kind, bootstrap=False, room=None):
        """A window of `frames` mel frames, of which the first `room` (None: all) may hold sound; kind: one | few |
        dense | foreign | empty, the last two without text. In `bootstrap` margins are small."""
        rng, length = self._rng, (room or frames) * features.HOP
        language = rng.choices(LANGUAGES, _SHARES)[0]
        timestamps = rng.random() < (0.3 if bootstrap else 0.45)
        foreign = kind == "foreign"
        if kind == "empty" or foreign and not self._by_language[FOREIGN]:
            samples, segments, end = np.zeros(length, np.float32), [], int(length * rng.choice([1, 1, rng.uniform(.2, 1)]))
            samples[:end] = nonspeech.draw(end, rng, self._noise, self._bank)
        else:
            samples, segments = self._lay(length, FOREIGN if foreign else language, kind, bootstrap)
            if not segments:
                return self.make(frames, "empty", bootstrap, room)
            margin = rng.choice([0.02, rng.uniform(0, 0.4), rng.uniform(0, 1.5)])
            end = min(length, int((segments[-1].end + margin) * RATE))
            samples[:end] = self._environment(samples[:end], int(segments[-1].end * RATE))
        raw = torch.full((features.MELS, frames), features.FLOOR)
        raw[:, :end // features.HOP] = self._spectrum(samples[:end], bool(segments))
        inputs = features.normalise(raw, raw.max() + (rng.uniform(0, 0.6) if rng.random() < 0.1 else 0))
        if segments and rng.random() < 0.2:
            inputs = augment.mask_bands(inputs, rng)
        window = self._tokens(inputs, [] if foreign else segments, language, timestamps, bootstrap)
        window.heard = min(frames // 2, end // features.HOP // 2 + 2)
        return window

    def _lay(self, length, language, kind, bootstrap):
        """Utterances on a silent time line: (samples, [Segment])."""
        rng, samples, segments = self._rng, np.zeros(length, np.float32), []
        leads = [0, rng.uniform(0, 0.2), 0.1 if bootstrap else rng.uniform(0, 0.6 if length < 1000 * 160 else 1.5)]
        place, count, misses = int(RATE * rng.choice(leads)), 0, 0
        most = {"one": 1, "few": rng.randint(1, 4), "foreign": rng.randint(1, 4), "dense": 99}[kind]
        level = rng.uniform(-3, 3)
        while len(segments) < most and misses < 5:
            speech, text = self._fragment(self._draw(language))
            tokens = len(encode(" " + text)) + 2
            if place + len(speech) * 0.85 > length or count + tokens > _MAX_TOKENS:
                misses += 1
                continue
            speech = augment.disguise(speech, rng)
            if place + len(speech) > length:
                misses += 1
                continue
            samples[place:place + len(speech)] += speech * 10 ** ((level + rng.uniform(-5, 2)) / 20)
            segments.append(Segment(place / RATE, (place + len(speech)) / RATE, text))
            count += tokens
            place += len(speech) + int(RATE * (rng.uniform(0.04, 0.5) if rng.random() < 0.75 else rng.uniform(0.3, 1.3)))
        return samples, segments

    def _draw(self, language):
        repeating = self._repeating[language] if self._rng.random() < _REPEATING else None
        return self._rng.choice(repeating or self._by_language[language])

    def _fragment(self, utterance):
        """An utterance, or sometimes its part before or after a comma, since the service may cut there."""
        samples, text = self._store.samples(utterance), utterance.text
        if not utterance.pauses or self._rng.random() > 0.15:
            return samples, text
        commas = [m.end() for m in re.finditer(r"[,:]", text)]
        i = self._rng.randrange(len(commas))
        if self._rng.random() < 0.5:
            return samples[:utterance.pauses[i]], text[:commas[i]]
        return samples[utterance.pauses[i]:], text[commas[i]:].strip()

    def _environment(self, samples, speech_end):
        """Room, noise, line and level."""
        rng = self._rng
        if rng.random() < 0.08:
            samples = augment.reverberate(samples, rng, self._noise)
        loudness = float(np.sqrt((samples[:speech_end] ** 2).mean())) + 1e-5
        kind = rng.random()
        if kind < 0.3:
            samples = samples + self._bank.cut(len(samples), rng) * loudness * 10 ** (-rng.uniform(8, 45) / 20)
        elif kind < 0.6:
            samples = samples + self._noise.standard_normal(len(samples)).astype(np.float32) * 1e-4
        samples = samples * 10 ** (rng.uniform(-24, 3) / 20)
        return augment.companded(samples) if rng.random() < 0.04 else samples

    def _spectrum(self, samples, speech):
        raw = features.log_power(samples)
        if speech and self._rng.random() < 0.3:
            raw = augment.warp_mels(raw, self._rng)
        return raw

    def _prompt(self, language):
        """Text of an earlier window, as whisper.cpp gives it when context is on."""
        tokens, time, stamps = [PREVIOUS], self._rng.uniform(0, 2), self._rng.random() < 0.5
        for _ in range(self._rng.randint(1, 5)):
            body = encode(" " + self._rng.choice(self._by_language[language]).text)
            if len(tokens) + len(body) > 150:
                break
            later = min(time + self._rng.uniform(1, 3.5), 29)
            tokens += [FIRST_TIMESTAMP + int(time * 50), *body, FIRST_TIMESTAMP + int(later * 50)] if stamps else body
            time = min(later + self._rng.uniform(0, 0.5), 29.5)
        return tokens

    def _tokens(self, inputs, segments, language, timestamps, bootstrap):
        prompt = self._prompt(language) if not bootstrap and self._rng.random() < 0.1 else []
        tokens = prompt + [SOT, LANGUAGE[language], TRANSCRIBE] + ([] if timestamps else [NO_TIMESTAMPS])
        targets = [IGNORED] * len(tokens)
        if segments:
            targets[len(prompt)] = LANGUAGE[language]
        centres = [-1.0] * (len(tokens) - 1)
        if not segments:
            harmless = FIRST_TIMESTAMP if timestamps else LINE_BREAK
            targets[-1] = NO_SPEECH
            return Window(inputs, tokens + [harmless], targets + [EOT], centres + [-1.0, -1.0],
                          alternative=(len(tokens) - 1, harmless))
        body = []
        for segment in segments:
            ids = encode(" " + segment.text)
            middles = token_centres([PIECES[i] for i in ids], segment.start, segment.end)
            if timestamps:
                start = segment.start if body else min(segment.start, 1.0)
                ids = [_stamp(start), *ids, _stamp(segment.end)]
                middles = [segment.start * 50, *middles, segment.end * 50]
            body += ids
            centres += middles
        targets[-1] = body[0]
        letters = [c for s in segments for c in spell(s.text + " ")][:-1]
        return Window(inputs, tokens + body, targets + body[1:] + [EOT], centres + [segments[-1].end * 50],
                      letters=letters)


def _stamp(seconds):
    return FIRST_TIMESTAMP + min(1500, round(seconds * 50))
