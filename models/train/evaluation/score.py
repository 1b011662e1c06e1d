"""Word error rate and the text normalisation both sides of it go through."""
import re
from collections import defaultdict


def words(text):
    """Lower-case words without punctuation; hyphens separate."""
    return re.sub(r"[^\w' ]", " ", text.lower().replace("-", " ")).split()


def distance(reference, hypothesis):
    """Fewest insertions, deletions and substitutions between two lists."""
    row = list(range(len(hypothesis) + 1))
    for i, wanted in enumerate(reference):
        diagonal, row[0] = row[0], i + 1
        for j, got in enumerate(hypothesis):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (wanted != got))
    return row[-1]


class Table:
    """Errors by set and language. `add` returns the number of word errors of the clip."""

    def __init__(self):
        self._cells = defaultdict(lambda: [0, 0, 0, 0, 0])

    def add(self, kind, language, reference, hypothesis, detected):
        wanted = words(reference)
        errors = distance(wanted, words(hypothesis))
        for key in ((kind, language), (kind, "all")):
            cell = self._cells[key]
            for i, value in enumerate((errors, len(wanted), 1, detected == language, not errors)):
                cell[i] += value
        return errors

    def rows(self):
        """[{set, language, wer (%), clips, exact, language_right}] in the order of first use."""
        return [{"set": kind, "language": language, "wer": round(100 * errors / max(1, total), 2), "words": total,
                 "clips": clips, "exact": exact, "language_right": right}
                for (kind, language), (errors, total, clips, right, exact) in self._cells.items()]

    def __str__(self):
        lines = ["set                    lang   WER %   exact    language right"]
        for row in self.rows():
            lines.append(f"{row['set']:22s} {row['language']:4s} {row['wer']:7.2f}   {row['exact']:3d}/{row['clips']:<3d}  "
                         f"{row['language_right']:3d}/{row['clips']}")
        return "\n".join(lines)
