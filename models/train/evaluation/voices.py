"""Errors of the voice embedding on recordings of people it was not trained on."""
import json
import os
import random

import numpy as np

from speakers.corpus import RATE
from speakers.verification import crossing, embed, equal_error_rate, pairs

_SHORTEST, _LONGEST = 2.0, 6.0
_SEED = 5


def cuts(samples, rng):
    """Consecutive pieces of 2 to 6 s; a rest under 2 s goes."""
    result, place = [], 0
    while len(samples) - place >= _SHORTEST * RATE:
        length = min(int(rng.uniform(_SHORTEST, _LONGEST) * RATE), len(samples) - place)
        result.append(samples[place:place + length])
        place += length
    return result


def listed(folder, wanted):
    """The entries of folder/refs.json for which wanted(entry) holds, `path` added."""
    with open(os.path.join(folder, "refs.json"), encoding="utf8") as file:
        return [{**entry, "path": os.path.join(folder, entry["file"])} for entry in json.load(file) if wanted(entry)]


class Trials:
    """Cuts of recordings, and the cosines of all pairs of cuts that are not of one utterance.

    Two cuts of one long recording are a pair: nothing else is known of such a voice."""

    def __init__(self, network, entries, read):
        rng, pieces, speakers, clips = random.Random(_SEED), [], [], []
        for number, entry in enumerate(entries):
            for cut in cuts(read(entry["path"]), rng):
                pieces.append(cut)
                speakers.append(entry["speaker"])
                clips.append(number if entry["kind"] == "utterance" else -len(pieces))
        self.names, self._people = np.unique(speakers, return_inverse=True)
        self.cuts, self._clips = len(pieces), np.array(clips)
        self.scores, self.same, self._first, self._second = pairs(embed(network, pieces), self._people, self._clips)

    def error(self):
        """Equal error rate, per cent."""
        return 100 * equal_error_rate(self.scores, self.same)

    def interval(self, draws=200):
        """Per cent, the middle 95 % of draws of people with replacement; nobody is held against himself."""
        rng, count, errors = np.random.default_rng(_SEED), len(self.names), []
        for _ in range(draws):
            times = np.bincount(rng.integers(count, size=count), minlength=count)
            # Pairs of one person count as often as the person, pairs of two as often as the two meet.
            weight = np.where(self.same, times[self._first], times[self._first] * times[self._second])
            kept = np.repeat(np.arange(len(self.scores)), weight)
            errors.append(100 * equal_error_rate(self.scores[kept], self.same[kept]))
        return tuple(np.percentile(errors, [2.5, 97.5]))

    def by_person(self, threshold):
        """{name: (per cent of own pairs refused, per cent of pairs with others accepted)} at a cosine."""
        result = {}
        for number, name in enumerate(self.names):
            mine = (self._first == number) | (self._second == number)
            own, strange = self.scores[mine & self.same], self.scores[mine & ~self.same]
            result[str(name)] = (100 * float((own < threshold).mean()) if len(own) else None,
                                 100 * float((strange >= threshold).mean()))
        return result

    def threshold(self):
        """The cosine at which both errors are equal."""
        return crossing(self.scores, self.same)
