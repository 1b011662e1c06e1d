"""Which synthetic voices speak: engines, accents, variants, and the ones kept out of training.

A Voice is everything a synthesiser needs to know; two draws of the same name differ in rate and pitch.
Engines are Debian packages: espeak-ng, espeak (1.48, another phoneme set and another synthesiser revision),
flite, and festival (kal, ked: diphones; slt: HTS).
"""
from dataclasses import dataclass

# Held out: never in training in any engine or language, only in evaluation.
HELD_OUT_VARIANTS = ("f4 m6 klatt4 Annie Denis Michael linda edward2 steph2 victor belinda pablo robosoft5 "
                     "iven3").split()
HELD_OUT_ACCENTS = {"en-gb-x-gbcwmd", "en-wm"}
HELD_OUT_FLITE = "rms"

_VARIANTS = [v for v in (
    "adam Alex Alicia Andrea Andy Annie antonio aunty belinda benjamin boris caleb david Denis Diogo ed edward edward2 "
    "Gene Gene2 gustave Henrique Hugo iven iven2 iven3 iven4 Jacky john kaukovalta Lee linda Marcelo Marco mario max "
    "Michael michel Miguel mike Nguyen pablo paul pedro quincy RicishayMax rob robert robosoft2 robosoft5 robosoft8 "
    "steph steph2 steph3 Storm travis victor zac anika norbert sandro shelby klatt klatt2 klatt3 klatt4 klatt5 klatt6 "
    "f1 f2 f3 f4 f5 m1 m2 m3 m4 m5 m6 m7 m8 croak grandma grandpa announcer").split()
    if v not in HELD_OUT_VARIANTS] + [""] * 4
_OLD_VARIANTS = "f1 f2 f3 f5 m1 m2 m3 m4 m5 m7 klatt klatt2 klatt3 croak".split() + [""] * 2
_ACCENTS = {
    "en": ["en-us"] * 5 + ["en-gb"] * 4 + ["en-gb-x-rp"] * 3 + ["en-gb-scotland", "en-gb-x-gbclan", "en-029"] * 2
    + ["en-us-nyc"],
    "es": ["es", "es-419"], "de": ["de"], "fr": ["fr-fr", "fr-fr", "fr-be", "fr-ch"]}
_OLD_ACCENTS = {"en": ["en", "en-us", "en-us", "en-rp", "en-n", "en-sc", "en-wi"],
                "es": ["es", "es-la"], "de": ["de"], "fr": ["fr", "fr-be"]}
_TEST_ACCENTS = {**_ACCENTS, "en": ["en-gb-x-gbcwmd", "en-us", "en-gb"]}
_FLITE = ["kal", "kal16", "awb", "awb", "slt", "slt"]
_FESTIVAL = ["kal_diphone", "ked_diphone", "ked_diphone", "cmu_us_slt_arctic_hts"]
# Share of each engine in training, by language.
_ENGINES = {"en": [("espeak-ng", 0.42), ("espeak", 0.13), ("flite", 0.27), ("festival", 0.18)],
            "other": [("espeak-ng", 0.72), ("espeak", 0.28)]}


@dataclass(frozen=True)
class Voice:
    """`rate` is words per minute for espeak, the duration stretch (1 = normal) for flite and festival;
    `pitch` is espeak's 0..99 or flite's mean f0 in Hz (0: the voice's own); `gap` is espeak's pause between words
    in units of 10 ms; `spread` is flite's standard deviation of f0 in Hz."""
    engine: str
    name: str
    rate: float
    pitch: int = 0
    gap: int = 0
    spread: int = 0

    @property
    def label(self):
        return f"{self.engine}:{self.name} rate {self.rate:g} pitch {self.pitch}"


def _espeak(engine, accent, variant, rng, rates=(108, 222)):
    name = accent + ("+" + variant if variant else "")
    gap = rng.randint(1, 5) if rng.random() < 0.15 else 0
    return Voice(engine, name, rng.randint(*rates), rng.randint(12, 88), gap)


def _flite(name, rng):
    pitch = rng.randint(80, 210) if rng.random() < 0.6 else 0
    return Voice("flite", name, round(rng.uniform(0.78, 1.35), 2), pitch, spread=rng.randint(5, 40) if pitch else 0)


def draw_training_voice(lang, rng):
    """A random voice that training may hear. Languages outside the grammar have no accents but their own."""
    engines, weights = zip(*_ENGINES.get(lang, _ENGINES["other"]))
    engine = rng.choices(engines, weights)[0]
    if engine == "flite":
        return _flite(rng.choice(_FLITE), rng)
    if engine == "festival":
        return Voice("festival", rng.choice(_FESTIVAL), round(rng.uniform(0.78, 1.3), 2))
    if engine == "espeak":
        return _espeak(engine, rng.choice(_OLD_ACCENTS.get(lang, [lang])), rng.choice(_OLD_VARIANTS), rng)
    return _espeak(engine, rng.choice(_ACCENTS.get(lang, [lang])), rng.choice(_VARIANTS), rng)


def draw_held_out_voice(lang, rng):
    """A random voice that training never hears; for English a third of them is flite's rms."""
    if lang == "en" and rng.random() < 0.34:
        return Voice("flite", HELD_OUT_FLITE, round(rng.uniform(0.85, 1.25), 2))
    rates = rng.choice([(110, 125), (140, 190), (205, 220)])
    return _espeak("espeak-ng", rng.choice(_TEST_ACCENTS.get(lang, [lang])), rng.choice(HELD_OUT_VARIANTS), rng, rates)
