"""Guided attention: cross-attention is pulled to where each token is heard. Without it the decoder settles as a
language model that does not listen."""
import torch

# Heads a decoder layer, first to last, that are guided; further layers repeat the last.
_HEADS = (1, 2, 2)
# Encoder positions (20 ms) around a token's centre that count as on target, and over how many more it fades.
_NEAR, _FADE = 12, 12


def enable(model):
    for i, block in enumerate(model.decoder):
        block.cross_attn.keep = _HEADS[min(i, len(_HEADS) - 1)]


def loss(model, centres):
    """-log of the attention that falls on target. `centres` [batch, time]: encoder position of the token predicted
    next, -1 where there is none."""
    batch, time = (centres >= 0).nonzero(as_tuple=True)
    total = 0.0
    for block in model.decoder:
        weights = block.cross_attn.weights.float()[batch, :, time]
        places = torch.arange(weights.shape[-1], device=weights.device)
        distance = (places[None] - centres[batch, time][:, None]).abs()
        target = 1 - ((distance - _NEAR) / _FADE).clamp(0, 1)
        total = total - ((weights * target[:, None]).sum(-1) + 1e-3).log().mean()
    return total / len(model.decoder)


def token_centres(pieces, start, end):
    """Encoder positions of tokens spread over start..end seconds in proportion to their bytes."""
    lengths = torch.tensor([float(len(piece)) for piece in pieces])
    middle = (lengths.cumsum(0) - lengths / 2) / lengths.sum()
    return ((middle * (end - start) + start) * 50).tolist()
