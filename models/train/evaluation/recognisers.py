"""Two ways to the text of a clip: whisper.cpp's command line on windows cut here, and the running service."""
import json
import os
import re
import subprocess
import tempfile
import urllib.error
import urllib.request
import uuid
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

from . import cutting
from .clips import RATE, read_wav, write_wav


class WhisperCli:
    """whisper-cli, greedy, one pass to detect each window's language, another in the language of the clip."""

    def __init__(self, program, model, threads=2, whole=False):
        self._command = [program, "-m", model, "-t", str(threads), "-bs", "1", "-bo", "1", "-nf", "-oj"]
        self._whole = whole

    def transcribe(self, paths):
        """{path: (text, language)}"""
        with tempfile.TemporaryDirectory() as folder:
            windows = []
            for path in paths:
                samples = read_wav(path)
                spans = [(0, len(samples))] if self._whole else cutting.cut(samples)
                for i, (start, end) in enumerate(spans):
                    name = os.path.join(folder, f"{uuid.uuid4().hex}.wav")
                    write_wav(name, samples[start:end])
                    windows.append((path, i, start / RATE, end - start, name))
            heard = self._run(windows, {w: "auto" for w in windows})
            language = self._vote(windows, heard)
            again = [w for w in windows if heard[w][1] != language[w[0]]]
            heard.update(self._run(again, {w: language[w[0]] for w in again}))
            return {path: (" ".join(heard[w][0] for w in windows if w[0] == path).strip(), language[path])
                    for path in paths}

    @staticmethod
    def _vote(windows, heard):
        """The language of most sound in the first 30 s, windows without text not counted."""
        votes = defaultdict(Counter)
        for window in windows:
            path, _, start, length, _ = window
            text, language = heard[window][:2]
            if start < 30:
                votes[path][language] += length * (1 if text else 0.01) * heard[window][2]
        return {path: counter.most_common(1)[0][0] for path, counter in votes.items()}

    def _run(self, windows, languages):
        """{window: (text, language, probability)}; windows of one context length and language share a process."""
        groups, result = defaultdict(list), {}
        for window in windows:
            context = 1500 if self._whole else cutting.audio_context(window[3])
            groups[context, languages[window]].append(window)
        for (context, language), members in groups.items():
            for i in range(0, len(members), 60):
                part = members[i:i + 60]
                command = self._command + ["-l", language, "-ac", str(context)]
                done = subprocess.run(command + [a for w in part for a in ("-f", w[4])], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, check=True)
                sure = [float(p) for p in re.findall(rb"auto-detected language: \w+ \(p = ([\d.]+)\)", done.stderr)]
                for j, window in enumerate(part):
                    with open(window[4] + ".json", encoding="utf8", errors="replace") as file:
                        answer = json.load(file, strict=False)
                    text = "".join(s["text"] for s in answer["transcription"]).strip()
                    result[window] = (text, answer["result"]["language"], sure[j] if j < len(sure) else 1.0)
        return result


class Service:
    """A running `verbatim serve`, through POST /api/v1/transcribe."""

    def __init__(self, url, key, clients=4):
        self._url, self._key, self._clients = url.rstrip("/") + "/api/v1/transcribe", key, clients

    def transcribe(self, paths):
        """{path: (text, language)}"""
        with ThreadPoolExecutor(self._clients) as clients:
            return dict(zip(paths, clients.map(self._post, paths)))

    def _post(self, path):
        boundary = uuid.uuid4().hex
        with open(path, "rb") as file:
            audio = file.read()
        head = (f'--{boundary}\r\nContent-Disposition: form-data; name="audio"; filename="{os.path.basename(path)}"\r\n'
                "Content-Type: application/octet-stream\r\n\r\n").encode()
        request = urllib.request.Request(self._url, head + audio + f"\r\n--{boundary}--\r\n".encode(), {
            "Authorization": f"Bearer {self._key}", "Content-Type": f"multipart/form-data; boundary={boundary}"})
        try:
            with urllib.request.urlopen(request) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path}: {error.code} {error.read().decode()}") from error
        return answer["text"], answer["language"]
