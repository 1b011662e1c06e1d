"""What a training run leaves in its folder: checkpoint.pt, log.jsonl, card.json."""
import json
import os

import torch


def scheduled_rate(config, step, progress):
    """Learning rate: up during `config.warmup` steps, constant, from progress `config.flat` down to nearly 0."""
    fall = min(1.0, (1 - progress) / (1 - config.flat))
    return config.rate * min(1.0, step / config.warmup) * max(fall, 0.004)


class Checkpoint:
    """State of a run with its clock: {"step": .., "elapsed": seconds, ..}, replaced as a whole."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "checkpoint.pt")

    def load(self):
        """The state, None before the first save."""
        return torch.load(self._path, map_location="cpu") if os.path.exists(self._path) else None

    def save(self, **state):
        torch.save(state, self._path + ".part")
        os.replace(self._path + ".part", self._path)


class Log:
    """log.jsonl: every `every` steps a row with the means since the last one."""

    def __init__(self, folder, every):
        self._file = open(os.path.join(folder, "log.jsonl"), "a", encoding="utf8")
        self._every, self._sums = every, {}
        # The newest row's means.
        self.means = {}

    def add(self, **values):
        for name, value in values.items():
            total, count = self._sums.get(name, (0.0, 0))
            self._sums[name] = total + value, count + 1

    def step(self, step, seconds, rate):
        if step % self._every:
            return
        self.means = {name: round(total / count, 4) for name, (total, count) in self._sums.items()}
        row = dict(step=step, seconds=round(seconds), rate=float(f"{rate:.3g}"), **self.means)
        print(json.dumps(row), file=self._file, flush=True)
        self._sums = {}


def card_path(folder):
    return os.path.join(folder, "card.json")


def write_card(folder, **facts):
    """card.json anew; the results of an earlier card belonged to other weights and go."""
    with open(card_path(folder), "w", encoding="utf8") as file:
        json.dump(facts, file, indent=1)


def add_results(folder, name, results):
    """Puts an evaluation's results into the card of the run in `folder`, beside those of other evaluations."""
    with open(card_path(folder), encoding="utf8") as file:
        card = json.load(file)
    card.setdefault("results", {})[name] = results
    write_card(folder, **card)
