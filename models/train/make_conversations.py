#!/usr/bin/env python3
"""Makes conversations of which it is known who speaks when, to choose and to judge what tells speakers apart.

    python3 models/train/make_conversations.py DIRECTORY --seed 1
    python3 models/train/make_conversations.py DIRECTORY --people models/train/data/speakers
    npx verbatim bench speakers --rttm DIRECTORY --audio DIRECTORY --words DIRECTORY

Of synthetic voices that no training hears, which say sentences of the phrase grammar in English; or, with --people, of
the people whom train_speakers.py prepared and held out. Times between turns are those of conversations.py. Writes for each
conversation NAME.wav (16 kHz), NAME.rttm, and NAME.json: [{speaker, start, end, text}], times in seconds; recorded people
have no text, and nothing for --words.
"""
import argparse
import json
import multiprocessing
import os
import random
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from espeak_word_events import write_wav  # noqa: E402
from grammar import draw, is_held_out  # noqa: E402
from speakers import activity, sound  # noqa: E402
from speakers.conversations import draw_style  # noqa: E402
from speakers.corpus import RATE, Corpus  # noqa: E402
from speech import synthesis  # noqa: E402
from speech.voices import draw_held_out_voice  # noqa: E402

_PEAK = 20000
# Pauses within an utterance that RTTM counts as speech, in frames of 10 ms.
_BRIDGED = 30


@dataclass(frozen=True)
class Job:
    """The conversation of this number; `people` is the folder of the corpus, None for synthetic voices."""
    directory: str
    seed: int
    speakers: int
    minutes: float
    number: int
    people: str | None

    @property
    def name(self):
        kind = "made" if self.people is None else "people"
        return f"{kind}-{self.speakers}-{self.minutes:g}min-{self.number}"


class SyntheticPerson:
    def __init__(self, voice):
        self._voice, self.label = voice, voice.label

    def say(self, rng):
        """(samples of RMS 1, text)"""
        while True:
            drawn = draw(rng)
            samples = synthesis.speak(self._voice, drawn.text["en"]) if is_held_out(drawn) else None
            if samples is not None:
                return samples.astype(np.float32) / sound.level(samples), drawn.text["en"]


class RecordedPerson:
    """Says the clips one after the other, each half of a long one by itself, and all over again."""

    def __init__(self, corpus, key, rng):
        self._corpus, self._key, self.label = corpus, key, key[1]
        self._clips = list(corpus.held_out[key])
        rng.shuffle(self._clips)
        self._said = 0

    def say(self, _rng):
        clip = self._clips[self._said % len(self._clips)]
        self._said += 1
        samples = self._corpus.samples(self._key, clip)
        return samples / sound.level(samples), None


def synthetic_people(count, rng):
    """Of names that differ, since two draws of a name are two moods of one voice."""
    people, names = [], set()
    while len(people) < count:
        voice = draw_held_out_voice("en", rng)
        if (name := voice.name.split("+")[-1]) not in names:
            names.add(name)
            people.append(SyntheticPerson(voice))
    return people


def recorded_people(folder, count, rng):
    corpus = Corpus(folder, ("voices",))
    keys = sorted(key for key, clips in corpus.held_out.items() if len(clips) > 2)
    return [RecordedPerson(corpus, key, rng) for key in rng.sample(keys, count)]


def spans_of(samples):
    """[(begin, end) in seconds] of speech, over short pauses."""
    spans, _ = activity.find(samples / np.abs(samples).max())
    joined = []
    for begin, end in spans:
        if joined and begin - joined[-1][1] <= _BRIDGED:
            joined[-1][1] = end
        else:
            joined.append([begin, end])
    return [(begin * activity.FRAME / RATE, end * activity.FRAME / RATE) for begin, end in joined]


def converse(people, seconds, rng):
    """(samples of RMS 1 where somebody speaks, [(speaker, start, end)], [{speaker, start, end, text}])"""
    style, place, who = draw_style(rng), 0.3, 0
    samples, turns, said = np.zeros(int((seconds + 30) * RATE), np.float32), [], []
    loudness = [10 ** (rng.gauss(0, 2) / 20) for _ in people]
    free = [0.0] * len(people)
    while place < seconds:
        voice, text = people[who].say(rng)
        place = max(place, free[who])
        begin = int(place * RATE)
        samples[begin:begin + len(voice)] += voice * loudness[who]
        spans = [(place + a, place + b) for a, b in spans_of(voice)]
        turns += [(who, a, b) for a, b in spans]
        end = free[who] = place + len(voice) / RATE
        said.append(dict(speaker=f"P{who + 1}", start=round(place, 3), end=round(end, 3), text=text))
        if len(people) == 1 or rng.random() < style.stay:
            place = end + rng.expovariate(1 / style.pause)
        else:
            place = max(place + 0.5, end + rng.gauss(style.gap, style.spread))
            who = rng.choice([i for i in range(len(people)) if i != who])
    return samples[:int((max(free) + 0.3) * RATE)], turns, said


def make(job):
    rng = random.Random(f"{job.seed} {job.name}")
    count = job.speakers
    people = synthetic_people(count, rng) if job.people is None else recorded_people(job.people, count, rng)
    samples, turns, said = converse(people, 60 * job.minutes, rng)
    noise = np.random.default_rng(rng.randrange(1 << 30)).standard_normal(len(samples))
    samples = samples + noise * 10 ** (-rng.uniform(25, 45) / 20)
    path = os.path.join(job.directory, job.name)
    write_wav(path + ".wav", samples * (_PEAK / np.abs(samples).max()))
    with open(path + ".rttm", "w", encoding="utf8") as file:
        for who, begin, end in sorted(turns, key=lambda turn: turn[1]):
            file.write(f"SPEAKER {job.name} 1 {begin:.3f} {end - begin:.3f} <NA> <NA> P{who + 1} <NA> <NA>\n")
    with open(path + ".json", "w", encoding="utf8") as file:
        json.dump(said, file, ensure_ascii=False, indent=1)
    return job.name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--speakers", type=int, nargs="+", default=[2, 3, 4, 6], help="people in a conversation")
    parser.add_argument("--minutes", type=float, nargs="+", default=[1, 3, 10], help="how long it is, about")
    parser.add_argument("--each", type=int, default=1, help="conversations of each number of people and length")
    parser.add_argument("--people", help="folder of the prepared corpus, whose held-out people speak")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    os.makedirs(args.directory, exist_ok=True)
    jobs = [Job(args.directory, args.seed, speakers, minutes, number, args.people)
            for speakers in args.speakers for minutes in args.minutes for number in range(args.each)]
    with multiprocessing.Pool(args.workers) as pool:
        for name in pool.imap_unordered(make, jobs):
            print(name, flush=True)


if __name__ == "__main__":
    main()
