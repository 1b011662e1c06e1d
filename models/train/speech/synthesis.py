"""Text to 16 kHz mono speech through the synthesisers of voices.py."""
import os
import subprocess
import tempfile

import numpy as np

SAMPLE_RATE = 16000
# int16 peak every utterance is scaled to.
_PEAK = 20000


def parse_wav(blob):
    """(sample rate, float32 samples) of a PCM-16 mono WAV. Tolerates the bogus lengths of a streamed one."""
    start = blob.find(b"data")
    rate = int.from_bytes(blob[24:28], "little")
    body = blob[start + 8:]
    return rate, np.frombuffer(body[:len(body) // 2 * 2], "<i2").astype(np.float32)


def resample(samples, ratio):
    """Band-limited resampling by FFT: the result has len(samples) * ratio samples."""
    count = int(round(len(samples) * ratio))
    padded = 1 << (len(samples) + 2048 - 1).bit_length()
    target = int(round(padded * ratio))
    spectrum = np.fft.rfft(samples, padded)
    bins = min(len(spectrum), target // 2 + 1)
    return (np.fft.irfft(spectrum[:bins], target)[:count] * (target / padded)).astype(np.float32)


def trim(samples):
    """Cuts the silence at both ends (10 ms before, 30 ms after remain); None when there is nothing to hear."""
    peak = float(np.abs(samples).max()) if len(samples) else 0.0
    if peak < 200:
        return None
    loud = np.nonzero(np.abs(samples) > 0.012 * peak)[0]
    return samples[max(0, loud[0] - 160):min(len(samples), loud[-1] + 480)]


def _espeak(voice, text):
    command = [voice.engine, "-v", voice.name, "-s", str(int(voice.rate)), "-p", str(voice.pitch), "--stdout"]
    if voice.gap:
        command += ["-g", str(voice.gap)]
    return subprocess.run(command + [text], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def _flite(voice, text):
    with tempfile.NamedTemporaryFile(suffix=".wav", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as file:
        command = ["flite", "-voice", voice.name, "--setf", f"duration_stretch={voice.rate}"]
        if voice.pitch:
            command += ["--setf", f"int_f0_target_mean={voice.pitch}", "--setf", f"int_f0_target_stddev={voice.spread}"]
        subprocess.run(command + ["-t", text, "-o", file.name], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return file.read()


def festival_batch(jobs):
    """WAV bytes (or None) per (voice, text): one festival process says them all, since loading a voice is slow."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        lines = ["(define (say voice stretch text file) (voice) (Parameter.set 'Duration_Stretch stretch)"
                 " (utt.save.wave (utt.synth (eval (list 'Utterance 'Text text))) file 'riff))"]
        for i, (voice, text) in enumerate(jobs):
            lines.append(f'(say voice_{voice.name} {voice.rate} "{text}" "{folder}/{i}.wav")')
        script = os.path.join(folder, "batch.scm")
        with open(script, "w", encoding="ascii", errors="ignore") as file:
            file.write("\n".join(lines))
        subprocess.run(["festival", "-b", script], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        blobs = []
        for i in range(len(jobs)):
            path = os.path.join(folder, f"{i}.wav")
            blobs.append(open(path, "rb").read() if os.path.exists(path) else None)
        return blobs


def finish(blob):
    """int16 samples at 16 kHz, trimmed and scaled, or None."""
    rate, samples = parse_wav(blob)
    if len(samples) < rate // 5:
        return None
    samples = trim(samples if rate == SAMPLE_RATE else resample(samples, SAMPLE_RATE / rate))
    return None if samples is None else (samples * (_PEAK / np.abs(samples).max())).astype(np.int16)


def speak(voice, text):
    """int16 samples at 16 kHz of one sentence, or None when the synthesiser said nothing."""
    if voice.engine == "festival":
        blob = festival_batch([(voice, text)])[0]
        return None if blob is None else finish(blob)
    return finish(_flite(voice, text) if voice.engine == "flite" else _espeak(voice, text))


def find_pauses(samples, count):
    """Centres (samples) of the `count` pauses of at least 80 ms inside an utterance, [] when there are not so many."""
    frames = np.abs(samples[:len(samples) // 160 * 160].astype(np.float32)).reshape(-1, 160).max(1)
    quiet = np.concatenate([[0], (frames < 0.02 * _PEAK).astype(int), [0]])
    edges = np.diff(quiet)
    runs = [(a, b) for a, b in zip(np.nonzero(edges == 1)[0], np.nonzero(edges == -1)[0])
            if b - a >= 8 and a > 20 and b < len(frames) - 20]
    return [int((a + b) * 80) for a, b in runs] if len(runs) == count else []
