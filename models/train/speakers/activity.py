"""Where somebody speaks in a clean clip, by its energy: the reference of the simulated conversations.

A recording tells speech from silence by energy alone when its loud frames stand far above its quiet ones; clips in
which they do not are left to the voice embedding, which needs no such reference.
"""
import numpy as np

# Samples of a frame: 10 ms.
FRAME = 160
# A frame is speech from this far above the clip's noise and this far below its loud frames, dB.
_ABOVE_NOISE, _BELOW_LOUD = 9.0, 32.0
# Clips whose loud frames stand less far above the noise are not labelled, dB.
CLEAN = 35.0
# Frames: gaps up to the first are closed, bursts below the second dropped, and so many added at both ends.
_CLOSE, _BURST, _MARGIN = 25, 6, 3


def frame_levels(samples):
    """dB of each whole frame of float samples in [-1, 1]; digital silence is -100."""
    frames = samples[:len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    return 10 * np.log10((frames.astype(np.float64) ** 2).mean(1) + 1e-10)


def runs(active):
    """[(first, behind last)] of the stretches of True."""
    edges = np.diff(np.concatenate([[0], np.asarray(active, np.int8), [0]]))
    return list(zip(np.nonzero(edges == 1)[0].tolist(), np.nonzero(edges == -1)[0].tolist()))


def _smooth(active):
    for begin, end in runs(active):
        if end - begin < _BURST:
            active[begin:end] = False
    spoken = runs(active)
    for (_, end), (begin, _) in zip(spoken, spoken[1:]):
        if begin - end <= _CLOSE:
            active[end:begin] = True
    for begin, end in runs(active):
        active[max(0, begin - _MARGIN):end + _MARGIN] = True
    return active


def find(samples):
    """(speech spans [(first, behind last)] in frames of 10 ms, dB of the loud frames above the noise)."""
    levels = frame_levels(samples)
    if len(levels) < 30:
        return [], 0.0
    noise, loud = np.percentile(levels, 8), np.percentile(levels, 92)
    threshold = max(noise + _ABOVE_NOISE, loud - _BELOW_LOUD)
    return runs(_smooth(levels > threshold)), float(loud - noise)
