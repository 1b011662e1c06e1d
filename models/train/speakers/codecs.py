"""A second copy of a corpus as lossy codecs leave it, sample for sample beside the first."""
import os
import subprocess
import tempfile

import numpy as np

RATE = 16000
# (container, encoder and its options): what voices come through on lines, in meetings and from podcasts.
CODECS = (("mp3", "libmp3lame -b:a 32k"), ("mp3", "libmp3lame -b:a 64k -ar 22050"), ("ogg", "libopus -b:a 8k"),
          ("ogg", "libopus -b:a 16k"), ("ogg", "libvorbis -q:a 0"), ("wav", "pcm_mulaw -ar 8000"),
          ("wav", "libgsm_ms -ar 8000"), ("ogg", "libspeex -ar 8000 -q:a 4"), ("wav", "adpcm_ima_wav -ar 11025"))
# Samples coded in one go.
_BLOCK = RATE * 150
# Longest delay of a codec that is looked for, samples.
_DELAY = 4096
_FFMPEG = ["ffmpeg", "-v", "error", "-y", "-nostdin", "-threads", "1"]
_RAW = ["-f", "s16le", "-ar", str(RATE), "-ac", "1"]


def delay(clean, coded):
    """Samples by which `coded` lags behind `clean`, 0.._DELAY, where they agree best."""
    size = 1 << (len(clean) + len(coded) - 1).bit_length()
    match = np.fft.irfft(np.fft.rfft(coded, size) * np.conj(np.fft.rfft(clean, size)), size)
    return int(np.argmax(match[:_DELAY]))


def through(samples, container, encoder):
    """int16 samples as `encoder` leaves them, in place: as many, and no later."""
    with tempfile.TemporaryDirectory() as folder:
        coded = os.path.join(folder, "coded." + container)
        subprocess.run([*_FFMPEG, *_RAW, "-i", "-", "-c:a", *encoder.split(), coded], input=samples.tobytes(), check=True)
        raw = subprocess.run([*_FFMPEG, "-i", coded, *_RAW, "-"], stdout=subprocess.PIPE, check=True).stdout
    result = np.frombuffer(raw[:len(raw) // 2 * 2], np.int16)
    probe = slice(0, RATE * 8)
    late = delay(samples[probe].astype(np.float32), result[probe].astype(np.float32))
    return np.pad(result[late:], (0, len(samples)))[:len(samples)]


def prepare(folder, name):
    """Writes folder/NAME.coded.i16 beside NAME.i16, block by block through one codec after the other; goes on where
    it stopped."""
    clean, target = np.memmap(os.path.join(folder, name + ".i16"), np.int16, "r"), os.path.join(folder, name + ".coded.i16")
    if os.path.exists(target):
        return
    done = os.path.getsize(target + ".part") // (2 * _BLOCK) if os.path.exists(target + ".part") else 0
    with open(target + ".part", "r+b" if done else "wb") as file:
        file.seek(done * 2 * _BLOCK)
        for number, start in enumerate(range(done * _BLOCK, len(clean), _BLOCK), done):
            file.write(through(clean[start:start + _BLOCK], *CODECS[number % len(CODECS)]).tobytes())
    os.replace(target + ".part", target)
