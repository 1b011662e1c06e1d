"""The voice embedding: a trunk, attentive statistics pooling; cosine tells how alike two voices are."""
import torch
import torch.nn.functional as F
from torch import nn

from .features import GraphFeatures
from .features import MELS
from .layers import Residual2d, Stem, TimeDelay, conv1d, conv2d


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


class ResidualTrunk(nn.Sequential):
    """Log-mel [n, 80, frames] -> [n, channels, 10, frames / 4]: a thin residual network over bands and frames."""

    def __init__(self, channels):
        a, b, c, d = channels
        super().__init__(conv2d(1, a, 3, (2, 1)), nn.ReLU(), Residual2d(a, b, (1, 2)), Residual2d(b, b, 1),
                         Residual2d(b, c, 2), Residual2d(c, c, 1), Residual2d(c, d, (2, 1)), Residual2d(d, d, 1))


class VoiceEmbedding(nn.Module):
    """Log-mel [n, 80, frames] -> [n, size]. `network`: "residual", or "time-delay", whose trunk the segmentation can
    start from."""

    def __init__(self, network="residual", channels=(16, 24, 48, 96), width=192, dilations=(1, 2, 3), pooled=256, size=192,
                 dropout=0.2):
        super().__init__()
        self._residual = network == "residual"
        if self._residual:
            self.trunk, gathered = ResidualTrunk(channels), channels[-1] * (MELS // 8)
        else:
            self.trunk, gathered = Trunk(width, dilations), width * len(dilations)
        self.gather = conv1d(gathered, pooled)
        self.pool = StatisticsPooling(pooled)
        self.before, self.head, self.after = nn.BatchNorm1d(2 * pooled), nn.Linear(2 * pooled, size), nn.BatchNorm1d(size)
        self.drop = nn.Dropout(dropout if self._residual else 0)

    @classmethod
    def of(cls, state, **shape):
        """The network of a state_dict, of either kind."""
        network = cls("time-delay" if "trunk.stem.leave.0.weight" in state else "residual", **shape)
        network.load_state_dict(state)
        return network.eval()

    def forward(self, mel):
        heard = self.trunk(mel[:, None]).flatten(1, 2) if self._residual else torch.cat(self.trunk(mel), 1)
        x = F.relu(self.gather(heard))
        return self.after(self.head(self.drop(self.before(self.pool(x)))))


class SamplesToEmbedding(nn.Module):
    """What is exported: samples [n, 1, samples] -> [n, sizes of all] of length 1. The cosine of two is the mean of the
    cosines that the embeddings give."""

    def __init__(self, *embeddings):
        super().__init__()
        self.features, self.embeddings = GraphFeatures(), nn.ModuleList(embeddings)

    def forward(self, samples):
        mel = self.features(samples)
        return F.normalize(torch.cat([F.normalize(embedding(mel)) for embedding in self.embeddings], 1))
