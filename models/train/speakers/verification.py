"""How well embeddings tell voices apart: the equal error rate over pairs of cuts."""
import numpy as np
import torch
import torch.nn.functional as F

from .corpus import RATE
from .features import log_mel

# Seconds of a held-out person's clip, cuts a clip, and clips a person.
_CUT, _CUTS, _CLIPS = 3, 2, 6


def _rates(scores, same):
    """(sorted scores, share of true pairs refused, share of false ones accepted) with the threshold behind each."""
    order = np.argsort(scores, kind="stable")
    same = np.asarray(same, bool)[order]
    refused = np.cumsum(same) / max(1, same.sum())
    accepted = 1 - np.cumsum(~same) / max(1, (~same).sum())
    return np.asarray(scores)[order], refused, accepted


def equal_error_rate(scores, same):
    """Share of errors, 0..1, at the threshold where as many true pairs are refused as false ones accepted."""
    _, refused, accepted = _rates(scores, same)
    place = np.argmin(np.abs(refused - accepted))
    return float((refused[place] + accepted[place]) / 2)


def crossing(scores, same):
    """That threshold."""
    ordered, refused, accepted = _rates(scores, same)
    return float(ordered[np.argmin(np.abs(refused - accepted))])


def pairs(embeddings, people, clips):
    """(cosines, whether the person is the same, first person, second person) of all pairs of unit rows whose clips
    differ."""
    first, second = np.triu_indices(len(embeddings), 1)
    people, clips = np.asarray(people), np.asarray(clips)
    apart = clips[first] != clips[second]
    first, second = first[apart], second[apart]
    cosines = (embeddings @ embeddings.T)[first, second]
    return cosines, people[first] == people[second], people[first], people[second]


def embed(network, cuts):
    """Unit rows [n, size] for arrays of samples of any length."""
    with torch.no_grad():
        rows = [network(log_mel(torch.from_numpy(cut)[None])) for cut in cuts]
    return F.normalize(torch.cat(rows)).numpy()


def held_out_error(network, corpus):
    """Equal error rate in per cent on cuts of the corpus' held-out people, as they were recorded; None when they are
    not two."""
    if len(corpus.held_out) < 2:
        return None
    cuts, people, clips, length = [], [], [], _CUT * RATE
    for key, each in sorted(corpus.held_out.items()):
        for clip in each[:_CLIPS]:
            for start in list(range(0, clip.length - length + 1, length))[:_CUTS] or [0]:
                cuts.append(corpus.samples(key, clip, start, start + length))
                people.append(key)
                clips.append(clip.offset)
    names = {key: number for number, key in enumerate(sorted(set(people)))}
    scores, same, _, _ = pairs(embed(network, cuts), [names[p] for p in people], clips)
    return 100 * equal_error_rate(scores, same)
