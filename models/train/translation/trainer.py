"""Trains the translation model: corpus, vocabulary, steps by wall clock, checkpoints, log, exports, card."""
import json
import os
import random
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F

from grammar import LANGUAGES
from training.records import Checkpoint, Log, scheduled_rate, write_card
from training.team import Member, Shared

from . import ct2, vocabulary
from .model import TranslationModel, pad
from .pairs import training_pair

_LOG_EVERY, _SAVE_SECONDS = 100, 120


@dataclass(frozen=True)
class TranslationConfig:
    pairs: int = 200_000
    vocabulary: int = 4000
    # Keyword arguments of TranslationModel.
    shape: dict = field(default_factory=lambda: dict(width=192, heads=3, inner=768, layers=2))
    # Wall-clock minutes; the learning rate is 0 at the end.
    minutes: float = 25
    # Target tokens a step.
    tokens: int = 2200
    rate: float = 2e-3
    warmup: int = 200
    flat: float = 0.35
    seed: int = 3


class Corpus:
    """Encoded pairs on disk, made once: (source ids, target ids)."""

    def __init__(self, config, folder):
        self.tokenizer = os.path.join(folder, "spm")
        cache = os.path.join(folder, "pairs.json")
        if not os.path.exists(cache):
            self._make(config, cache)
        with open(cache, encoding="utf8") as file:
            self.rows = json.load(file)
        self.size = len(vocabulary.pieces(self.tokenizer))

    def _make(self, config, cache):
        rng = random.Random(config.seed)
        pairs = [training_pair(rng) for _ in range(config.pairs)]
        if not os.path.exists(self.tokenizer + ".model"):
            lines = [text for pair in pairs[:60_000] for text in (pair.source, pair.target)]
            vocabulary.train(lines, self.tokenizer, config.vocabulary, LANGUAGES)
        index = {piece: i for i, piece in enumerate(vocabulary.pieces(self.tokenizer))}
        sources = vocabulary.encode(self.tokenizer + ".model", [pair.source for pair in pairs])
        targets = vocabulary.encode(self.tokenizer + ".model", [pair.target for pair in pairs])
        rows = [([index[vocabulary.target_token(pair.target_language)], *source, vocabulary.END],
                 [*target, vocabulary.END]) for pair, source, target in zip(pairs, sources, targets)]
        with open(cache + ".part", "w", encoding="utf8") as file:
            json.dump(rows, file)
        os.replace(cache + ".part", cache)

    def batches(self, tokens, seed):
        """Endless batches of rows of similar length, about `tokens` target tokens each."""
        rng = random.Random(seed)
        while True:
            order = sorted(range(len(self.rows)), key=lambda i: len(self.rows[i][1]) + rng.random() * 3)
            chunks, chunk, longest = [], [], 0
            for i in order:
                longest = max(longest, len(self.rows[i][1]))
                if chunk and longest * (len(chunk) + 1) > tokens:
                    chunks.append(chunk)
                    chunk, longest = [], len(self.rows[i][1])
                chunk.append(i)
            rng.shuffle(chunks)
            for chunk in chunks:
                yield [self.rows[i] for i in chunk]


def pair_loss(model, rows):
    """(cross-entropy a target token, accuracy)"""
    source, padding = pad([row[0] for row in rows])
    inputs, _ = pad([[vocabulary.START, *row[1][:-1]] for row in rows])
    wanted, _ = pad([row[1] for row in rows], filler=-100)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model.decode(inputs, *model.encode(source, padding))
    logits, wanted = logits.float().flatten(0, 1), wanted.flatten()
    loss = F.cross_entropy(logits, wanted, ignore_index=-100)
    hits = (logits.argmax(-1) == wanted)[wanted >= 0]
    return loss, hits.float().mean().item()


class TranslationRun:
    def __init__(self, config, folder):
        os.makedirs(folder, exist_ok=True)
        self.config, self.folder = config, folder
        self.corpus = Corpus(config, folder)
        torch.manual_seed(config.seed)
        self.model = TranslationModel(self.corpus.size, **config.shape)
        vector = torch.cat([p.detach().reshape(-1) for p in self.model.parameters()])
        self.shared = Shared(len(vector), 1)
        self.shared.weights.copy_(vector)
        self.member = Member(self.shared, 0, self.model)
        self._checkpoint, self._log = Checkpoint(folder), Log(folder, _LOG_EVERY)
        self.step, self.before = 0, 0.0
        if state := self._checkpoint.load():
            self.shared.restore(state)
            self.step, self.before = state["step"], state["elapsed"]

    def train(self):
        config, started, saved = self.config, time.time(), time.time()
        batches = self.corpus.batches(config.tokens, config.seed + self.step)
        while True:
            elapsed = self.before + time.time() - started
            progress = elapsed / (60 * config.minutes)
            if progress >= 1:
                break
            self.step += 1
            rate = scheduled_rate(config, self.step, progress)
            self.member.begin()
            loss, accuracy = pair_loss(self.model, next(batches))
            loss.backward()
            self.member.update(self.step, rate, 1)
            self._log.add(ce=loss.item(), accuracy=accuracy)
            self._log.step(self.step, elapsed, rate)
            if time.time() - saved > _SAVE_SECONDS:
                saved = time.time()
                self._save(elapsed)
        self._save(elapsed)
        self.export(elapsed)

    def _save(self, elapsed):
        self._checkpoint.save(**self.shared.vectors(), step=self.step, elapsed=elapsed)

    def export(self, elapsed):
        for kind in ("int8", "float32"):
            ct2.export(self.model, self.corpus.tokenizer, os.path.join(self.folder, kind), kind == "int8")
        write_card(self.folder, steps=self.step, hours=round(elapsed / 3600, 2), config=vars(self.config),
                   weights=self.shared.weights.numel(), vocabulary=self.corpus.size, pairs=self.config.pairs,
                   training=self._log.means)
