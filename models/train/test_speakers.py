#!/usr/bin/env python3
"""Fast checks of how the speaker models are trained, exported and measured.

    python3 models/train/test_speakers.py
"""
import json
import os
import random
import unittest

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from evaluation import turns, voices
from speakers import conversations, objective, onnx_file, powerset, verification
from speakers.embedding import SamplesToEmbedding, VoiceEmbedding
from speakers.segmentation import SamplesToClasses, Segmentation
from speakers.tasks import EmbeddingTask, SegmentationTask
from speakers.trainer import Run
from training.optimizer import Slot, is_block_matrix
from test_speaker_data import RATE, InFolder, small_corpus

SMALL_VOICE = dict(network="time-delay", width=32, pooled=32, size=16)
SMALL_RESIDUAL = dict(channels=(4, 4, 8, 8), pooled=32, size=16)
SMALL_TURNS = dict(width=32, narrow=16, hidden=16)


class Powerset(unittest.TestCase):
    def test_classes_and_back(self):
        speaking = torch.tensor([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1.0]])
        classes = powerset.classes_of(speaking)
        self.assertEqual(classes.tolist(), [0, 2, 5, 4])
        self.assertEqual(powerset.speaking(classes)[:3].tolist(), speaking[:3].tolist())

    def test_who_is_first_does_not_matter(self):
        speaking = (torch.rand(2, 40, 3, generator=torch.Generator().manual_seed(1)) > 0.6).float()
        speaking[speaking.sum(-1) > 2] = 0
        wanted = powerset.classes_of(speaking)
        certain = torch.nn.functional.one_hot(wanted, len(powerset.CLASSES)) * 30.0
        for order in ([2, 0, 1], [1, 0, 2]):
            loss, targets = powerset.loss(certain, powerset.classes_of(speaking[..., order]))
            self.assertLess(loss, 1e-3)
            self.assertTrue(torch.equal(targets, wanted))
        other = speaking[..., [2, 0, 1]].clone()
        other[:, :20] = speaking[:, :20]
        self.assertGreater(powerset.loss(certain, powerset.classes_of(other))[0], 1)


class Objective(unittest.TestCase):
    def test_the_margin_widens_the_angle_to_the_target_alone(self):
        cosine = torch.tensor([[0.5, 0.2], [-0.999, 0.3]])
        targets = torch.tensor([0, 0])
        torch.testing.assert_close(objective.angular_margin(cosine, targets, 0.0), cosine)
        moved = objective.angular_margin(cosine, targets, 0.3)
        self.assertAlmostEqual(float(moved[0, 0]), np.cos(np.arccos(0.5) + 0.3), places=5)
        self.assertTrue(torch.equal(moved[:, 1], cosine[:, 1]))
        self.assertLess(float(moved[1, 0]), -0.999)

    def test_embeddings_that_point_at_their_voices_cost_little(self):
        loss = objective.VoiceLoss(8, 8)
        loss.voices.data = torch.eye(8)
        ids = torch.tensor([1, 1, 4, 4])
        right, _ = loss(torch.eye(8)[ids], ids, 0.2)
        wrong, _ = loss(torch.eye(8)[ids + 1], ids, 0.2)
        self.assertLess(float(right) + 20, float(wrong))


class Verification(unittest.TestCase):
    def test_equal_error_rate(self):
        scores, same = np.array([0.9, 0.8, 0.7, 0.2, 0.3, 0.1, 0.0, 0.75]), [1, 1, 1, 1, 0, 0, 0, 0]
        self.assertAlmostEqual(verification.equal_error_rate(scores, same), 0.25)
        self.assertEqual(verification.equal_error_rate(np.array([0.1, 0.9]), [0, 1]), 0.0)
        self.assertTrue(0.2 <= verification.crossing(scores, same) < 0.7)

    def test_pairs_are_of_different_clips(self):
        rows = np.eye(4)
        scores, same, first, second = verification.pairs(rows, [0, 0, 1, 0], [0, 0, 1, 2])
        self.assertEqual(len(scores), 5)
        self.assertEqual(int(same.sum()), 2)
        self.assertFalse(((first == second) != same).any())

    def test_cuts_of_two_to_six_seconds(self):
        pieces = voices.cuts(np.arange(RATE * 31), random.Random(1))
        self.assertTrue(all(2 * RATE <= len(piece) <= 6 * RATE for piece in pieces))
        joined = np.concatenate(pieces)
        self.assertTrue(np.array_equal(joined, np.arange(len(joined))) and len(joined) > RATE * 29)


