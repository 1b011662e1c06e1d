#!/usr/bin/env python3
"""Fast checks of the pure parts: grammar, tokenizer, features, windows, both exporters, score, cutting.

    python3 models/train/test_training.py
"""
import hashlib
import json
import os
import random
import struct
import tempfile
import unittest

import numpy as np
import torch

import espeak_word_events
from evaluation import cutting, score, translations
from grammar import LANGUAGES, draw, is_held_out
from grammar.numbers import CARDINAL
from speech import features, ggml, guide, synthesis, tokenizer
from speech.espeak_events import Speech, WordEvent, words_of
from speech.model import Gelu, SpeechModel, gelu
from speech.store import ShardWriter, Store
from speech.windows import IGNORED, WindowMaker
from speech.batches import make_batch
from speech.config import SpeechConfig
from training import records
from training.optimizer import orthogonalise
from translation import ct2
from translation.model import TranslationModel
from translation.pairs import training_pair

# The filter bank inside openai/whisper's and whisper.cpp's own files, as float32 bytes.
WHISPER_FILTERS = "4f2701b1d287d74a0dc9871026e9519d98cb76426615f2539b0d151a0ae4ec2e"


class Grammar(unittest.TestCase):
    def test_sentences_are_complete_in_every_language(self):
        rng = random.Random(1)
        for _ in range(3000):
            text = draw(rng).text
            self.assertEqual(sorted(text), sorted(LANGUAGES))
            for sentence in text.values():
                self.assertNotRegex(sentence, r"[{}|]|  ")
                self.assertRegex(sentence, r"[.?]$")

    def test_a_sixteenth_is_held_out_always_the_same(self):
        rng = random.Random(2)
        drawn = [draw(rng) for _ in range(4000)]
        share = sum(map(is_held_out, drawn)) / len(drawn)
        self.assertTrue(0.03 < share < 0.08, share)
        self.assertFalse(any(is_held_out(s) for s in drawn if s.open))

    def test_numbers(self):
        self.assertEqual(CARDINAL["en"](342), "three hundred and forty-two")
        self.assertEqual(CARDINAL["es"](121), "ciento veintiuno")
        self.assertEqual(CARDINAL["de"](571), "fünfhunderteinundsiebzig")
        self.assertEqual(CARDINAL["fr"](280), "deux cent quatre-vingts"[:9] + " quatre-vingts")


class Tokenizer(unittest.TestCase):
    def test_round_trip(self):
        for text in (" ¿Dónde está el museo?", " Äpfel und Öl, bitte.", " À l'hôtel à six heures."):
            self.assertEqual(tokenizer.decode(tokenizer.encode(text)), text)

    def test_no_sentence_starts_with_a_lone_space(self):
        self.assertNotEqual(tokenizer.encode(" ¿Qué hora es?")[0], tokenizer.encode(" ")[0])


class Features(unittest.TestCase):
    def test_filters_are_whisper_s_to_the_last_bit(self):
        self.assertEqual(hashlib.sha256(features.FILTERS.tobytes()).hexdigest(), WHISPER_FILTERS)

    def test_log_mel_against_the_definition(self):
        samples = np.random.default_rng(1).standard_normal(1600).astype(np.float32) * 0.1
        hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)
        padded = np.concatenate([samples[200:0:-1], samples, np.zeros(600)])
        frame = padded[3 * 160:3 * 160 + 400] * hann
        expected = np.log10(np.maximum(features.FILTERS @ np.abs(np.fft.rfft(frame)) ** 2, 1e-10))
        np.testing.assert_allclose(features.log_power(samples)[:, 3].numpy(), expected, atol=2e-4)

    def test_silence_behind_the_end(self):
        window = features.window_features(np.full(1600, 0.1, np.float32), 100)
        self.assertEqual(tuple(window.shape), (80, 100))
        self.assertAlmostEqual(float(window.max() - window.min()), 2.0, places=5)

    def test_resample_keeps_a_tone(self):
        tone = np.sin(2 * np.pi * 440 * np.arange(22050) / 22050)
        out = synthesis.resample(tone, 16000 / 22050)
        self.assertEqual(len(out), 16000)
        wanted = np.sin(2 * np.pi * 440 * np.arange(16000) / 16000)
        self.assertLess(np.abs(out - wanted)[500:-500].max(), 0.03)


