"""Who speaks in a frame as one class of seven: nobody, one of three, or two of them (Plaquet and Bredin 2023)."""
from itertools import combinations, permutations

import torch
import torch.nn.functional as F

SPEAKERS = 3
AT_ONCE = 2
# Speakers of each class: (), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2).
CLASSES = [members for size in range(AT_ONCE + 1) for members in combinations(range(SPEAKERS), size)]
_ORDERS = list(permutations(range(SPEAKERS)))
# [class, speaker]: 1 where the class has the speaker.
MEMBERS = torch.tensor([[float(s in members) for s in range(SPEAKERS)] for members in CLASSES])
# [order, class]: the class that each class becomes when the speakers change places.
_MOVED = torch.tensor([[CLASSES.index(tuple(sorted(order[s] for s in members))) for members in CLASSES]
                       for order in _ORDERS])


def classes_of(speaking):
    """[.., frames, 3] of 0 and 1 -> [.., frames] class numbers; of three at once the first two count."""
    speaking = speaking * (speaking.cumsum(-1) <= AT_ONCE)
    return (speaking[..., None, :] == MEMBERS.to(speaking.dtype)).all(-1).float().argmax(-1)


def loss(logits, targets):
    """(cross-entropy a frame under the best order of each window's speakers, targets in that order) of
    [n, frames, 7] and [n, frames]."""
    scores = logits.float().log_softmax(-1)
    moved = _MOVED[:, targets]
    costs = -scores[None].expand(len(_ORDERS), -1, -1, -1).gather(-1, moved[..., None]).squeeze(-1).mean(-1)
    best = costs.min(0)
    return best.values.mean(), moved[best.indices, torch.arange(len(targets))]


def speaking(classes):
    """[.., frames] class numbers -> [.., frames, 3] of 0 and 1."""
    return F.embedding(classes, MEMBERS)
