"""Data-parallel training on a few single-threaded processes that share one flat weight vector.

Two processes of one thread each train five times faster than one process of two. Workers draw micro-batches from
a common counter, so a slow one does less instead of making the others wait; each then applies AdamW to its own part
of the weights. On a CUDA device the team has one member.
"""
import ctypes

import torch
import torch.multiprocessing as multiprocessing


class Shared:
    """Memory that all workers see. `size` = number of weights."""

    def __init__(self, size, members):
        self.members = members
        self.weights, self.first, self.second = (torch.zeros(size).share_memory_() for _ in range(3))
        self.gradients = torch.zeros(members, size).share_memory_()
        self.norms = torch.zeros(members).share_memory_()
        self.clock = torch.zeros(2, dtype=torch.float64).share_memory_()
        context = multiprocessing.get_context("fork")
        self.counter = context.Value(ctypes.c_long, 0)
        self.barrier = context.Barrier(members)


class Member:
    """One worker: its model's parameters and gradients are views of the shared vectors."""

    def __init__(self, shared, rank, model, device="cpu"):
        self.shared, self.rank = shared, rank
        if device != "cpu":
            shared.weights, shared.first, shared.second = (t.to(device) for t in
                                                           (shared.weights, shared.first, shared.second))
            shared.gradients = shared.gradients.to(device)
        self._decay = torch.zeros_like(shared.weights, dtype=torch.bool)
        place = 0
        for parameter in model.parameters():
            size = parameter.numel()
            parameter.data = shared.weights[place:place + size].view_as(parameter)
            parameter.grad = shared.gradients[rank, place:place + size].view_as(parameter)
            self._decay[place:place + size] = parameter.dim() > 1
            place += size
        part = -(-place // shared.members)
        self._mine = slice(rank * part, min(place, (rank + 1) * part))

    def take(self, limit):
        """Number of the next micro-batch of this step, None when all are taken."""
        with self.shared.counter.get_lock():
            number = self.shared.counter.value
            self.shared.counter.value += 1
        return number if number < limit else None

    def begin(self):
        self.shared.gradients[self.rank].zero_()

    def update(self, step, rate, parts, betas=(0.9, 0.98), decay=0.01, clip=1.0):
        """Averages the gradients of `parts` micro-batches, clips their norm, applies AdamW; returns the norm."""
        shared, mine = self.shared, self._mine
        shared.barrier.wait()
        gradient = shared.gradients[:, mine].sum(0) / parts
        shared.norms[self.rank] = float((gradient ** 2).sum())
        if self.rank == 0:
            shared.counter.value = 0
        shared.barrier.wait()
        norm = float(shared.norms.sum()) ** 0.5
        if norm == norm and norm < 1e4:
            gradient *= min(1.0, clip / (norm + 1e-6))
            first, second, weights = shared.first[mine], shared.second[mine], shared.weights[mine]
            first.mul_(betas[0]).add_(gradient, alpha=1 - betas[0])
            second.mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
            corrected = (second / (1 - betas[1] ** step)).sqrt_().add_(1e-8)
            weights.mul_(1 - rate * decay * self._decay[mine])
            weights.addcdiv_(first, corrected, value=-rate / (1 - betas[0] ** step))
        shared.barrier.wait()
        return norm


def launch(members, work):
    """Runs work(rank) in `members` processes (in this one when there is a single member)."""
    if members == 1:
        return work(0)
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, args=(rank,)) for rank in range(members)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise SystemExit("a training process failed")