class WordEvents(unittest.TestCase):
    WORD, PHONEME = 1, 7

    def test_a_word_ends_where_the_next_begins_or_the_pause_before_it(self):
        events = [(self.WORD, 0, 100, ""), (self.PHONEME, 0, 110, "h"), (self.WORD, 3, 500, ""), (self.PHONEME, 3, 520, "a"),
                  (self.PHONEME, 4, 900, "_:"), (self.WORD, 9, 1500, ""), (self.PHONEME, 9, 1600, "t"), (self.PHONEME, 9, 2000, "_:")]
        self.assertEqual(words_of(events, 2500), [WordEvent(0, 110, 500), WordEvent(3, 500, 900), WordEvent(9, 1600, 2000)])

    def test_the_last_word_ends_with_the_sound(self):
        self.assertEqual(words_of([(self.WORD, 0, 0, ""), (self.PHONEME, 0, 5, "a")], 70), [WordEvent(0, 5, 70)])

    def test_words_between_spaces_get_times_or_the_sentence_none(self):
        events = [WordEvent(0, 0, 10), WordEvent(3, 10, 20), WordEvent(8, 20, 30)]
        self.assertEqual(espeak_word_events.timed("un quatre-vingt", events[:1] + [WordEvent(3, 10, 20), WordEvent(10, 20, 30)]),
                         [("un", 0, 10), ("quatre-vingt", 10, 30)])
        self.assertIsNone(espeak_word_events.timed("Is of the end", events))

    def test_times_move_with_what_is_cut_off(self):
        sound = np.concatenate([np.zeros(4000), np.full(16000, 900), np.zeros(9000)]).astype(np.int16)
        samples, words = espeak_word_events.cut_out(Speech(16000, sound, ()), [("a", 3000, 12000), ("b", 12000, 25000)])
        self.assertEqual(len(samples), 160 + 16000 + 479)
        self.assertEqual(words, [("a", 0.01, 0.51), ("b", 0.51, 1.01)])


class Windows(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        writer, rng = ShardWriter(self._folder.name, "shard-0000"), np.random.default_rng(1)
        for language in (*LANGUAGES, "it"):
            for text in ("Uno, dos.", "Tres."):
                writer.add((rng.standard_normal(12000) * 3000).astype(np.int16), language, text, "test",
                           [6000] if "," in text else [])
        writer.close()
        self._maker = WindowMaker(Store(self._folder.name))

    def tearDown(self):
        self._folder.cleanup()

    def test_targets_follow_tokens(self):
        self._maker.seed(3)
        for kind in ("one", "dense", "foreign", "empty"):
            window = self._maker.make(400, kind)
            self.assertEqual(len(window.tokens), len(window.targets))
            self.assertEqual(len(window.tokens), len(window.centres))
            for token, target in zip(window.tokens[1:], window.targets):
                if target not in (IGNORED, tokenizer.NO_SPEECH):
                    self.assertEqual(token, target)
            self.assertEqual(window.targets[-1], tokenizer.EOT)

    def test_another_language_is_heard_and_not_written(self):
        self._maker.seed(4)
        foreign, silence = (self._maker.make(400, kind) for kind in ("foreign", "empty"))
        self.assertEqual(foreign.targets[-2:], silence.targets[-2:])
        self.assertEqual(foreign.letters, [])
        self.assertGreater(foreign.features.std(), 0.1)

    def test_a_word_said_twice_is_drawn_more_often(self):
        writer, texts = ShardWriter(self._folder.name, "shard-0001"), {"Uno, dos.": 0, "Tres.": 0, "Dos dos.": 0}
        for text in ["Tres."] * 97 + ["Dos dos."]:
            writer.add(np.ones(12000, np.int16), "es", text, "test", [])
        writer.close()
        self._maker.refresh()
        self._maker.seed(5)
        for _ in range(4000):
            texts[self._maker._draw("es").text] += 1
        self.assertTrue(0.04 < texts["Dos dos."] / 4000 < 0.08, texts)

    def test_batches_repeat(self):
        first, second = (make_batch(self._maker, 5, 0.5, 1500) for _ in range(2))
        self.assertTrue(torch.equal(first.mel, second.mel))
        self.assertTrue(torch.equal(first.tokens, second.tokens))


class Records(unittest.TestCase):
    def test_log_rows_are_means(self):
        with tempfile.TemporaryDirectory() as folder:
            log = records.Log(folder, every=2)
            for step, loss in enumerate((4.0, 2.0, 1.0, 0.0), 1):
                log.add(loss=loss)
                log.step(step, seconds=step * 0.6, rate=0.1)
            with open(os.path.join(folder, "log.jsonl"), encoding="utf8") as file:
                rows = [json.loads(line) for line in file]
            self.assertEqual(rows, [dict(step=2, seconds=1, rate=0.1, loss=3.0), dict(step=4, seconds=2, rate=0.1, loss=0.5)])
            self.assertEqual(log.means, {"loss": 0.5})

    def test_results_join_the_card(self):
        with tempfile.TemporaryDirectory() as folder:
            records.write_card(folder, steps=3)
            records.add_results(folder, "http", {"wer": 1})
            records.add_results(folder, "cli", {"wer": 2})
            with open(os.path.join(folder, "card.json"), encoding="utf8") as file:
                self.assertEqual(json.load(file), {"steps": 3, "results": {"http": {"wer": 1}, "cli": {"wer": 2}}})

    def test_rate_rises_stays_and_falls(self):
        config = SpeechConfig(rate=1.0, warmup=10, flat=0.5)
        rates = [records.scheduled_rate(config, *at) for at in ((5, 0.0), (10, 0.1), (90, 0.5), (95, 0.75), (99, 1.0))]
        self.assertEqual(rates, [0.5, 1.0, 1.0, 0.5, 0.004])

    def test_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = records.Checkpoint(folder)
            self.assertIsNone(checkpoint.load())
            checkpoint.save(step=7, weights=torch.ones(2))
            self.assertEqual(checkpoint.load()["step"], 7)
            self.assertEqual(os.listdir(folder), ["checkpoint.pt"])


class Network(unittest.TestCase):
    def test_gelu(self):
        x = torch.randn(1000, requires_grad=True)
        Gelu.apply(x).sum().backward()
        y = x.detach().clone().requires_grad_()
        torch.nn.functional.gelu(y, approximate="tanh").sum().backward()
        torch.testing.assert_close(x.grad, y.grad, atol=1e-5, rtol=1e-4)

    def test_gelu_looked_up_in_bfloat16(self):
        x = (torch.randn(3, 1000) * 4).bfloat16().t().requires_grad_()
        result, (expected, slope) = Gelu.apply(x), gelu(x.detach())
        result.backward(torch.ones_like(result))
        self.assertTrue(torch.equal(result.detach(), expected.bfloat16()))
        self.assertTrue(torch.equal(x.grad, slope.bfloat16()))

    def test_orthogonalise(self):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(96, 32)))
        self.assertTrue(0.5 < values.min() and values.max() < 1.4)

    def test_token_centres_are_in_order_and_inside(self):
        centres = guide.token_centres([b" one", b" three", b"."], 1.0, 2.0)
        self.assertEqual(centres, sorted(centres))
        self.assertTrue(50 < centres[0] and centres[-1] < 100)


