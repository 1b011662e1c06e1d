#!/usr/bin/env python3
"""Fast checks of what the speaker models are trained on: corpus, labels, rooms, codecs, cuts, conversations.

    python3 models/train/test_speaker_data.py
"""
import csv
import os
import random
import tempfile
import unittest

import numpy as np
import torch

import make_conversations
from speakers import activity, codecs, conversations, corpus, cuts, features, sound

RATE = corpus.RATE


def voice(hertz, seconds, rng):
    """Something like a vowel with a pulse of 4 Hz, and half a second of near silence at both ends."""
    time = np.arange(int(seconds * RATE)) / RATE
    tone = sum(np.sin(2 * np.pi * hertz * k * time) / k for k in range(1, 6)) * 0.2
    quiet = rng.standard_normal(RATE // 2) * 1e-5
    return np.concatenate([quiet, tone + rng.standard_normal(len(tone)) * 1e-3, quiet]).astype(np.float32)


def small_corpus(folder, people=6, clips=2):
    rng, writer = np.random.default_rng(1), corpus.Writer(folder, "voices")
    for person in range(people):
        for _ in range(clips):
            writer.add(voice(100 + 40 * person, 2.5, rng), f"person {person}", "xx")
    writer.close()
    return corpus.Corpus(folder)


class InFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name

    def tearDown(self):
        self._folder.cleanup()


class Features(unittest.TestCase):
    def test_the_graph_and_the_fft_agree(self):
        samples = torch.randn(2, 5000) * 0.1
        by_graph = features.GraphFeatures()(samples[:, None])
        self.assertEqual(tuple(by_graph.shape), (2, 80, 5000 // 160))
        torch.testing.assert_close(by_graph, features.log_mel(samples), atol=1e-4, rtol=0)

    def test_level_does_not_matter(self):
        samples = torch.randn(1, 16000) * 0.02
        torch.testing.assert_close(features.log_mel(samples), features.log_mel(8 * samples), atol=0.02, rtol=0)


class Activity(unittest.TestCase):
    def test_speech_is_found_and_short_gaps_are_closed(self):
        rng = np.random.default_rng(1)
        levels = ((50, 1e-4), (60, 0.1), (15, 1e-4), (40, 0.1), (60, 1e-4), (3, 0.1), (50, 1e-4))
        samples = np.concatenate([rng.standard_normal(frames * activity.FRAME) * level for frames, level in levels])
        spans, contrast = activity.find(samples)
        self.assertEqual(spans, [(47, 168)])
        self.assertAlmostEqual(contrast, 60, delta=2)

    def test_nothing_to_find(self):
        self.assertEqual(activity.find(np.zeros(1000, np.float32)), ([], 0.0))


class Corpora(InFolder):
    def test_clips_are_trimmed_and_scaled(self):
        people = small_corpus(self.folder)
        clip = people.by_speaker["voices", "person 0"][0]
        self.assertAlmostEqual(clip.length / RATE, 2.5 + 0.46, delta=0.06)
        self.assertEqual(clip.spans[0][0], 20)
        self.assertAlmostEqual(np.abs(people.samples(("voices", "person 0"), clip)).max(), 0.7, places=3)

    def test_who_is_held_out_is_in_no_batch(self):
        writer, rng = corpus.Writer(self.folder, "voices"), np.random.default_rng(1)
        names = [f"person {i}" for i in range(60)]
        held = [name for name in names if corpus.is_held_out(name)]
        self.assertTrue(0 < len(held) < 12, held)
        for name in names:
            for _ in range(1 if name == held[0] else 2):
                writer.add(voice(150, 0.5, rng), name, "xx")
        writer.close()
        read = corpus.Corpus(self.folder)
        self.assertEqual({name for _, name in read.held_out}, set(held[1:]))
        self.assertFalse(set(read.held_out) & set(read.by_speaker))
        self.assertEqual(len(read.held_out) + len(read.by_speaker), 60)

    def test_prepare_reads_a_table_once(self):
        with open(os.path.join(self.folder, "voices.tsv"), "w", encoding="utf8") as file:
            table = csv.writer(file, delimiter="\t")
            table.writerows([["file", "language", "speaker"], ["a.opus", "xx", "anna"], ["b.opus", "xx", "bert"]])
        seen, rng = [], np.random.default_rng(1)

        def read(path):
            seen.append(os.path.basename(path))
            return voice(120, 1, rng)

        for _ in range(2):
            corpus.prepare(self.folder, self.folder, read)
        self.assertEqual(seen, ["a.opus", "b.opus"])
        self.assertEqual(sorted(corpus.Corpus(self.folder).by_speaker), [("voices", "anna"), ("voices", "bert")])


class Codecs(InFolder):
    def test_every_codec_keeps_the_place(self):
        rng = np.random.default_rng(2)
        samples = np.concatenate([voice(hertz, seconds, rng) for hertz, seconds in ((120, 0.4), (210, 1.1), (150, 0.2))])
        samples = (samples * 16000).astype(np.int16)
        for container, encoder in codecs.CODECS:
            coded = codecs.through(samples, container, encoder)
            self.assertEqual(len(coded), len(samples), encoder)
            clean, lossy = (activity.frame_levels(x / 32768).clip(-60) for x in (samples, coded))
            likeness = [np.corrcoef(np.roll(clean, lag), lossy)[0, 1] for lag in range(-9, 10)]
            self.assertLessEqual(abs(int(np.argmax(likeness)) - 9), 1, encoder)
            self.assertGreater(max(likeness), 0.7, encoder)

    def test_a_coded_copy_lies_beside_the_clean_one(self):
        people = small_corpus(self.folder, people=1)
        codecs.prepare(self.folder, "voices")
        again, (key, clips) = corpus.Corpus(self.folder), *people.by_speaker.items()
        clean, lossy = (again.samples(key, clips[1], coded=coded) for coded in (False, True))
        self.assertEqual(len(clean), len(lossy))
        self.assertGreater(np.abs(clean - lossy).max(), 0)


class Sound(unittest.TestCase):
    def test_a_room_decays_as_it_should(self):
        rng = random.Random(3)
        for seed in range(5):
            room = sound.draw_room(rng)
            response = sound.impulse(room, rng, np.random.default_rng(seed))
            self.assertEqual(response[0], 1)
            late = response[len(response) * 3 // 4:]
            self.assertLess(sound.level(late), 0.05 * sound.level(response[:RATE // 50]))

    def test_faster_is_higher_and_shorter(self):
        tone = np.sin(2 * np.pi * 400 * np.arange(RATE) / RATE).astype(np.float32)
        slow = sound.render(tone, speed=71)
        self.assertEqual(len(slow), RATE * 71 // 64)
        spectrum = np.abs(np.fft.rfft(slow[:RATE]))
        self.assertAlmostEqual(int(spectrum.argmax()), 400 * 64 / 71, delta=2)
        self.assertAlmostEqual(sound.level(slow[800:-800]), sound.level(tone), places=2)

    def test_a_line_that_changes_nothing(self):
        noise = np.random.default_rng(1).standard_normal(9000).astype(np.float32)
        np.testing.assert_allclose(sound.render(noise, np.ones(257, np.float32), np.ones(1, np.float32)), noise, atol=1e-4)

    def test_lengths_that_fft_likes(self):
        self.assertEqual([sound.fast_size(n) for n in (4096, 4097, 5121, 6145)], [4096, 5120, 6144, 8192])


class Cuts(InFolder):
    def test_two_cuts_of_every_voice(self):
        maker = cuts.CutMaker(small_corpus(self.folder))
        batch, again = maker.batch(7, 12), maker.batch(7, 12)
        self.assertTrue(torch.equal(batch.mel, again.mel))
        self.assertTrue(torch.equal(batch.voices[0::2], batch.voices[1::2]))
        people = (batch.voices[0::2] // len(cuts.SPEEDS)).tolist()
        self.assertEqual(len(people), len(set(people)))
        self.assertTrue(torch.isfinite(batch.mel).all())
        self.assertLess(int(batch.voices.max()), maker.voices)


class Conversations(InFolder):
    def test_batches_repeat_and_labels_are_possible(self):
        maker = conversations.WindowMaker(small_corpus(self.folder))
        batch, again = maker.batch(3, 4), maker.batch(3, 4)
        self.assertEqual(tuple(batch.mel.shape), (4, 80, 1000))
        self.assertEqual(tuple(batch.targets.shape), (4, 500))
        self.assertTrue(torch.equal(batch.mel, again.mel) and torch.equal(batch.targets, again.targets))
        for seed in range(20):
            samples, speaking = maker.window(random.Random(seed), np.random.default_rng(seed))
            self.assertTrue(np.isfinite(samples).all())
            self.assertLessEqual(speaking.sum(1).max(), 2)

    def test_speech_lies_where_the_labels_say(self):
        stage = conversations._Stage()
        loud, speech = np.ones(RATE, np.float32), np.ones(100, bool)
        self.assertEqual(stage.put("anna", 2.0, loud, speech), 3.0)
        stage.put("bert", 9.5, loud, speech)
        self.assertEqual(np.nonzero(stage.speaking[:, 0])[0].tolist(), list(range(200, 300)))
        self.assertEqual(np.nonzero(stage.speaking[:, 1])[0].tolist(), list(range(950, 1000)))
        self.assertEqual(np.nonzero(stage.samples)[0][[0, -1]].tolist(), [32000, 159999])

    def test_neither_a_third_voice_nor_the_same_one_twice(self):
        stage = conversations._Stage()
        loud, speech = np.ones(RATE, np.float32), np.ones(100, bool)
        for person, place in (("anna", 1), ("anna", 1.5), ("bert", 1.2), ("cleo", 1.4), ("cleo", 4), ("dora", 6)):
            stage.put(person, place, loud, speech)
        self.assertEqual(stage.speaking.sum(0).tolist(), [100, 100, 100])
        self.assertEqual(stage.samples.max(), 2)


class MadeConversations(unittest.TestCase):
    """Whole conversations with their turns, of people who hum."""

    def test_turns_are_where_the_sound_is(self):
        rng = random.Random(5)
        samples, turns, said = make_conversations.converse([Hummer(150), Hummer(330)], 20, rng)
        self.assertEqual({who for who, _, _ in turns}, {0, 1})
        self.assertEqual([each["text"] for each in said], ["hum"] * len(said))
        spoken = np.zeros(len(samples), bool)
        for who, begin, end in turns:
            self.assertLess(begin, end)
            spoken[round(begin * RATE):round(end * RATE)] = True
            self.assertTrue(any(each["speaker"] == f"P{who + 1}" and each["start"] <= begin and end <= each["end"] + 0.02
                                for each in said))
        loud = np.square(samples)
        self.assertGreater(loud[spoken].mean(), 100 * loud[~spoken].mean())

    def test_nobody_talks_over_himself(self):
        _, turns, _ = make_conversations.converse([Hummer(150), Hummer(330), Hummer(500)], 40, random.Random(6))
        for person in range(3):
            own = sorted((begin, end) for who, begin, end in turns if who == person)
            self.assertTrue(all(end <= begin for (_, end), (begin, _) in zip(own, own[1:])))

    def test_readers_say_everything_once(self):
        rng = random.Random(8)
        recordings = [np.concatenate([voice(hertz, 2.5, np.random.default_rng(hertz)) for _ in range(4)])
                      for hertz in (150, 330)]
        people = [make_conversations.Reader(str(n), [each], rng) for n, each in enumerate(recordings)]
        samples, turns, said = make_conversations.converse(people, 600, rng)
        self.assertLess(len(samples), 60 * RATE)
        self.assertGreater(len(said), 2)
        for n in range(2):
            spoken = sum(each["end"] - each["start"] for each in said if each["speaker"] == f"P{n + 1}")
            self.assertAlmostEqual(spoken, len(recordings[n]) / RATE, places=1)
        self.assertAlmostEqual(sum(end - begin for _, begin, end in turns), 8 * 2.5, delta=1)

    def test_a_recording_is_cut_in_its_pauses_alone(self):
        recording = np.concatenate([voice(150, 2.5, np.random.default_rng(n)) for n in range(4)])
        parts = make_conversations.parts_of(recording, random.Random(9))
        self.assertGreater(len(parts), 1)
        np.testing.assert_array_equal(np.concatenate(parts), recording)
        for part in parts:
            self.assertLess(np.abs(part[:RATE // 20]).max(), 1e-3)

    def test_synthetic_voices_of_a_conversation_differ(self):
        people = make_conversations.synthetic_people(6, random.Random(7))
        self.assertEqual(len({person.label.split(" rate")[0] for person in people}), 6)


class Hummer:
    has_more = True

    def __init__(self, hertz):
        self._hertz = hertz

    def say(self, rng):
        samples = voice(self._hertz, rng.uniform(1, 3), np.random.default_rng(rng.randrange(1 << 30)))
        return samples / sound.level(samples), "hum"


if __name__ == "__main__":
    unittest.main()