class Turns(InFolder):
    def test_errors_under_the_best_match(self):
        spoken = np.array([[1, 0], [1, 0], [0, 1], [1, 1], [0, 0]], bool)
        self.assertEqual(turns.errors(spoken, spoken[:, ::-1]), (0, 0, 0))
        self.assertEqual(turns.errors(spoken, np.zeros((5, 3), bool)), (5, 0, 0))
        self.assertEqual(turns.errors(spoken, np.ones((5, 1), bool)), (1, 1, 1))
        self.assertEqual(turns.errors(np.zeros((5, 0), bool), spoken), (0, 5, 0))

    def test_windows_reach_the_end(self):
        for seconds in (3, 10, 12, 30, 31):
            cut = turns.windows(np.ones(seconds * RATE, np.float32))
            self.assertTrue(all(len(samples) == conversations.LENGTH for _, samples in cut))
            self.assertGreaterEqual(cut[-1][0] + conversations.LENGTH, seconds * RATE - 320)

    def test_rttm(self):
        path = os.path.join(self.folder, "a.rttm")
        with open(path, "w", encoding="utf8") as file:
            file.write("SPEAKER a 1 0.50 1.50 <NA> <NA> x <NA> <NA>\nSPEAKER a 1 1.00 2.00 <NA> <NA> y <NA> <NA>\n")
        spoken = turns.reference(turns.read_rttm(path), 4 * RATE)
        self.assertEqual(spoken.sum(0).tolist(), [75, 100])
        self.assertEqual(int(spoken.all(1).sum()), 50)


