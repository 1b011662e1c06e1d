"""Characters of the CTC head that helps the encoder to align; 0 is the blank."""

SYMBOLS = " 'abcdefghijklmnopqrstuvwxyzßàáâäçèéêíîñóôöùúûüœ"
_INDEX = {symbol: i + 1 for i, symbol in enumerate(SYMBOLS)}


def spell(text):
    return [_INDEX[c] for c in text.lower().replace("-", " ") if c in _INDEX]
