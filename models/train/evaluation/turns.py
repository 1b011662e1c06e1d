"""Local diarization error of the segmentation: windows of recordings against who spoke when (RTTM)."""
from itertools import permutations

import numpy as np
import torch

from speakers import powerset
from speakers.conversations import LENGTH
from speakers.corpus import RATE
from speakers.features import log_mel
from speakers.segmentation import FRAME

_STEP = RATE * 5


def read_rttm(path):
    """{speaker: [(begin, end) in seconds]}"""
    turns = {}
    with open(path, encoding="utf8") as lines:
        for line in lines:
            fields = line.split()
            if fields and fields[0] == "SPEAKER":
                begin, length = float(fields[3]), float(fields[4])
                turns.setdefault(fields[7], []).append((begin, begin + length))
    return turns


def reference(turns, samples):
    """bool [frames, speakers] of `samples` samples."""
    speaking = np.zeros((samples // FRAME, len(turns)), bool)
    for column, spans in enumerate(turns.values()):
        for begin, end in spans:
            speaking[round(begin * RATE / FRAME):round(end * RATE / FRAME), column] = True
    return speaking


def errors(spoken, heard):
    """(missed, false, confused) speaker frames under the best match of bool [frames, n] and [frames, m]."""
    missed = np.maximum(0, spoken.sum(1) - heard.sum(1)).sum()
    false = np.maximum(0, heard.sum(1) - spoken.sum(1)).sum()
    both = np.minimum(spoken.sum(1), heard.sum(1)).sum()
    common = (spoken[:, :, None] & heard[:, None]).sum(0)
    if common.shape[0] < common.shape[1]:
        common = common.T
    most = max((sum(common[row, column] for column, row in enumerate(rows))
                for rows in permutations(range(common.shape[0]), common.shape[1])), default=0)
    return int(missed), int(false), int(both - most)


def windows(samples):
    """[(first sample, samples [160000])]; the last one ends with the recording."""
    starts = list(range(0, max(1, len(samples) - LENGTH + 1), _STEP))
    if starts[-1] + LENGTH < len(samples):
        starts.append((len(samples) - LENGTH) // FRAME * FRAME)
    return [(start, np.pad(piece := samples[start:start + LENGTH], (0, LENGTH - len(piece)))) for start in starts]


class Tally:
    """Speaker frames of some windows: errors of the model, and of one speaker for all speech."""

    def __init__(self):
        self.spoken = 0
        self.model, self.single = np.zeros(3, int), np.zeros(3, int)
        # [reference, model] frames: speech or not, overlap or not.
        self.speech, self.overlap = np.zeros((2, 2), int), np.zeros((2, 2), int)

    def add(self, spoken, heard):
        spoken = spoken[:, spoken.any(0)]
        self.spoken += int(spoken.sum())
        self.model += errors(spoken, heard)
        self.single += errors(spoken, spoken.any(1, keepdims=True))
        for table, least in ((self.speech, 1), (self.overlap, 2)):
            np.add.at(table, ((spoken.sum(1) >= least).astype(int), (heard.sum(1) >= least).astype(int)), 1)

    def row(self):
        """Per cent of the speaker frames; of speech and overlap the per cent found and the per cent of it that is true."""
        def share(part, whole):
            return round(100 * float(part) / max(1.0, float(whole)), 1)
        def detection(table):
            return [share(table[1, 1], table[1].sum()), share(table[1, 1], table[:, 1].sum())]
        return dict(der=share(self.model.sum(), self.spoken), parts=[share(p, self.spoken) for p in self.model],
                    one_speaker=share(self.single.sum(), self.spoken),
                    speech=detection(self.speech), overlap=detection(self.overlap))


def tally(network, samples, turns):
    """A Tally of all windows of a recording."""
    spoken, result = reference(turns, len(samples) + LENGTH), Tally()
    for start, window in windows(samples):
        with torch.no_grad():
            classes = network(log_mel(torch.from_numpy(window)[None])).argmax(-1)[0]
        heard = powerset.speaking(classes).numpy() > 0.5
        frames = min(len(heard), (len(samples) - start) // FRAME)
        first = start // FRAME
        result.add(spoken[first:first + frames], heard[:frames])
    return result


def together(tallies):
    result = Tally()
    for each in tallies:
        for name in ("spoken", "model", "single", "speech", "overlap"):
            setattr(result, name, getattr(result, name) + getattr(each, name))
    return result
