"""Sizes and schedules of the speech models this directory can make."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SpeechConfig:
    # Folder below data/ with the training utterances.
    corpus: str = "train"
    # Keyword arguments of SpeechModel.
    shape: dict = field(default_factory=lambda: dict(width=192, heads=3, encoder_layers=4, decoder_layers=3))
    # Whether every text token is trained, or only those that the phrase grammar can need.
    all_tokens: bool = False
    # Wall-clock minutes of the whole run; the learning rate reaches 0 then, whatever the speed was.
    minutes: float = 125
    # Mel frames a micro-batch and micro-batches a step: together about 70 s of audio.
    frames: int = 1800
    parts: int = 4
    rate: float = 8e-4
    warmup: int = 200
    # Progress at which the rate starts to fall.
    flat: float = 0.73
    # The bootstrap (short, clear windows; the decoder sees half of them) lasts until the CTC loss is this low, or
    # this progress.
    bootstrap_ctc: float = 1.0
    bootstrap_until: float = 0.5
    # Weight of guided attention at the start and at the end: never off.
    guide: tuple = (0.5, 0.3)
    # Weight of the character CTC loss during the bootstrap and after it.
    ctc: tuple = (1.0, 1.0)
    seed: int = 1


CONFIGS = {
    "small": SpeechConfig(),
    # For a machine with a GPU and many cores: see README.md, "Open vocabulary".
    "open-vocabulary": SpeechConfig(
        corpus="open", shape=dict(width=384, heads=6, encoder_layers=4, decoder_layers=4), all_tokens=True,
        minutes=180, frames=24000, parts=2, rate=1e-3, warmup=1000),
}
