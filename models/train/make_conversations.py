#!/usr/bin/env python3
"""Makes conversations of which it is known who speaks when, to choose and to judge what tells speakers apart.

    python3 models/train/make_conversations.py DIRECTORY --seed 1
    python3 models/train/make_conversations.py DIRECTORY --people models/train/data/speakers
    python3 models/train/make_conversations.py DIRECTORY --readers RECORDINGS --language de
    npx verbatim bench speakers --rttm DIRECTORY --audio DIRECTORY --words DIRECTORY

Of synthetic voices that no training hears, which say sentences of the phrase grammar in English; or, with --people, of
the people whom train_speakers.py prepared and held out; or, with --readers, of the people who speak one language in a
folder with refs.json (file, language, speaker) and its files, each of which is said once. Times between turns are those
of conversations.py. Writes for each conversation NAME.wav (16 kHz), NAME.rttm, and NAME.json: [{speaker, start, end,
text}], times in seconds; recorded people have no text, and nothing for --words.
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
# Seconds of a reader's turn, if no pause makes it longer, and of recordings that a reader needs.
_PART, _LEAST = (2, 8), 14


@dataclass(frozen=True)
class Job:
    """The conversation of this number; `people` is the folder of the corpus, `readers` that of recordings in `language`,
    both None for synthetic voices."""
    directory: str
    seed: int
    speakers: int
    minutes: float
    number: int
    people: str | None
    readers: str | None = None
    language: str = "en"

    @property
    def name(self):
        kind = "people" if self.people else self.language if self.readers else "made"
        return f"{kind}-{self.speakers}-{self.minutes:g}min-{self.number}"


class SyntheticPerson:
    has_more = True

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
    has_more = True

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


class Reader:
    """Says each part of the recordings once, the recordings in any order."""

    def __init__(self, label, recordings, rng):
        self.label = label
        self._parts = [part for samples in rng.sample(recordings, len(recordings)) for part in parts_of(samples, rng)]

    @property
    def has_more(self):
        return len(self._parts) > 0

    def say(self, _rng):
        samples = self._parts.pop(0)
        return samples / sound.level(samples), None


def parts_of(samples, rng):
    """A recording cut in its pauses, into parts of some seconds."""
    spans, _ = activity.find(samples)
    cuts, begin = [], 0
    for (_, end), (following, _) in zip(spans, spans[1:]):
        if end - begin >= 100 * rng.uniform(*_PART):
            cuts.append(begin := (end + following) // 2)
    return np.split(samples, [cut * activity.FRAME for cut in cuts])


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


def readers(folder, language, count, rng):
    """Of those with enough to say. Kept in memory: some minutes of sound."""
    import soundfile

    with open(os.path.join(folder, "refs.json"), encoding="utf8") as file:
        entries = [entry for entry in json.load(file) if entry["language"] == language]
    recordings = {}
    for entry in entries:
        samples, rate = soundfile.read(os.path.join(folder, entry["file"]), dtype="float32")
        if rate != RATE or samples.ndim > 1:
            raise SystemExit(f"{entry['file']}: {rate} Hz, shape {samples.shape}; wanted mono at {RATE} Hz")
        recordings.setdefault(entry["speaker"], []).append(samples)
    enough = sorted(name for name, each in recordings.items() if sum(map(len, each)) >= _LEAST * RATE)
    if len(enough) < count:
        raise SystemExit(f"{folder}: {len(enough)} people with {_LEAST} s of {language}; wanted {count}")
    return [Reader(name, recordings[name], rng) for name in rng.sample(enough, count)]


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
    """(samples of RMS 1 where somebody speaks, [(speaker, start, end)], [{speaker, start, end, text}]) until that many
    seconds, or until everybody has said everything"""
    style, place, who = draw_style(rng), 0.3, 0
    samples, turns, said = np.zeros(int((seconds + 60) * RATE), np.float32), [], []
    loudness = [10 ** (rng.gauss(0, 2) / 20) for _ in people]
    free = [0.0] * len(people)
    while place < seconds and any(person.has_more for person in people):
        if not people[who].has_more:
            who = rng.choice([i for i, person in enumerate(people) if person.has_more])
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


def people_of(job, rng):
    if job.people:
        return recorded_people(job.people, job.speakers, rng)
    if job.readers:
        return readers(job.readers, job.language, job.speakers, rng)
    return synthetic_people(job.speakers, rng)


def make(job):
    rng = random.Random(f"{job.seed} {job.name}")
    samples, turns, said = converse(people_of(job, rng), 60 * job.minutes, rng)
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
    recorded = parser.add_mutually_exclusive_group()
    recorded.add_argument("--people", help="folder of the prepared corpus, whose held-out people speak")
    recorded.add_argument("--readers", help="folder of recordings with refs.json, whose people speak")
    parser.add_argument("--language", help="of the readers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    if (args.readers is None) != (args.language is None):
        parser.error("--readers and --language act together.")
    os.makedirs(args.directory, exist_ok=True)
    jobs = [Job(args.directory, args.seed, speakers, minutes, number, args.people, args.readers, args.language or "en")
            for speakers in args.speakers for minutes in args.minutes for number in range(args.each)]
    with multiprocessing.Pool(args.workers) as pool:
        for name in pool.imap_unordered(make, jobs):
            print(name, flush=True)


if __name__ == "__main__":
    main()