class Exporters(unittest.TestCase):
    def test_ggml_round_trip(self):
        torch.manual_seed(1)
        model = SpeechModel([5, 220, tokenizer.EOT, tokenizer.SOT], width=64, heads=1, encoder_layers=1, decoder_layers=1)
        with tempfile.NamedTemporaryFile() as file:
            ggml.export(model, file.name)
            shape, filters, pieces, tensors = ggml.read(file.name)
        self.assertEqual(shape, (51865, 1500, 64, 1, 1, 448, 64, 1, 1, 80, 1))
        self.assertEqual(filters.tobytes(), features.FILTERS.tobytes())
        self.assertEqual(pieces, tokenizer.PIECES)
        table = tensors["decoder.token_embedding.weight"]
        np.testing.assert_allclose(table[220], model.embedding[1].detach().numpy(), atol=1e-3)
        self.assertFalse(table[221].any())
        self.assertEqual(tensors["encoder.conv1.bias"].shape, (64, 1))

    def test_ct2_round_trip(self):
        torch.manual_seed(1)
        model = TranslationModel(40, width=64, heads=2, inner=96, layers=1)
        values, aliases = ct2.variables(model)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.bin")
            ct2.write_model(path, ct2._quantised(values), aliases)
            with open(path, "rb") as file:
                self.assertEqual(struct.unpack("<I", file.read(4))[0], 6)
            read, again = ct2.read_model(path)
            self.assertEqual(again, aliases)
            matrix, scale = read["decoder/embeddings/weight"], read["decoder/embeddings/weight_scale"]
            self.assertEqual(matrix.dtype, np.int8)
            self.assertLess(np.abs(matrix / scale[:, None] - values["decoder/embeddings/weight"]).max(), 0.51 / scale.min())
            ids = torch.tensor([[3, 4, 2]])
            loaded = translations.load(folder)
            mask = torch.zeros(1, 3, dtype=torch.bool)
            ours = model.decode(ids, *model.encode(ids, mask))
            theirs = loaded.decode(ids, *loaded.encode(ids, mask))
            self.assertLess((ours - theirs).abs().max(), 0.2)


class Evaluation(unittest.TestCase):
    def test_word_errors(self):
        self.assertEqual(score.distance(score.words("Twenty-two, please."), score.words("twenty two tea please")), 1)

    def test_cuts_cover_the_recording(self):
        rng = np.random.default_rng(1)
        bursts = [np.concatenate([rng.standard_normal(40000) * 0.1, np.zeros(8000)]) for _ in range(8)]
        samples = np.concatenate(bursts).astype(np.float32)
        windows = cutting.cut(samples)
        self.assertEqual(windows[0][0], 0)
        self.assertEqual(windows[-1][1], len(samples))
        for (_, end), (start, _) in zip(windows, windows[1:]):
            self.assertEqual(end, start)
        self.assertTrue(all(end - start <= 8 * 16000 for start, end in windows))
        self.assertLess(np.abs(samples[windows[0][1] - 800:windows[0][1] + 800]).max(), 1e-6)

    def test_pairs_have_two_languages(self):
        rng = random.Random(4)
        for _ in range(300):
            pair = training_pair(rng)
            self.assertNotEqual(pair.source_language, pair.target_language)
            self.assertTrue(pair.source and pair.target)


if __name__ == "__main__":
    unittest.main()
