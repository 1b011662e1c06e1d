"""The Whisper architecture in torch, at any size, with a vocabulary of which only some rows are trained.

Only the rows in `used` (and the timestamps) exist as parameters; the other rows of the exported table are zero, so
their logits are 0 and enter the softmax as the constant log(number of unused rows). Timestamp rows are a learned
linear map of sinusoids, so that each time is near its neighbours. GELU is the tanh form, as whisper.cpp computes it.
"""
import math
from functools import lru_cache

import torch
import torch.nn as nn
import torch.nn.functional as F

from .alphabet import SYMBOLS
from .tokenizer import FIRST_TIMESTAMP, TIMESTAMPS, VOCABULARY

AUDIO_CONTEXT = 1500
TEXT_CONTEXT = 448
# Queries a chunk in long self-attention, so that the scores stay in cache.
_CHUNK = 250


def sinusoids(length, width):
    """[length, width]: sines, then cosines, as openai/whisper."""
    step = math.log(10000) / (width // 2 - 1)
    angles = torch.arange(length).float()[:, None] * torch.exp(-step * torch.arange(width // 2).float())[None]
    return torch.cat([angles.sin(), angles.cos()], 1)


class ChunkedAttention(torch.autograd.Function):
    """softmax(q k') v for [heads of the batch, time, width] without keeping the scores."""

    @staticmethod
    def forward(ctx, q, k, v):
        out, keys = torch.empty_like(q), k.transpose(1, 2)
        for n in range(q.shape[0]):
            for a in range(0, q.shape[1], _CHUNK):
                weights = torch.mm(q[n, a:a + _CHUNK], keys[n]).float().softmax(-1).to(q.dtype)
                torch.mm(weights, v[n], out=out[n, a:a + _CHUNK])
        ctx.save_for_backward(q, k, v, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out = ctx.saved_tensors
        grad = grad.to(q.dtype).contiguous()
        dq, dk, dv = torch.empty_like(q), torch.zeros(k.shape), torch.zeros(v.shape)
        inner = (grad.float() * out.float()).sum(-1, keepdim=True)
        for n in range(q.shape[0]):
            keys, values = k[n].t(), v[n].t()
            for a in range(0, q.shape[1], _CHUNK):
                b = slice(a, a + _CHUNK)
                weights = torch.mm(q[n, b], keys).float().softmax(-1)
                dv[n] += torch.mm(weights.to(q.dtype).t(), grad[n, b])
                scores = torch.mm(grad[n, b], values).float().sub_(inner[n, b]).mul_(weights).to(q.dtype)
                torch.mm(scores, k[n], out=dq[n, b])
                dk[n] += torch.mm(scores.t(), q[n, b])
        return dq, dk.to(q.dtype), dv.to(q.dtype)


def gelu(x):
    """GELU in its tanh form, x * sigmoid(2u), and its slope, both float32."""
    full = x.float()
    square = full * full
    gate = torch.sigmoid((square * 0.044715).add_(1.0).mul_(full).mul_(1.5957691216))
    slope = (1 - gate).mul_(gate).mul_(full).mul_(square.mul_(0.134145).add_(1.0)).mul_(1.5957691216).add_(gate)
    return gate.mul_(full), slope


@lru_cache(maxsize=None)
def _gelu_tables():
    """GELU and slope of every bfloat16 number, by its bits."""
    numbers = (torch.arange(1 << 16, dtype=torch.int32) << 16).view(torch.float32)
    return [values.bfloat16() for values in gelu(numbers)]


class Gelu(torch.autograd.Function):
    """GELU in its tanh form. In bfloat16 on a CPU both it and its slope are looked up: exact, and a third of the time."""

    @staticmethod
    def forward(ctx, x):
        if x.dtype == torch.bfloat16 and x.device.type == "cpu":
            bits = x.contiguous().view(torch.int16).long().bitwise_and_(0xFFFF).view(-1)
            result, slope = (table.index_select(0, bits).view_as(x) for table in _gelu_tables())
        else:
            result, slope = (values.to(x.dtype) for values in gelu(x))
        ctx.save_for_backward(slope)
        return result

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


class Feedforward(nn.Sequential):
    """Two linear layers named 0 and 2, as in openai/whisper's files, where 1 is the activation."""

    def __init__(self, width):
        super().__init__(nn.Linear(width, 4 * width), nn.Identity(), nn.Linear(4 * width, width))

    def forward(self, x):
        return self[2](Gelu.apply(self[0](x)))


class LayerNorm(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x.float(), self.normalized_shape, self.weight, self.bias, self.eps)


class Attention(nn.Module):
    """Multi-head attention; `keep` heads' weights [batch, keep, queries, keys] stay in `weights` after a call."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.keep, self.weights = heads, 0, None
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def _split(self, x):
        batch, time, width = x.shape
        return x.view(batch, time, self.heads, -1).transpose(1, 2).reshape(batch * self.heads, time, -1)

    def forward(self, x, source=None, mask=None):
        batch, time, width = x.shape
        source = x if source is None else source
        q = self._split(self.query(x) * (width // self.heads) ** -0.5)
        k, v = self._split(self.key(source)), self._split(self.value(source))
        if mask is None and source is x and time > 600 and x.device.type == "cpu":
            out = ChunkedAttention.apply(q, k, v)
        else:
            scores = torch.bmm(q, k.transpose(1, 2))
            weights = (scores if mask is None else scores + mask).softmax(-1)
            out = torch.bmm(weights, v)
            if self.keep:
                self.weights = weights.view(batch, self.heads, time, -1)[:, :self.keep]
        return self.out(out.view(batch, self.heads, time, -1).transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    def __init__(self, width, heads, layers, cross):
        super().__init__()
        self.attn, self.attn_ln = Attention(width, heads), LayerNorm(width)
        if cross:
            self.cross_attn, self.cross_attn_ln = Attention(width, heads), LayerNorm(width)
        self.cross = cross
        self.mlp = Feedforward(width)
        self.mlp_ln = LayerNorm(width)
        with torch.no_grad():
            for last in [self.attn.out, self.mlp[2]] + ([self.cross_attn.out] if cross else []):
                last.weight.mul_((2 * layers) ** -0.5)
                last.bias.zero_()

    def forward(self, x, source=None, mask=None):
        x = x + self.attn(self.attn_ln(x), None, mask)
        if self.cross:
            x = x + self.cross_attn(self.cross_attn_ln(x), source)
        return x + self.mlp(self.mlp_ln(x))


class SpeechModel(nn.Module):
    def __init__(self, used, width=192, heads=3, encoder_layers=4, decoder_layers=3):
        super().__init__()
        self.used, self.width, self.heads = used, width, heads
        rows = torch.zeros(VOCABULARY, dtype=torch.long)
        rows[torch.tensor(used)] = torch.arange(len(used))
        rows[FIRST_TIMESTAMP:] = torch.arange(len(used), len(used) + TIMESTAMPS)
        self.register_buffer("rows", rows)
        self.log_unused = math.log(max(1, VOCABULARY - len(used) - TIMESTAMPS))
        self.conv1 = nn.Conv1d(80, width, 3, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, 2, 1)
        self.encoder = nn.ModuleList([Block(width, heads, encoder_layers, False) for _ in range(encoder_layers)])
        self.ln_post = LayerNorm(width)
        self.embedding = nn.Parameter(torch.randn(len(used), width) * 0.05)
        self.timestamp = nn.Linear(width, width)
        nn.init.normal_(self.timestamp.weight, std=0.05 / (width / 2) ** 0.5)
        self.positions = nn.Parameter(sinusoids(TEXT_CONTEXT, width) * 0.2)
        self.decoder = nn.ModuleList([Block(width, heads, decoder_layers, True) for _ in range(decoder_layers)])
        self.ln = LayerNorm(width)
        # Training aid on the encoder's output, not exported.
        self.ctc = nn.Linear(width, len(SYMBOLS) + 1)
        self.register_buffer("sinusoids", sinusoids(max(AUDIO_CONTEXT, TIMESTAMPS), width))

    def table(self):
        """Rows of the used tokens, then of the timestamps: [used + 1501, width]."""
        return torch.cat([self.embedding, self.timestamp(self.sinusoids[:TIMESTAMPS])], 0)

    def encode(self, mel):
        """[batch, 80, frames] -> [batch, frames / 2, width]"""
        x = Gelu.apply(self.conv1(mel))
        x = Gelu.apply(self.conv2(x)).transpose(1, 2)
        x = x + self.sinusoids[:x.shape[1]]
        for block in self.encoder:
            x = block(x)
        return self.ln_post(x)

    def decode(self, tokens, encoded, table=None):
        """Token ids [batch, time] -> (hidden [batch, time, width], table)"""
        table = self.table() if table is None else table
        time = tokens.shape[1]
        x = table[self.rows[tokens]] + self.positions[:time]
        mask = torch.full((time, time), -1e9, device=x.device).triu(1)
        for block in self.decoder:
            x = block(x, encoded, mask)
        return self.ln(x), table

    def token_loss(self, hidden, table, targets):
        """Cross-entropy and hit of each target; `targets` are ids, hidden [count, width]."""
        rows = self.rows[targets]
        logits = (hidden.bfloat16() @ table.bfloat16().t()).float()
        unused = torch.full((len(logits),), self.log_unused, device=logits.device)
        total = torch.logaddexp(logits.logsumexp(-1), unused)
        return total - logits.gather(1, rows[:, None])[:, 0], logits.argmax(-1) == rows
