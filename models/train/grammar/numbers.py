"""Cardinals 0..999, ordinals of dates and times of day, spelled out in four languages."""

_EN = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
       "seventeen eighteen nineteen").split()
_EN_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_ES = ("cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete "
       "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete "
       "veintiocho veintinueve").split()
_ES_TENS = "_ _ _ treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
_ES_HUNDREDS = ("_ ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos "
                "novecientos").split()
_DE = ("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
       "siebzehn achtzehn neunzehn").split()
_DE_TENS = "_ _ zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_FR = ("zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept "
       "dix-huit dix-neuf").split()
_FR_TENS = "_ _ vingt trente quarante cinquante soixante".split()
_EN_ORDINALS = ("_ first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
                "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth").split()
_DE_ORDINALS = ("_ ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften "
                "dreizehnten vierzehnten fünfzehnten sechzehnten siebzehnten achtzehnten neunzehnten").split()


def english(n):
    if n < 20:
        return _EN[n]
    if n < 100:
        return _EN_TENS[n // 10] + ("-" + _EN[n % 10] if n % 10 else "")
    return _EN[n // 100] + " hundred" + (" and " + english(n % 100) if n % 100 else "")


def spanish(n):
    if n < 30:
        return _ES[n]
    if n < 100:
        return _ES_TENS[n // 10] + (" y " + _ES[n % 10] if n % 10 else "")
    if n == 100:
        return "cien"
    return _ES_HUNDREDS[n // 100] + (" " + spanish(n % 100) if n % 100 else "")


def german(n):
    if n < 20:
        return _DE[n]
    if n < 100:
        unit = n % 10
        return (("ein" if unit == 1 else _DE[unit]) + "und" if unit else "") + _DE_TENS[n // 10]
    hundreds = n // 100
    return ("ein" if hundreds == 1 else _DE[hundreds]) + "hundert" + (german(n % 100) if n % 100 else "")


def french(n):
    if n < 20:
        return _FR[n]
    if n < 70:
        unit = n % 10
        return _FR_TENS[n // 10] + ("" if unit == 0 else " et un" if unit == 1 else "-" + _FR[unit])
    if n < 80:
        return "soixante" + (" et onze" if n == 71 else "-" + _FR[n - 60])
    if n == 80:
        return "quatre-vingts"
    if n < 100:
        return "quatre-vingt-" + _FR[n - 80]
    hundreds, rest = divmod(n, 100)
    head = "cent" if hundreds == 1 else _FR[hundreds] + " cent" + ("s" if rest == 0 else "")
    return head + (" " + french(rest) if rest else "")


CARDINAL = {"en": english, "es": spanish, "de": german, "fr": french}


def english_ordinal(n):
    if n <= 20:
        return _EN_ORDINALS[n]
    return "thirtieth" if n == 30 else _EN_TENS[n // 10] + "-" + _EN_ORDINALS[n % 10]


def german_ordinal(n):
    """Dative form ("ersten"); the nominative drops the n."""
    return _DE_ORDINALS[n] if n < 20 else german(n) + "sten"


def day_of_month(lang, day, month, on):
    """A date; `on` makes it adverbial ("on the first of May" for "the first of May")."""
    if lang == "en":
        return ("on " if on else "") + f"the {english_ordinal(day)} of {month}"
    if lang == "es":
        return ("el " if on else "") + f"{spanish(day)} de {month}"
    if lang == "de":
        return f"am {german_ordinal(day)} {month}" if on else f"der {german_ordinal(day)[:-1]} {month}"
    return "le " + ("premier" if day == 1 else french(day)) + f" {month}"


def _spanish_hour(hour):
    return "la una" if hour == 1 else "las " + spanish(hour)


def _french_hour(hour):
    return "une heure" if hour == 1 else french(hour) + " heures"


def _german_hour(hour):
    return "ein" if hour == 1 else german(hour)


def time_of_day(rng):
    """A random time: {"at": {lang: "at five"}, "is": {lang: "five"}} as used after "at" and after "it is"."""
    hour = rng.randint(1, 12)
    kind = rng.choice(["full", "full", "half", "quarter", "quarter to", "past", "to", "digital"])
    following = hour % 12 + 1
    minutes = rng.choice([5, 10, 20, 25])
    es, de, fr = _spanish_hour(hour), german(hour), _french_hour(hour)
    if kind == "full":
        en, de = english(hour) + " o'clock", _german_hour(hour) + " Uhr"
    elif kind == "half":
        en, es, de, fr = "half past " + english(hour), es + " y media", "halb " + german(following), fr + " et demie"
    elif kind == "quarter":
        en, es, de, fr = "quarter past " + english(hour), es + " y cuarto", "Viertel nach " + de, fr + " et quart"
    elif kind == "quarter to":
        en, es = "quarter to " + english(following), _spanish_hour(following) + " menos cuarto"
        de, fr = "Viertel vor " + german(following), _french_hour(following) + " moins le quart"
    elif kind == "past":
        en, es = f"{english(minutes)} past {english(hour)}", f"{es} y {spanish(minutes)}"
        de, fr = f"{german(minutes)} nach {de}", f"{fr} {french(minutes)}"
    elif kind == "to":
        en, es = f"{english(minutes)} to {english(following)}", f"{_spanish_hour(following)} menos {spanish(minutes)}"
        de, fr = f"{german(minutes)} vor {german(following)}", f"{_french_hour(following)} moins {french(minutes)}"
    else:
        minutes = rng.randint(10, 59)
        en, es = f"{english(hour)} {english(minutes)}", f"{es} y {spanish(minutes)}"
        de, fr = f"{_german_hour(hour)} Uhr {german(minutes)}", f"{fr} {french(minutes)}"
    verb = "Es " if es.startswith("la ") else "Son "
    return {"at": {"en": "at " + en, "es": "a " + es, "de": "um " + de, "fr": "à " + fr},
            "is": {"en": en, "es": verb + es, "de": de, "fr": fr}}
