"""Recordings of people on disk: one file of 16 kHz int16 samples and one JSON line a clip.

A folder of recordings has a voices.tsv with the columns file, language and speaker, as Common Voice's clips are
handed out. `prepare` decodes it once; `Corpus` reads the result. One sixteenth of the people who left two clips or
more is held out, always the same: they are in no batch, and tell how the training does.
"""
import csv
import json
import os
import zlib
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from . import activity

RATE = 16000


@dataclass(frozen=True)
class Clip:
    """`offset` and `length` in samples of the corpus; `spans` of speech in frames of 10 ms; `contrast` in dB between
    its loud and its quiet frames."""
    speaker: str
    language: str
    offset: int
    length: int
    spans: tuple
    contrast: float


def is_held_out(speaker):
    return zlib.crc32(speaker.encode()) % 16 == 3


class Writer:
    """Writes NAME.i16 and, when it is closed, NAME.jsonl."""

    def __init__(self, folder, name):
        os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, name)
        self._samples = open(self._path + ".i16", "wb")
        self._lines, self._offset = [], 0

    def add(self, samples, speaker, language):
        """`samples` float32 in [-1, 1]; what is silent at both ends goes, 0.2 s stay."""
        spans, contrast = activity.find(samples)
        if not spans:
            return
        begin = max(0, spans[0][0] - 20)
        end = min(len(samples) // activity.FRAME, spans[-1][1] + 20)
        kept = samples[begin * activity.FRAME:end * activity.FRAME]
        kept = kept * (0.7 / (np.abs(kept).max() + 1e-6))
        self._samples.write((kept * 32767).astype(np.int16).tobytes())
        moved = [(a - begin, b - begin) for a, b in spans]
        self._lines.append(json.dumps([speaker, language, self._offset, len(kept), moved, round(contrast, 1)]))
        self._offset += len(kept)

    def close(self):
        """Returns the hours written."""
        self._samples.close()
        with open(self._path + ".part", "w", encoding="utf8") as index:
            index.write("\n".join(self._lines))
        os.replace(self._path + ".part", self._path + ".jsonl")
        return self._offset / RATE / 3600


def prepare(recordings, folder, read):
    """Decodes the clips of `recordings`/voices.tsv with read(path) -> float32 at 16 kHz, unless that was done."""
    if os.path.exists(os.path.join(folder, "voices.jsonl")):
        return
    with open(os.path.join(recordings, "voices.tsv"), encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    writer = Writer(folder, "voices")
    for row in rows:
        writer.add(read(os.path.join(recordings, row["file"])), row["speaker"], row["language"])
    print(f"voices: {writer.close():.1f} h of {len({row['speaker'] for row in rows})} people", flush=True)


class Corpus:
    """Every complete file of a folder. `by_speaker`: {(file, speaker): [Clip]} of those to train on, `held_out` the
    others."""

    def __init__(self, folder, names=("voices", "synthetic")):
        self._samples, self._coded = {}, {}
        self.by_speaker, self.held_out = {}, {}
        everyone = defaultdict(list)
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.exists(path + ".jsonl"):
                continue
            self._samples[name] = np.memmap(path + ".i16", np.int16, "r")
            coded = path + ".coded.i16"
            self._coded[name] = np.memmap(coded, np.int16, "r") if os.path.exists(coded) else self._samples[name]
            with open(path + ".jsonl", encoding="utf8") as lines:
                for line in lines:
                    speaker, language, offset, length, spans, contrast = json.loads(line)
                    clip = Clip(speaker, language, offset, length, tuple(map(tuple, spans)), contrast)
                    everyone[name, speaker].append(clip)
        for (name, speaker), clips in everyone.items():
            held = name == "voices" and len(clips) > 1 and is_held_out(speaker)
            (self.held_out if held else self.by_speaker)[name, speaker] = clips

    def samples(self, key, clip, begin=0, end=None, coded=False):
        """float32 [begin, end) of a clip of the speaker `key`, as it was or as a codec left it."""
        end = clip.length if end is None else min(end, clip.length)
        source = (self._coded if coded else self._samples)[key[0]]
        return source[clip.offset + begin:clip.offset + end].astype(np.float32) / 32768
