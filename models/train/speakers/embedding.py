"""The voice embedding: stem, time-delay blocks, attentive statistics pooling; cosine tells how alike two voices are."""
import torch
import torch.nn.functional as F
from torch import nn

from .features import GraphFeatures
from .layers import Stem, TimeDelay, conv1d


class StatisticsPooling(nn.Module):
    """[n, width, frames] -> [n, 2 * width]: mean and standard deviation under a weight per channel and frame."""

    def __init__(self, width, inner=64):
        super().__init__()
        self.hear = nn.Conv1d(3 * width, inner, 1)
        self.weigh = nn.Conv1d(inner, width, 1)

    @staticmethod
    def _moments(x, weight):
        mean = (x * weight).sum(-1, keepdim=True)
        variance = (x * x * weight).sum(-1, keepdim=True) - mean * mean
        return mean, variance.clamp(min=1e-5).sqrt()

    def forward(self, x):
        x = x.float()
        mean = x.mean(-1, keepdim=True)
        spread = (x * x).mean(-1, keepdim=True).sub(mean * mean).clamp(min=1e-5).sqrt()
        context = torch.cat([x, mean.expand_as(x), spread.expand_as(x)], 1)
        weight = torch.softmax(self.weigh(torch.tanh(self.hear(context))).float(), -1)
        return torch.cat(self._moments(x, weight), 1).squeeze(-1)


class Trunk(nn.Module):
    """Log-mel [n, 80, frames] -> [n, width, frames / 2] and what each block gave."""

    def __init__(self, width, dilations):
        super().__init__()
        self.stem = Stem(width)
        self.blocks = nn.ModuleList(TimeDelay(width, dilation) for dilation in dilations)

    def forward(self, mel):
        x, layers = self.stem(mel), []
        for block in self.blocks:
            x = block(x)
            layers.append(x)
        return layers


class VoiceEmbedding(nn.Module):
    """Log-mel [n, 80, frames] -> [n, size]."""

    def __init__(self, width=192, dilations=(1, 2, 3), pooled=256, size=192):
        super().__init__()
        self.trunk = Trunk(width, dilations)
        self.gather = conv1d(width * len(dilations), pooled)
        self.pool = StatisticsPooling(pooled)
        self.before, self.head, self.after = nn.BatchNorm1d(2 * pooled), nn.Linear(2 * pooled, size), nn.BatchNorm1d(size)

    def forward(self, mel):
        x = F.relu(self.gather(torch.cat(self.trunk(mel), 1)))
        return self.after(self.head(self.before(self.pool(x))))


class SamplesToEmbedding(nn.Module):
    """What is exported: samples [n, 1, samples] -> [n, size] of length 1."""

    def __init__(self, embedding):
        super().__init__()
        self.features, self.embedding = GraphFeatures(), embedding

    def forward(self, samples):
        return F.normalize(self.embedding(self.features(samples)))
