"""Utterances on disk: shards of 16 kHz int16 samples with one JSON line each, made in any order, resumable.

`NAME.i16` holds the samples of a shard end to end; `NAME.jsonl` has a line per utterance: offset and length in
samples, language, text, voice label, and where its commas pause (samples from its start). The index appears when
the shard is complete, so readers may start while others are being made.
"""
import glob
import json
import os
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Utterance:
    shard: int
    offset: int
    length: int
    language: str
    text: str
    voice: str
    pauses: tuple


class ShardWriter:
    """Writes one shard; `close` makes it visible."""

    def __init__(self, folder, name):
        os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, name)
        self._samples = open(self._path + ".i16", "wb")
        self._lines, self._offset = [], 0

    def add(self, samples, language, text, voice, pauses):
        self._samples.write(samples.tobytes())
        self._lines.append(json.dumps([self._offset, len(samples), language, text, voice, pauses], ensure_ascii=False))
        self._offset += len(samples)

    def close(self):
        """Returns the seconds of speech in the shard."""
        self._samples.close()
        with open(self._path + ".part", "w", encoding="utf8") as index:
            index.write("\n".join(self._lines))
        os.replace(self._path + ".part", self._path + ".jsonl")
        return self._offset / 16000


class Store:
    """Reads every complete shard of a folder; `refresh` picks up the ones made since."""

    def __init__(self, folder):
        self.folder, self.utterances = folder, []
        self._shards, self._known = [], set()
        self.refresh()

    def refresh(self):
        """Returns the number of new utterances."""
        before = len(self.utterances)
        for path in sorted(glob.glob(os.path.join(self.folder, "*.jsonl"))):
            if path in self._known:
                continue
            self._known.add(path)
            with open(path, encoding="utf8") as lines:
                rows = [json.loads(line) for line in lines if line.strip()]
            self._shards.append(np.memmap(path[:-6] + ".i16", np.int16, "r"))
            shard = len(self._shards) - 1
            self.utterances += [Utterance(shard, *row[:5], tuple(row[5])) for row in rows]
        return len(self.utterances) - before

    def samples(self, utterance):
        """float32 samples in [-1, 1]."""
        end = utterance.offset + utterance.length
        return self._shards[utterance.shard][utterance.offset:end].astype(np.float32) / 32768
