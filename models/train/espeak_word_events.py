#!/usr/bin/env python3
"""Makes clips of which it is known when each word is said: espeak-ng's own word events, to judge word times by.

    python3 models/train/espeak_word_events.py DIRECTORY --seed 1
    npx verbatim bench words --clips DIRECTORY

Sentences of the phrase grammar that were in no training corpus, said through libespeak-ng's C API by espeak-ng voices
of the training and held-out ones: alone, and in pieces of 10 to 25 s with pauses between them. Writes 16 kHz mono WAV
files and words.json: [{file, language, kind, voices, voice, text, seconds, words: [{word, start, end}]}], times in
seconds. A word ends where the next begins, or where a pause or the end of sound comes first.

espeak-ng is GPL-3: this is a tool for measuring on a machine that has it (apt-get install espeak-ng), and neither it
nor anything that loads it is shipped.
"""
import argparse
import json
import multiprocessing
import os
import random
import re
import wave
from dataclasses import dataclass

import numpy as np

from grammar import LANGUAGES, draw, is_held_out
from speech import synthesis
from speech.espeak_events import Espeak
from speech.voices import draw_held_out_voice, draw_training_voice

RATE = synthesis.SAMPLE_RATE
# Of the training, and kept out of it.
VOICES = {"seen": draw_training_voice, "held": draw_held_out_voice}
_PEAK = 20000
# As in the evaluator's clips: before a clip, between and behind its sentences, seconds.
_LEAD, _PAUSE = (0.1, 0.6), (0.2, 0.7)
_SHORTEST_TEXT = 18
# Of a piece, seconds: as long as drawn from here, and no longer than this.
_PIECE, _LONGEST = (10, 20), 25
# Of the loudest sample: what is quieter is silence.
_LOUD = 0.012


@dataclass(frozen=True)
class Job:
    """The clip of this number; a `piece` is of several sentences."""
    directory: str
    seed: int
    voices: str
    language: str
    number: int
    piece: bool

    @property
    def kind(self):
        return "piece" if self.piece else "sentence"

    @property
    def file(self):
        return f"{self.voices}-{self.kind}-{self.language}-{self.number:03d}.wav"


def make(job):
    """Writes the clip; returns its description."""
    rng = random.Random(f"{job.seed} {job.file}")
    # espeak-ng is the only engine with events.
    while (voice := VOICES[job.voices](job.language, rng)).engine != "espeak-ng":
        pass
    samples, texts, words = speak_clip(Espeak(voice), job.language, rng, rng.uniform(*_PIECE) if job.piece else 0)
    write_wav(os.path.join(job.directory, job.file), samples)
    return dict(file=job.file, language=job.language, kind=job.kind, voices=job.voices, voice=voice.label,
                text=" ".join(texts), seconds=round(len(samples) / RATE, 3), words=words)


def speak_clip(espeak, language, rng, seconds):
    """(samples, texts, words): one sentence, and further ones until there are `seconds`."""
    parts, texts, words = [np.zeros(int(RATE * rng.uniform(*_LEAD)))], [], []
    while not texts or sum(map(len, parts)) < seconds * RATE:
        text, samples, own = speak_sentence(espeak, language, rng)
        place = sum(map(len, parts))
        if texts and place + len(samples) > _LONGEST * RATE:
            continue
        words += [dict(word=word, start=round(place / RATE + start, 4), end=round(place / RATE + end, 4))
                  for word, start, end in own]
        parts += [samples, np.zeros(int(RATE * rng.uniform(*_PAUSE)))]
        texts.append(text)
    return np.concatenate(parts), texts, words


def speak_sentence(espeak, language, rng):
    """(text, samples at 16 kHz without silence around, [(word, start, end)] in seconds)"""
    while True:
        drawn = draw(rng)
        text = drawn.text[language]
        if not is_held_out(drawn) or len(text) < _SHORTEST_TEXT:
            continue
        speech = espeak.speak(text)
        words = timed(text, speech.words)
        if words is not None:
            return (text, *cut_out(speech, words))


def timed(text, events):
    """[(word, start sample, end sample)] of the words between spaces; None when espeak-ng runs some of them together, so
    that one has no event ("of the")."""
    words = []
    for match in re.finditer(r"\S+", text):
        own = [event for event in events if match.start() <= event.place < match.end()]
        if not own:
            return None
        words.append((match.group(), own[0].start, own[-1].end))
    return words


def cut_out(speech, words):
    """Without the silence around, but for 10 ms before and 30 ms behind, at 16 kHz; words move with it, into the sound."""
    level = np.abs(speech.samples.astype(int))
    loud = np.nonzero(level > _LOUD * level.max())[0]
    begin, end = max(0, loud[0] - speech.rate // 100), loud[-1] + speech.rate * 3 // 100
    samples = synthesis.resample(speech.samples[begin:end].astype(np.float32), RATE / speech.rate)

    def seconds(sample):
        return (min(max(sample, loud[0]), loud[-1] + 1) - begin) / speech.rate

    return samples * (_PEAK / np.abs(samples).max()), [(word, seconds(a), seconds(b)) for word, a, b in words]


def write_wav(path, samples):
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--voices", choices=VOICES, action="append", help="only these; may be given twice (default: both)")
    parser.add_argument("--sentences", type=int, default=30, help="clips of one sentence, for each language and voices")
    parser.add_argument("--pieces", type=int, default=8, help="clips of 10 to 25 s, likewise")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    os.makedirs(args.directory, exist_ok=True)
    jobs = [Job(args.directory, args.seed, voices, language, number, number >= args.sentences)
            for voices in args.voices or VOICES for language in LANGUAGES
            for number in range(args.sentences + args.pieces)]
    # A process for each, since a process has one voice.
    with multiprocessing.Pool(args.workers, maxtasksperchild=1) as pool:
        clips = pool.map(make, jobs, chunksize=1)
    with open(os.path.join(args.directory, "words.json"), "w", encoding="utf8") as file:
        json.dump(clips, file, ensure_ascii=False, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
