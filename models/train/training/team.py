"""Data-parallel training on a few single-threaded processes that share one flat weight vector.

Two processes of one thread each train five times faster than one process of two. Workers draw micro-batches from
a common counter, so a slow one does less instead of making the others wait; each then updates its own share of the
parameters. On a CUDA device the team has one member.
"""
import ctypes
import signal

import torch
import torch.multiprocessing as multiprocessing

from .optimizer import Slot


class Shared:
    """Memory that all workers see. `size` = number of weights."""

    def __init__(self, size, members):
        self.members = members
        self.weights, self.first, self.second = (torch.zeros(size).share_memory_() for _ in range(3))
        self.gradients = torch.zeros(members, size).share_memory_()
        self.norms = torch.zeros(members).share_memory_()
        # Seconds trained, whether to stop, and a running mean of the CTC loss: written by the first worker between barriers, so that all read the same.
        self.clock = torch.zeros(3, dtype=torch.float64).share_memory_()
        context = multiprocessing.get_context("fork")
        self.counter = context.Value(ctypes.c_long, 0)
        self.interrupted = context.Value(ctypes.c_bool, False)
        self.barrier = context.Barrier(members)

    def vectors(self):
        """What a checkpoint keeps of it: {name: vector}."""
        return {"weights": self.weights, "first": self.first, "second": self.second}

    def restore(self, state):
        """The vectors of a checkpoint's state."""
        for name, vector in self.vectors().items():
            vector.copy_(state[name])


class Member:
    """One worker: its model's parameters and gradients are views of the shared vectors."""

    def __init__(self, shared, rank, model, device="cpu"):
        self.shared, self.rank = shared, rank
        if device != "cpu":
            shared.weights, shared.first, shared.second = (t.to(device) for t in
                                                           (shared.weights, shared.first, shared.second))
            shared.gradients = shared.gradients.to(device)
        slots, place = [], 0
        for name, parameter in model.named_parameters():
            slot = Slot(name, parameter, place)
            parameter.data = shared.weights[slot.slice].view_as(parameter)
            parameter.grad = shared.gradients[rank, slot.slice].view_as(parameter)
            slots.append(slot)
            place += slot.size
        self._mine = self._share(slots)

    def _share(self, slots):
        """The slots this worker updates: dealt out so that the costs are even."""
        loads, mine = [0] * self.shared.members, []
        for slot in sorted(slots, key=Slot.cost, reverse=True):
            least = loads.index(min(loads))
            loads[least] += slot.cost()
            if least == self.rank:
                mine.append(slot)
        return mine

    def take(self, limit):
        """Number of the next micro-batch of this step, None when all are taken."""
        with self.shared.counter.get_lock():
            number = self.shared.counter.value
            self.shared.counter.value += 1
        return number if number < limit else None

    def begin(self):
        self.shared.gradients[self.rank].zero_()

    def update(self, step, rate, parts, clip=1.0, seconds=0.0, ctc=0.0, decay=0.01):
        """Averages the gradients of `parts` micro-batches, clips their norm, updates; returns the norm. `seconds` and
        `ctc` of the first worker become the common clock."""
        shared = self.shared
        shared.barrier.wait()
        gradients = [shared.gradients[:, slot.slice].sum(0) / parts for slot in self._mine]
        shared.norms[self.rank] = float(sum((g ** 2).sum() for g in gradients))
        if self.rank == 0:
            shared.counter.value = 0
            shared.clock[0], shared.clock[1], shared.clock[2] = seconds, float(shared.interrupted.value), ctc
        shared.barrier.wait()
        norm = float(shared.norms.sum()) ** 0.5
        if norm == norm and norm < 1e4:
            for slot, gradient in zip(self._mine, gradients):
                gradient *= min(1.0, clip / (norm + 1e-6))
                vectors = (v[slot.slice] for v in (shared.weights, shared.first, shared.second))
                slot.update(*vectors, gradient, step, rate, decay)
        shared.barrier.wait()
        return norm


def launch(shared, work):
    """Runs work(rank) in a process for each member (in this one when there is a single member). SIGTERM and Ctrl-C
    ask them to save and stop after the step they are in."""
    def interrupt(*_):
        shared.interrupted.value = True

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(rank,)) for rank in range(shared.members)]
    if shared.members > 1:
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, signal.SIG_IGN)
        for process in processes:
            process.start()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, interrupt)
    if shared.members == 1:
        return work(0)
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit("a training process failed")
