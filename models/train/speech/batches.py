"""Which windows a step trains on, and their tensors."""
import random
from dataclasses import dataclass, replace

import torch

from .tokenizer import EOT
from .windows import IGNORED

# Mel frames of a window and how often it is drawn: full of sound, so that a step teaches much.
_LENGTHS = ((120, 1.0), (200, 2.0), (300, 3.0), (400, 4.0), (500, 4.0), (650, 5.0), (820, 6.0), (1000, 3.0))
_BOOTSTRAP = ((200, 1.0), (280, 2.0), (400, 3.0), (560, 2.0))
# From _SERVED_FROM of the run on, most windows are as the service makes them: cut at pauses, at most 8 s long, then
# padded to a multiple of 5.12 s; a few of 15 and 30 s are for callers who always encode 30 s.
_SERVED_FROM = 0.6
_SERVED = ((512, 12.0), (1024, 16.0), (1500, 0.4), (3000, 0.5))
# Frames with sound, from and to, of a window that is padded.
_ROOM = {512: (110, 512), 1024: (500, 820)}
_EMPTY = 0.10
# Speech of languages that the model does not know; none in the bootstrap.
_FOREIGN = 0.05


@dataclass
class Batch:
    """`mel` [n, 80, frames]; `tokens`, `targets`, `centres` [n, time]; `alternatives` [k, 3] of (row, position, id);
    `letters` a list of CTC symbols a window, `heard` [n] encoder positions with sound."""
    mel: torch.Tensor
    tokens: torch.Tensor
    targets: torch.Tensor
    centres: torch.Tensor
    alternatives: torch.Tensor
    letters: list
    heard: torch.Tensor

    def to(self, device):
        for name in ("mel", "tokens", "targets", "centres", "alternatives", "heard"):
            setattr(self, name, getattr(self, name).to(device))
        return self

    def thin(self, every):
        """The batch with the decoder's part of every `every`-th window only; mel, letters and heard stay."""
        if every == 1:
            return self
        kept = self.alternatives[self.alternatives[:, 0] % every == 0]
        kept = torch.cat([kept[:, :1].div(every, rounding_mode="floor"), kept[:, 1:]], 1)
        return replace(self, tokens=self.tokens[::every], targets=self.targets[::every],
                       centres=self.centres[::every], alternatives=kept)


def _shape(rng, progress, bootstrap):
    choices = _BOOTSTRAP if bootstrap else _LENGTHS if progress < _SERVED_FROM else _LENGTHS + _SERVED
    lengths, weights = zip(*choices)
    return rng.choices(lengths, weights)[0]


def _kind(rng, frames, bootstrap):
    draw = rng.random()
    if draw < (0.03 if bootstrap else _EMPTY):
        return "empty"
    if not bootstrap and draw < _EMPTY + _FOREIGN:
        return "foreign"
    draw = rng.random()
    if frames <= 250:
        return "one"
    if bootstrap or frames <= 450:
        return "one" if draw < 0.6 else "dense"
    if frames <= 600:
        return "one" if draw < 0.35 else "dense"
    if frames >= 3000:
        return "dense" if draw < 0.2 else "few"
    return "one" if draw < 0.08 else "few" if draw < 0.25 else "dense"


def make_batch(maker, seed, progress, frames_per_batch, bootstrap=False):
    """A Batch of windows of one length, about `frames_per_batch` mel frames together; in `bootstrap` they are short
    and clear."""
    rng = random.Random(seed)
    maker.seed(seed)
    frames = _shape(rng, progress, bootstrap)
    count = max(1, min(16, round(frames_per_batch / frames)))
    rooms = [rng.randint(*_ROOM.get(frames, (frames, frames))) for _ in range(count)]
    return collate([maker.make(frames, _kind(rng, room, bootstrap), bootstrap, room) for room in rooms])


def _padded(rows, filler, dtype):
    out = torch.full((len(rows), max(map(len, rows))), filler, dtype=dtype)
    for i, row in enumerate(rows):
        out[i, :len(row)] = torch.tensor(row, dtype=dtype)
    return out


def collate(windows):
    alternatives = [(i, *w.alternative) for i, w in enumerate(windows) if w.alternative]
    return Batch(torch.stack([w.features for w in windows]),
                 _padded([w.tokens for w in windows], EOT, torch.long),
                 _padded([w.targets for w in windows], IGNORED, torch.long),
                 _padded([w.centres for w in windows], -1.0, torch.float),
                 torch.tensor(alternatives, dtype=torch.long).view(-1, 3),
                 [w.letters for w in windows], torch.tensor([w.heard for w in windows]))
