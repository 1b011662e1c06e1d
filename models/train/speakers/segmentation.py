"""The segmentation: which of up to three people speak in each frame of a window, two at once at most."""
import torch
import torch.nn.functional as F
from torch import nn

from . import powerset
from .embedding import Trunk
from .features import GraphFeatures

# Samples of an output frame: the stem halves the features' rate.
FRAME = 320


class Segmentation(nn.Module):
    """Log-mel [n, 80, frames] -> [n, frames / 2, 7] logits of powerset classes.

    The trunk is the embedding's first blocks: it starts from what that has learned about voices."""

    def __init__(self, width=192, dilations=(1,), narrow=128, hidden=96, layers=2):
        super().__init__()
        self.trunk = Trunk(width, dilations)
        self.narrow = nn.Conv1d(width, narrow, 1)
        self.recurrent = nn.LSTM(narrow, hidden, layers, batch_first=True, bidirectional=True)
        self.hidden, self.classes = nn.Linear(2 * hidden, 96), nn.Linear(96, len(powerset.CLASSES))

    def forward(self, mel):
        # torch's recurrent layers gain nothing from half precision on a CPU.
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training):
            x = self.trunk(mel)[-1]
        x, _ = self.recurrent(F.relu(self.narrow(x.float())).transpose(1, 2))
        return self.classes(F.relu(self.hidden(x)))

    def adopt(self, state):
        """Takes over the trunk of a trained embedding's state where it has the same tensors; returns their number."""
        own = self.state_dict()
        taken = {name: value for name, value in state.items()
                 if name.startswith("trunk.") and name in own and own[name].shape == value.shape}
        self.load_state_dict({**own, **taken})
        return len(taken)


class SamplesToClasses(nn.Module):
    """What is exported: samples [n, 1, samples] -> [n, samples // 320, 7] log-probabilities."""

    def __init__(self, segmentation):
        super().__init__()
        self.features, self.segmentation = GraphFeatures(), segmentation

    def forward(self, samples):
        return self.segmentation(self.features(samples)).log_softmax(-1)
