"""A pre-norm Transformer with one shared embedding, as CTranslate2's TransformerSpec computes it."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from speech.model import sinusoids

MAX_POSITIONS = 512


class Attention(nn.Module):
    """q, k and v of self-attention stacked in `linear_0`; of cross-attention q in `linear_0`, k and v in `linear_1`."""

    def __init__(self, width, heads, cross):
        super().__init__()
        self.heads, self.cross = heads, cross
        self.layer_norm = nn.LayerNorm(width)
        if cross:
            self.linear_0, self.linear_1, self.linear_2 = (nn.Linear(width, n * width) for n in (1, 2, 1))
        else:
            self.linear_0, self.linear_1 = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, source, mask):
        """x [batch, time, width]; `mask` adds to the scores [batch, 1, time, source time]."""
        batch, time, width = x.shape
        normed = self.layer_norm(x)
        if self.cross:
            q, (k, v), out = self.linear_0(normed), self.linear_1(source).chunk(2, -1), self.linear_2
        else:
            (q, k, v), out = self.linear_0(normed).chunk(3, -1), self.linear_1
        q, k, v = (t.reshape(batch, t.shape[1], self.heads, -1).transpose(1, 2) for t in (q, k, v))
        weights = (q @ k.transpose(2, 3) * (width // self.heads) ** -0.5 + mask).softmax(-1)
        return x + out((weights @ v).transpose(1, 2).reshape(batch, time, width))


class Feedforward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.layer_norm = nn.LayerNorm(width)
        self.linear_0, self.linear_1 = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return x + self.linear_1(F.relu(self.linear_0(self.layer_norm(x))))


class Layer(nn.Module):
    def __init__(self, width, heads, inner, cross):
        super().__init__()
        self.self_attention = Attention(width, heads, False)
        self.attention = Attention(width, heads, True) if cross else None
        self.ffn = Feedforward(width, inner)

    def forward(self, x, mask, source=None, source_mask=None):
        x = self.self_attention(x, x, mask)
        if self.attention is not None:
            x = self.attention(x, source, source_mask)
        return self.ffn(x)


class TranslationModel(nn.Module):
    def __init__(self, vocabulary, width=256, heads=4, inner=768, layers=2):
        super().__init__()
        self.width, self.heads = width, heads
        self.embedding = nn.Parameter(torch.randn(vocabulary, width) * width ** -0.5)
        self.bias = nn.Parameter(torch.zeros(vocabulary))
        self.encoder = nn.ModuleList([Layer(width, heads, inner, False) for _ in range(layers)])
        self.decoder = nn.ModuleList([Layer(width, heads, inner, True) for _ in range(layers)])
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.register_buffer("positions", sinusoids(MAX_POSITIONS, width))

    def _embed(self, ids, start=0):
        return self.embedding[ids] * self.width ** 0.5 + self.positions[start:start + ids.shape[1]]

    def encode(self, ids, padding):
        """Source ids [batch, time], padding bool -> ([batch, time, width], additive mask)"""
        mask = padding[:, None, None] * -1e9
        x = self._embed(ids)
        for layer in self.encoder:
            x = layer(x, mask)
        return self.encoder_norm(x), mask

    def decode(self, ids, encoded, source_mask):
        """Target ids [batch, time], starting with the start token -> logits [batch, time, vocabulary]"""
        mask = torch.full((ids.shape[1], ids.shape[1]), -1e9).triu(1)
        x = self._embed(ids)
        for layer in self.decoder:
            x = layer(x, mask, encoded, source_mask)
        return self.decoder_norm(x) @ self.embedding.t() + self.bias

    @torch.no_grad()
    def greedy(self, rows, start, end, limit=200):
        """Greedy translations [[id]] of source rows [[id]] (each ends with the end token)."""
        ids, padding = pad(rows)
        encoded, mask = self.encode(ids, padding)
        tokens = torch.full((len(rows), 1), start)
        done = torch.zeros(len(rows), dtype=torch.bool)
        while tokens.shape[1] <= limit and not done.all():
            best = self.decode(tokens, encoded, mask)[:, -1].argmax(-1)
            tokens = torch.cat([tokens, best[:, None]], 1)
            done |= best == end
        return [row[1:row.index(end, 1)] if end in row[1:] else row[1:] for row in tokens.tolist()]


def pad(rows, filler=0):
    """[[id]] -> (ids [batch, time], padding bool)"""
    ids = torch.full((len(rows), max(map(len, rows))), filler)
    padding = torch.ones(ids.shape, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, :len(row)] = torch.tensor(row)
        padding[i, :len(row)] = False
    return ids, padding
