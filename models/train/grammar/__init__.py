"""The phrase grammar: aligned sentences in English, Spanish, German and French."""
from .sentences import LANGUAGES, Sentence, draw, is_held_out, sample_words

__all__ = ["LANGUAGES", "Sentence", "draw", "is_held_out", "sample_words"]