class Exports(InFolder):
    def test_files_hold_half_precision_and_their_facts(self):
        path = os.path.join(self.folder, "a.onnx")
        voice, residual = VoiceEmbedding(**SMALL_VOICE), VoiceEmbedding(**SMALL_RESIDUAL)
        turns_of = Segmentation(**SMALL_TURNS)
        for module, facts in ((SamplesToEmbedding(voice), onnx_file.embedding_facts(16)),
                              (SamplesToEmbedding(residual), onnx_file.embedding_facts(16)),
                              (SamplesToClasses(turns_of), onnx_file.segmentation_facts(160000, 320))):
            module.train()
            onnx_file.export(module, path, torch.zeros(1, 1, RATE), "result", facts)
            self.assertTrue(module.training)
            model = onnx.load(path)
            self.assertEqual({p.key: p.value for p in model.metadata_props}, {k: str(v) for k, v in facts.items()})
            self.assertEqual([i.name for i in model.graph.input], ["samples"])
            weights = [numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
            kernel, = (value for value in weights if value.shape == (402, 1, 400))
            np.testing.assert_allclose(kernel, module.features.kernel.numpy(), atol=5e-4)
            self.assertEqual([v.shape for v in weights if v.dtype == np.float32 and v.size >= 256], [])

    def test_weights_in_bytes_are_nearly_what_they_were(self):
        path = os.path.join(self.folder, "b.onnx")
        module = SamplesToEmbedding(VoiceEmbedding(**SMALL_VOICE), VoiceEmbedding(**SMALL_RESIDUAL))
        onnx_file.export(module, path, torch.zeros(1, 1, RATE), "embedding", {}, in_bytes=True)
        stored = {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
        names = [name[:-5] for name in stored if name.endswith(".byte")]
        self.assertIn("embeddings.0.head.weight", names)
        for name in names:
            self.assertEqual(int(np.abs(stored[name + ".byte"]).max()), 127)
        whole = stored["embeddings.0.head.weight.byte"] * stored["embeddings.0.head.weight.scale"]
        given = module.embeddings[0].head.weight.detach().numpy()
        self.assertLess(np.abs(whole - given).max(), np.abs(given).max() / 250)
        self.assertEqual(stored["features.kernel.half"].dtype, np.float16)

    def test_the_cosine_of_joined_embeddings_is_the_mean_of_theirs(self):
        networks = [VoiceEmbedding(**SMALL_VOICE).eval(), VoiceEmbedding(**SMALL_RESIDUAL).eval()]
        samples = torch.rand(2, 1, RATE, generator=torch.Generator().manual_seed(4)) - 0.5
        with torch.no_grad():
            cosines = [float(a @ b) for a, b in (SamplesToEmbedding(*n)(samples) for n in (networks, networks[:1], networks[1:]))]
        self.assertAlmostEqual(cosines[0], (cosines[1] + cosines[2]) / 2, places=5)

    def test_both_fit_into_four_megabytes(self):
        paths = [os.path.join(self.folder, name) for name in ("e.onnx", "s.onnx")]
        joined = SamplesToEmbedding(VoiceEmbedding(), VoiceEmbedding("time-delay"))
        onnx_file.export(joined, paths[0], torch.zeros(1, 1, RATE), "embedding", {}, in_bytes=True)
        onnx_file.export(SamplesToClasses(Segmentation()), paths[1], torch.zeros(1, 1, RATE), "classes", {})
        self.assertLess(sum(map(os.path.getsize, paths)), 4_000_000)

    def test_a_frame_of_classes_is_20_milliseconds(self):
        module = SamplesToClasses(Segmentation(**SMALL_TURNS)).eval()
        self.assertEqual(module(torch.zeros(1, 1, 10 * RATE)).shape, (1, 500, 7))


class Training(InFolder):
    def test_weights_decay_as_the_task_says(self):
        kept = []
        for decay in (0.0, 0.5):
            weights, first, second = torch.ones(4), torch.zeros(4), torch.zeros(4)
            slot = Slot("head.weight", torch.zeros(2, 2), 0)
            slot.update(weights, first, second, torch.zeros(4), step=1, rate=0.1, decay=decay)
            kept.append(float(weights[0]))
        self.assertAlmostEqual(kept[0], 1.0)
        self.assertAlmostEqual(kept[1], 0.95)
        self.assertGreater(EmbeddingTask.Config().decay, SegmentationTask.Config().decay)

    def test_a_residual_trunk_has_nothing_that_a_segmentation_starts_from(self):
        residual = VoiceEmbedding(**SMALL_RESIDUAL)
        self.assertEqual(VoiceEmbedding.of(residual.state_dict(), **SMALL_RESIDUAL).drop.p, 0.2)
        self.assertEqual(residual(torch.zeros(2, 80, 100)).shape, (2, 16))
        self.assertEqual(Segmentation(**SMALL_TURNS).adopt(residual.state_dict()), 0)
        self.assertGreater(Segmentation(**SMALL_TURNS).adopt(VoiceEmbedding(**SMALL_VOICE).state_dict()), 0)

    def test_muon_trains_the_trunk_alone(self):
        model = torch.nn.Module()
        model.network = VoiceEmbedding(**SMALL_VOICE)
        chosen = [name for name, parameter in model.named_parameters() if is_block_matrix(name, parameter)]
        self.assertTrue(chosen and all(name.startswith("network.trunk.") for name in chosen))
        self.assertIn("network.trunk.blocks.0.around.0.weight", chosen)
        slot = Slot(chosen[0], model.get_parameter(chosen[0]), 0)
        weights, first = torch.zeros(slot.size), torch.zeros(slot.size)
        slot.update(weights, first, None, torch.randn(slot.size), step=1, rate=0.1)
        values = torch.linalg.svdvals(weights.view(slot.shape[0], -1))
        self.assertLess(values.max(), 2 * values.min())

    def _train(self, task):
        run = Run(task, os.path.join(self.folder, "run"), 1)
        run.start()
        with open(os.path.join(self.folder, "run", "card.json"), encoding="utf8") as file:
            return run, json.load(file)

    def test_an_embedding_resumes_and_a_segmentation_starts_from_it(self):
        small_corpus(self.folder, people=24)
        config = EmbeddingTask.Config(shape=SMALL_VOICE, seconds=12, minutes=0.02)
        _, card = self._train(EmbeddingTask(config, self.folder))
        self.assertGreaterEqual(card["steps"], 1)
        longer = EmbeddingTask.Config(shape=SMALL_VOICE, seconds=12, minutes=0.05)
        run, later = self._train(EmbeddingTask(longer, self.folder))
        self.assertEqual(run.first_step, card["steps"])
        self.assertGreater(later["steps"], card["steps"])
        state = run.checkpoint.load()["network"]
        task = SegmentationTask(SegmentationTask.Config(shape=SMALL_TURNS, windows=2), self.folder, state)
        network = task.build().network
        self.assertTrue(torch.equal(network.trunk.stem.enter[0].weight, state["trunk.stem.enter.0.weight"]))
        loss, report = task.loss(task.build(), 1, 0.0)
        self.assertTrue(torch.isfinite(loss) and 0 <= report["right"] <= 1)


if __name__ == "__main__":
    unittest.main()
