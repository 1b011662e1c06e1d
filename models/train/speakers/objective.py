"""What the voice embedding is trained to: an additive angular margin over all voices, and pairs of one voice in a batch."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class VoiceLoss(nn.Module):
    """Deng et al. 2019 (ArcFace) over `voices` known ones, and Chung et al. 2020's angular prototypes.

    Rows of a batch come in twos: 2 i and 2 i + 1 are cuts of one voice."""

    def __init__(self, size, voices, scale=30.0):
        super().__init__()
        self.voices = nn.Parameter(F.normalize(torch.randn(voices, size)))
        self.scale = scale
        # Scale and offset of the cosines between the two cuts of a batch.
        self.pair = nn.Parameter(torch.tensor([10.0, -5.0]))

    def forward(self, embeddings, voices, margin):
        """(loss, {name: figure}) for [2 n, size], [2 n] ids."""
        unit = F.normalize(embeddings.float())
        cosine = unit @ F.normalize(self.voices).t()
        logits = self.scale * angular_margin(cosine, voices, margin)
        classes = F.cross_entropy(logits, voices, label_smoothing=0.02)
        # The factor keeps the pair's scale, a single number, moving as fast as the rest.
        alike = F.softplus(self.pair[0]) * (unit[0::2] @ unit[1::2].t()) + self.pair[1]
        same = torch.arange(len(alike))
        pairs = 0.5 * (F.cross_entropy(alike, same) + F.cross_entropy(alike.t(), same))
        hits = (cosine.argmax(1) == voices).float().mean()
        return classes + pairs, dict(classes=classes.item(), pairs=pairs.item(), right=hits.item())


def angular_margin(cosine, targets, margin):
    """`cosine` [n, voices] with the angle to each row's target widened by `margin` radians."""
    rows = torch.arange(len(targets))
    wanted = cosine[rows, targets].clamp(-1 + 1e-6, 1 - 1e-6)
    angle = wanted.acos() + margin
    # Past pi the cosine would rise again; go on straight down instead.
    below = wanted - margin * math.sin(margin)
    moved = torch.where(angle < torch.pi, angle.clamp(max=torch.pi).cos(), below)
    result = cosine.clone()
    result[rows, targets] = moved
    return result
