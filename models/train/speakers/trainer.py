"""The training loop of both speaker models: micro-batches, update, log, figures, checkpoints; resumable.

The schedule counts processor time, so that a run that was stopped, or that shared its cores, is the same run.
"""
import os
import time

import torch

from training.records import Checkpoint, Log, scheduled_rate, write_card
from training.team import Member, Shared, launch

_LOG_EVERY = 25
# Wall-clock seconds between checkpoints, and between exports with their figures.
_SAVE_SECONDS, _FIGURES_SECONDS = 180, 900


def _buffers(model):
    """Running means of normalisation, which are no parameters: a checkpoint keeps the first worker's."""
    return dict(model.named_buffers())


class Run:
    """One training run of a task in `folder`."""

    def __init__(self, task, folder, workers):
        self.task, self.config, self.folder, self.workers = task, task.config, folder, workers
        os.makedirs(folder, exist_ok=True)
        self.checkpoint = Checkpoint(folder)
        torch.manual_seed(self.config.seed)
        model = task.build()
        vector = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        self.shared = Shared(len(vector), workers)
        self.shared.weights.copy_(vector)
        self.first_step, self._buffers = 0, _buffers(model)
        if state := self.checkpoint.load():
            self.shared.restore(state)
            self.first_step, self._buffers = state["step"], state["buffers"]
            self.shared.clock[0] = state["elapsed"]

    def start(self):
        launch(self.shared, self._work)

    def _work(self, rank):
        torch.set_num_threads(1)
        model = self.task.build()
        member = Member(self.shared, rank, model)
        model.load_state_dict(self._buffers, strict=False)
        recorder = _Recorder(self, model) if rank == 0 else None
        step, used, before = self.first_step, time.process_time(), float(self.shared.clock[0])
        while (progress := float(self.shared.clock[0]) / (60 * self.config.minutes)) < 1:
            step += 1
            reports = self._gradients(member, model, step, progress)
            rate = scheduled_rate(self.config, step, progress)
            seconds = before + self.workers * (time.process_time() - used)
            norm = member.update(step, rate, self.config.parts, seconds=seconds, decay=self.config.decay)
            if recorder:
                recorder.step(step, rate, norm, reports)
            if self.shared.clock[1]:
                break
        if recorder:
            recorder.finish(step)

    def _gradients(self, member, model, step, progress):
        """Adds up the gradients of this worker's share of the step."""
        reports = []
        model.train()
        member.begin()
        while (number := member.take(self.config.parts)) is not None:
            seed = (self.config.seed * 1_000_003 + step) * 64 + number
            loss, report = self.task.loss(model, seed, progress)
            if torch.isfinite(loss):
                loss.backward()
                reports.append(report)
        return reports


class _Recorder:
    """Log, checkpoints, figures, and the card at the end; only the first worker has one."""

    def __init__(self, run, model):
        self._run, self._model, self._figures = run, model, {}
        self._log, self._saved, self._measured = Log(run.folder, _LOG_EVERY), time.time(), time.time()

    def step(self, step, rate, norm, reports):
        for report in reports:
            self._log.add(**report)
        self._log.add(norm=norm)
        self._log.step(step, float(self._run.shared.clock[0]), rate)
        if time.time() - self._saved > _SAVE_SECONDS:
            self._saved = time.time()
            self._save(step)
        if time.time() - self._measured > _FIGURES_SECONDS:
            self._measured = time.time()
            self._measure(step)

    def _save(self, step):
        shared = self._run.shared
        self._run.checkpoint.save(**shared.vectors(), step=step, elapsed=float(shared.clock[0]),
                                  buffers=_buffers(self._model), network=self._model.network.state_dict())

    def _measure(self, step):
        run = self._run
        self._model.eval()
        self._figures = dict(step=step, **run.task.figures(self._model))
        print(self._figures, flush=True)
        run.task.export(self._model, os.path.join(run.folder, run.task.name + ".onnx"))

    def finish(self, step):
        run = self._run
        self._save(step)
        self._measure(step)
        write_card(run.folder, steps=step, processor_hours=round(float(run.shared.clock[0]) / 3600, 2),
                   workers=run.workers, config=vars(run.config), **run.task.facts(), training=self._log.means,
                   held_out=self._figures,
                   weights=sum(p.numel() for p in self._model.network.parameters()))
