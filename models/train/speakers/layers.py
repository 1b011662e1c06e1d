"""Blocks that the two speaker networks share. What lies in a `trunk` is trained by Muon (training/optimizer.py)."""
import torch
import torch.nn.functional as F
from torch import nn

from .features import MELS


class ConvNorm(nn.Sequential):
    """Convolution and batch normalisation, which the export folds into one."""

    def __init__(self, conv, channels, norm):
        super().__init__(conv, norm(channels))


def conv1d(inputs, outputs, width=1, dilation=1, groups=1, stride=1):
    conv = nn.Conv1d(inputs, outputs, width, stride, dilation * (width - 1) // 2, dilation, groups, bias=False)
    return ConvNorm(conv, outputs, nn.BatchNorm1d)


def conv2d(inputs, outputs, width=3, stride=1):
    return ConvNorm(nn.Conv2d(inputs, outputs, width, stride, width // 2, bias=False), outputs, nn.BatchNorm2d)


class Residual2d(nn.Module):
    """[n, inputs, bands, frames] -> [n, outputs, bands / stride, frames / stride]"""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = conv2d(inputs, outputs, 3, stride)
        self.second = conv2d(outputs, outputs)
        self.skip = conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.skip(x))


class Stem(nn.Module):
    """Log-mel [n, 80, frames] -> [n, width, ceil(frames / 2)]: patterns found at any pitch, by 2-D convolutions."""

    def __init__(self, width, channels=(16, 24, 32)):
        super().__init__()
        small, middle, large = channels
        self.enter = conv2d(1, small, 3, (2, 1))
        self.blocks = nn.Sequential(Residual2d(small, middle, (2, 2)), Residual2d(middle, large, (2, 1)))
        self.leave = conv1d(large * MELS // 8, width)

    def forward(self, mel):
        x = self.blocks(F.relu(self.enter(mel[:, None])))
        return F.relu(self.leave(x.flatten(1, 2)))


class Gate(nn.Module):
    """Squeeze and excitation: each channel by a factor of 0 to 1, from the means of all."""

    def __init__(self, width, inner):
        super().__init__()
        self.down, self.up = nn.Conv1d(width, inner, 1), nn.Conv1d(inner, width, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.up(F.relu(self.down(x.mean(-1, keepdim=True)))))


class TimeDelay(nn.Module):
    """A residual time-delay block over [n, width, frames]: mix, look around in groups, mix, gate."""

    def __init__(self, width, dilation, groups=4, reach=5):
        super().__init__()
        self.enter, self.leave = conv1d(width, width), conv1d(width, width)
        self.around = conv1d(width, width, reach, dilation, groups)
        self.gate = Gate(width, width // 4)

    def forward(self, x):
        y = F.relu(self.around(F.relu(self.enter(x))))
        return x + self.gate(F.relu(self.leave(y)))
