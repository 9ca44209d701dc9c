"""Code systems that look alike: whether values are probably codes of a system other than the one they are read in."""

from __future__ import annotations

import re
from collections.abc import Sequence

# By the root of the taxonomy: what codes look like, with dots or without.
_SHAPES = {
    "ICD-9-CM": r"[0-9]{3}(\.?[0-9]{1,2})?|V[0-9]{2}(\.?[0-9]{1,2})?|E[0-9]{3}(\.?[0-9])?",
    "ICD-9-CM procedures": r"[0-9]{2}\.?[0-9]{1,2}",
    "ICD-10-CM": r"[A-Z][0-9][0-9A-Z](\.?[0-9A-Z]{1,4})?",
}
_NAMES = {"ICD-9-CM": "icd-9-cm", "ICD-9-CM procedures": "icd-9-cm-procedures", "ICD-10-CM": "icd-10-cm"}
# This many procedures are never all diagnoses too, or the other way round, by chance.
_CERTAIN = 10
# Share of the values that have to look like codes of another system.
_SHARE = 0.9
# Of diagnoses without dots, far more have five digits than one in twenty; a few values may be strays.
_NEARLY_ALL, _ENOUGH = 0.95, 20


def doubt(root: str, values: Sequence[object]) -> str | None:
    """Return why values that are all codes of one system may be codes of another, or None.

    >>> doubt("ICD-9-CM", ["9671", "966"])
    "'9671' is read as a diagnosis, 967.1, but may be the procedure 96.71: no value has a dot, a letter or five digits"
    >>> doubt("ICD-9-CM", ["9671", "25001"])
    """
    if root not in _NAMES:
        return None
    texts = _texts(values)
    # Mostly none has four characters, which lengths tell at once.
    few = 4 in set(map(len, texts))
    four = next((text for text in texts if re.fullmatch("[0-9]{4}", text)), None) if few else None
    plain = sum(bool(re.fullmatch("[0-9]{2,4}", text)) for text in texts) if four is not None else 0
    if four is not None and plain >= (1.0 if len(texts) < _ENOUGH else _NEARLY_ALL) * len(texts):
        other = f"{'no' if plain == len(texts) else 'hardly any'} value has a dot, a letter or five digits"
        if root == "ICD-9-CM":
            return (
                f"{four!r} is read as a diagnosis, {four[:3]}.{four[3:]}, but may be the procedure "
                f"{four[:2]}.{four[2:]}: {other}"
            )
        if root == "ICD-9-CM procedures" and plain == len(texts) < _CERTAIN:
            return (
                f"{four!r} is read as a procedure, {four[:2]}.{four[2:]}, but may be the diagnosis "
                f"{four[:3]}.{four[3:]}: no value has a dot"
            )
    if root == "ICD-10-CM" and texts and all(re.fullmatch(r"E[89][0-9]{1,3}|V[0-9]{2}(\.?[0-9]*)", t) for t in texts):
        return (
            f"{texts[0]!r} is read as a code of ICD-10-CM, but may be one of ICD-9-CM: all values begin with E8, E9 "
            "or V, as its supplementary codes do"
        )
    return None


def likely(root: str, values: Sequence[object]) -> str | None:
    """Return to which system values that are not all codes of this one probably belong, in words, or None.

    Some of the values may be codes of this system by chance, and a few of no system at all.

    >>> likely("ICD-9-CM", ["96.71", "96.6"]), likely("ICD-9-CM", ["flu"]), likely("jobs", ["96.71"])
    ('They look like codes of icd-9-cm-procedures, not of ICD-9-CM', None, None)
    >>> likely("ICD-9-CM", ["9671", "3893"])
    'They may be codes of icd-9-cm-procedures'
    """
    texts = _texts(values)
    if root not in _SHAPES or not texts:
        return None
    most = _SHARE * len(texts)
    fitting = [name for name, shape in _SHAPES.items() if sum(bool(re.fullmatch(shape, t)) for t in texts) >= most]
    other = next((_NAMES[name] for name in fitting if name != root), None)
    if other is None:
        return None
    return f"They may be codes of {other}" if root in fitting else f"They look like codes of {other}, not of {root}"


def _texts(values: Sequence[object]) -> list[str]:
    return [text for text in dict.fromkeys(map(str.upper, map(str.strip, map(str, values)))) if text]
