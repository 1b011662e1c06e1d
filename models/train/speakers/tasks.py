"""The two things that are trained: their sizes, batches, losses, and the figures that tell how they do."""
from dataclasses import dataclass, field

import torch
from torch import nn

from . import conversations, cuts, onnx_file, powerset
from .corpus import RATE, Corpus
from .embedding import SamplesToEmbedding, VoiceEmbedding
from .objective import VoiceLoss
from .segmentation import FRAME, SamplesToClasses, Segmentation
from .verification import held_out_error


@dataclass(frozen=True)
class EmbeddingConfig:
    # Keyword arguments of VoiceEmbedding.
    shape: dict = field(default_factory=dict)
    # Processor minutes of all workers together; the learning rate is 0 at the end.
    minutes: float = 190
    # Seconds of sound a micro-batch and micro-batches a step.
    seconds: float = 128
    parts: int = 2
    rate: float = 1.5e-3
    # Of the weights, by the learning rate.
    decay: float = 0.05
    warmup: int = 200
    flat: float = 0.4
    # Radians; 0 up to the first progress, all of it from the second on.
    margin: float = 0.2
    margin_rises: tuple = (0.05, 0.4)
    seed: int = 11


@dataclass(frozen=True)
class SegmentationConfig:
    # Keyword arguments of Segmentation.
    shape: dict = field(default_factory=dict)
    minutes: float = 190
    # Windows a micro-batch and micro-batches a step.
    windows: int = 16
    parts: int = 2
    rate: float = 1.5e-3
    decay: float = 0.01
    warmup: int = 100
    flat: float = 0.4
    seed: int = 12


class EmbeddingTask:
    """Tells voices apart."""
    name = "embedding"
    Config = EmbeddingConfig

    def __init__(self, config, folder):
        self.config, self._corpus = config, Corpus(folder)
        self._maker = cuts.CutMaker(self._corpus)

    def build(self):
        network = VoiceEmbedding(**self.config.shape)
        model = nn.Module()
        model.network = network
        model.objective = VoiceLoss(network.head.out_features, self._maker.voices)
        return model

    def loss(self, model, seed, progress):
        """(loss, {name: figure}) of the micro-batch of that seed."""
        batch = self._maker.batch(seed, self.config.seconds)
        begin, end = self.config.margin_rises
        margin = self.config.margin * min(1.0, max(0.0, progress - begin) / (end - begin))
        with torch.autocast("cpu", torch.bfloat16):
            embeddings = model.network(batch.mel)
        return model.objective(embeddings, batch.voices, margin)

    def figures(self, model):
        """{"eer": per cent on pairs of cuts of people held out}"""
        return dict(eer=held_out_error(model.network, self._corpus))

    def facts(self):
        clips = [clip for each in self._corpus.by_speaker.values() for clip in each]
        return dict(people=len(self._corpus.by_speaker), voices=self._maker.voices, clips=len(clips),
                    hours=round(sum(clip.length for clip in clips) / RATE / 3600, 2))

    def export(self, model, path):
        onnx_file.export(SamplesToEmbedding(model.network), path, torch.zeros(1, 1, 3 * RATE), "embedding",
                         onnx_file.embedding_facts(model.network.head.out_features))


class SegmentationTask:
    """Says when one of up to three people speaks."""
    name = "segmentation"
    Config = SegmentationConfig

    def __init__(self, config, folder, embedding=None):
        """`embedding`: checkpoint of an EmbeddingTask whose trunk the network starts from."""
        self.config, self._corpus, self._embedding = config, Corpus(folder), embedding
        self._maker = conversations.WindowMaker(self._corpus)

    def build(self):
        network = Segmentation(**self.config.shape)
        if self._embedding:
            network.adopt(self._embedding)
        model = nn.Module()
        model.network = network
        return model

    def loss(self, model, seed, _progress):
        batch = self._maker.batch(seed, self.config.windows)
        logits = model.network(batch.mel)
        loss, targets = powerset.loss(logits, batch.targets)
        right = (logits.argmax(-1) == targets).float().mean()
        return loss, dict(ce=loss.item(), right=right.item())

    def figures(self, model, count=48):
        """{"frames": per cent of wrong frames in windows of people held out}"""
        batch = conversations.WindowMaker(self._corpus, self._corpus.held_out).batch(1, count)
        with torch.no_grad():
            logits = model.network(batch.mel)
        _, targets = powerset.loss(logits, batch.targets)
        return dict(frames=100 * (logits.argmax(-1) != targets).float().mean().item())

    def facts(self):
        return dict(people=len(self._maker.people), starts_from="embedding" if self._embedding else "nothing")

    def export(self, model, path):
        onnx_file.export(SamplesToClasses(model.network), path, torch.zeros(1, 1, conversations.LENGTH), "classes",
                         onnx_file.segmentation_facts(conversations.LENGTH, FRAME))
