"""Cuts a recording as the service does for this model: at pauses, into windows of at most 8 s."""
import numpy as np

from .clips import RATE

LONGEST, SHORTEST_PAUSE, _FRAME = 8.0, 0.15, 160
# Encoder positions (20 ms) that a window's own length is rounded up to: at any other length whisper.cpp's attention
# reaches into stale padding.
STEP = 256


def _pauses(samples):
    """[(middle, length)] in seconds of the stretches without sound, loudest part taken as 0 dB."""
    frames = samples[:len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    level = np.sqrt((frames ** 2).mean(1)) if len(frames) else np.zeros(0)
    floor = np.percentile(level, 10) if len(level) else 0
    quiet = np.concatenate([[0], (level < max(0.03 * level.max(initial=0), 2 * floor)).astype(int), [0]])
    edges = np.diff(quiet)
    runs = zip(np.nonzero(edges == 1)[0], np.nonzero(edges == -1)[0])
    step = _FRAME / RATE
    return [((a + b) / 2 * step, (b - a) * step) for a, b in runs if (b - a) * step >= SHORTEST_PAUSE]


def cut(samples):
    """[(start, end)] in samples."""
    total, windows, start = len(samples) / RATE, [], 0.0
    pauses = _pauses(samples)
    while total - start > LONGEST:
        inside = [p for p in pauses if start + 1 < p[0] <= start + LONGEST]
        late = [p for p in inside if p[0] > start + LONGEST / 2] or inside
        end = max(late, key=lambda p: p[1])[0] if late else start + LONGEST
        windows.append((int(start * RATE), int(end * RATE)))
        start = end
    return windows + [(int(start * RATE), len(samples))]


def audio_context(length):
    """Encoder positions for a window of `length` samples: its own length, rounded up to a multiple of 5.12 s."""
    own = length // 320 + 1
    return min(1500, -(-own // STEP) * STEP)
