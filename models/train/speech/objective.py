"""The training loss: next token, characters of the encoder (CTC), guided attention."""
import torch
import torch.nn.functional as F

from . import guide
from .windows import IGNORED, NO_SPEECH_SHARE


def batch_loss(model, batch, ctc_weight, guide_weight, every=1):
    """(loss, {name: float}) of a Batch; matrix products run in bfloat16. The decoder sees every `every`-th window."""
    with torch.autocast(batch.mel.device.type, torch.bfloat16):
        encoded = model.encode(batch.mel)
        batch = batch.thin(every)
        hidden, table = model.decode(batch.tokens, encoded[::every])
    wanted = batch.targets != IGNORED
    losses, hits = model.token_loss(hidden[wanted], table, batch.targets[wanted])
    total = losses.sum()
    if len(batch.alternatives):
        row, place, token = batch.alternatives.t()
        other, _ = model.token_loss(hidden[row, place], table, token)
        first, _ = model.token_loss(hidden[row, place], table, batch.targets[row, place])
        total = total + (1 - NO_SPEECH_SHARE) * (other - first).sum()
    entropy = total / len(losses)
    loss, report = entropy, {"ce": entropy.item(), "accuracy": hits.float().mean().item()}
    spelled = [i for i, letters in enumerate(batch.letters) if letters and len(letters) < batch.heard[i]]
    if ctc_weight and spelled:
        ctc = _ctc(model, encoded[spelled], [batch.letters[i] for i in spelled], batch.heard[spelled])
        loss, report["ctc"] = loss + ctc_weight * ctc, ctc.item()
    if guide_weight and (batch.centres >= 0).any():
        guided = guide.loss(model, batch.centres)
        loss, report["guide"] = loss + guide_weight * guided, guided.item()
    return loss, report


def _ctc(model, encoded, letters, heard):
    """CTC loss a character."""
    with torch.autocast(encoded.device.type, torch.bfloat16):
        scores = model.ctc(encoded)
    scores = scores.float().log_softmax(-1).transpose(0, 1)
    sizes = torch.tensor([len(row) for row in letters])
    flat = torch.tensor([symbol for row in letters for symbol in row], device=encoded.device)
    return F.ctc_loss(scores, flat, heard, sizes, zero_infinity=True, reduction="sum") / sizes.sum()
