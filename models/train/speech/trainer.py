"""The training loop: micro-batches, loss, update, log, checkpoints; resumable, scheduled by wall clock."""
import os
import random
import time

import torch

from grammar import sample_words
from training.records import Checkpoint, Log, scheduled_rate, write_card
from training.team import Member, Shared, launch

from . import batches, ggml, guide
from .model import SpeechModel
from .objective import batch_loss
from .store import Store
from .tokenizer import EOT, LANGUAGE, NO_SPEECH, domain_tokens
from .windows import WindowMaker

_LOG_EVERY, _REFRESH_EVERY = 50, 200
_SAVE_SECONDS = 180


def trained_tokens(config):
    if config.all_tokens:
        return list(range(NO_SPEECH + 2))
    return domain_tokens(sample_words(random.Random(5)))


def build_model(config, used):
    torch.manual_seed(config.seed)
    return SpeechModel(used, **config.shape)


class Run:
    """One training run in `folder`."""

    def __init__(self, config, data, folder, workers, device):
        self.config, self.data, self.folder = config, os.path.join(data, config.corpus), folder
        self.workers, self.device = workers, device
        os.makedirs(folder, exist_ok=True)
        self._checkpoint = Checkpoint(folder)
        self.used = trained_tokens(config)
        model = build_model(config, self.used)
        vector = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        self.shared = Shared(len(vector), workers)
        self.shared.weights.copy_(vector)
        self.first_step = 0
        if state := self._checkpoint.load():
            self.shared.restore(state)
            self.first_step = state["step"]
            self.shared.clock[0], self.shared.clock[2] = state["elapsed"], state.get("ctc", 9.0)
        else:
            self.shared.clock[2] = 9.0

    def start(self):
        launch(self.shared, self._work)

    def _work(self, rank):
        if self.device == "cpu":
            torch.set_num_threads(1)
        model = build_model(self.config, self.used).to(self.device)
        member = Member(self.shared, rank, model, self.device)
        guide.enable(model)
        maker = WindowMaker(Store(self.data))
        recorder = _Recorder(self, model, maker) if rank == 0 else None
        step, started, before = self.first_step, time.time(), float(self.shared.clock[0])
        while (progress := float(self.shared.clock[0]) / (60 * self.config.minutes)) < 1:
            step += 1
            if step % _REFRESH_EVERY == 0:
                maker.refresh()
            ctc = float(self.shared.clock[2])
            bootstrap = progress < self.config.bootstrap_until and ctc > self.config.bootstrap_ctc
            reports = self._gradients(member, model, maker, step, progress, bootstrap)
            for report in reports:
                ctc += 0.01 * (report.get("ctc", ctc) - ctc)
            rate = scheduled_rate(self.config, step, progress)
            norm = member.update(step, rate, self.config.parts, seconds=before + time.time() - started,
                                 ctc=ctc)
            if recorder:
                recorder.step(step, rate, norm, reports)
            if self.shared.clock[1]:
                break
        if recorder:
            recorder.finish(step)

    def _gradients(self, member, model, maker, step, progress, bootstrap):
        """Adds up the gradients of this worker's share of the step."""
        config, reports = self.config, []
        ctc = config.ctc[0] if bootstrap else config.ctc[1]
        pull = config.guide[0] + (config.guide[1] - config.guide[0]) * progress
        member.begin()
        while (number := member.take(config.parts)) is not None:
            seed = (config.seed * 1_000_003 + step) * 64 + number
            batch = batches.make_batch(maker, seed, progress, config.frames, bootstrap).to(self.device)
            loss, report = batch_loss(model, batch, ctc, pull, every=2 if bootstrap else 1)
            if torch.isfinite(loss):
                loss.backward()
                reports.append(report)
        return reports

    def save(self, step, model):
        shared = self.shared
        self._checkpoint.save(**shared.vectors(), step=step, elapsed=float(shared.clock[0]), ctc=float(shared.clock[2]))
        target = os.path.join(self.folder, "model-f16.bin")
        ggml.export(model, target + ".part")
        os.replace(target + ".part", target)


class _Recorder:
    """Log, checkpoints every few minutes, and the card at the end; only the first worker has one."""

    def __init__(self, run, model, maker):
        self._run, self._model, self._maker = run, model, maker
        self._log, self._saved = Log(run.folder, _LOG_EVERY), time.time()

    def step(self, step, rate, norm, reports):
        for report in reports:
            self._log.add(**report)
        self._log.add(norm=norm)
        self._log.step(step, float(self._run.shared.clock[0]), rate)
        if time.time() - self._saved > _SAVE_SECONDS:
            self._saved = time.time()
            self._run.save(step, self._model)

    def finish(self, step):
        run, utterances = self._run, self._maker.utterances
        run.save(step, self._model)
        write_card(run.folder, steps=step, hours=round(float(run.shared.clock[0]) / 3600, 2), workers=run.workers,
                   device=run.device, config=vars(run.config), utterances=len(utterances),
                   speech_hours=round(sum(u.length for u in utterances) / 16000 / 3600, 1),
                   weights=run.shared.weights.numel(), trained_tokens=sum(i < EOT for i in run.used),
                   languages=list(LANGUAGE), training=self._log.means)
