"""The text of a protection, name:key=value,... with steps joined by +, and back. All mistakes are found at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from safetab.apps.compare.linear_programs import is_available
from safetab.apps.compare.protections.cell_key import CellKey, cell_key_of_file, least_variance, table_of
from safetab.apps.compare.protections.protection import Protection, Threshold
from safetab.apps.compare.protections.rounding import EXACT, REVIEW_BOARD, RULES_OF_1980, RandomRounding, Rounding
from safetab.apps.compare.protections.swapping import Swapping
from safetab.foundation.files import UnreadableFile
from safetab.foundation.findings import Checked, FindingsOf
from safetab.model.specification.exact_numbers import decimal_text
from safetab.model.specification.kinds import in_sentence, nearest

OF_2020 = "safetab:2020"
"""SafeTab with the budgets of the 2020 production run; a directory of this name is `safetab:./2020`."""
_ORDER = ("swap", "area threshold", "round round-random suppress cell-key")
_DECIMAL = re.compile(r"\d{1,6}|\d{0,6}\.\d{1,12}", re.ASCII)
_Made = tuple[Any, str]  # a step, and its name in words
_Step = tuple[str, Any, str, str]  # its name, what it makes (None: something is wrong), its name in words, its text
_Keys = Mapping[str, Any]  # what is allowed for each key: a range, a largest number, words, or a function


def parse(text: str, folder: Path) -> Protection:
    """The protection that a text asks for; files are looked up from `folder`. Raises InvalidInput."""
    return checked(text, folder).require()


def checked(text: str, folder: Path) -> Checked[Protection]:
    """The protection that a text asks for, or everything that is wrong with the text."""
    findings = FindingsOf(f"protection {text}")
    name, _, rest = text.strip().partition(":")
    if text.strip() == "none":
        protection = Protection("none", "no protection")
    elif name == "safetab" and "+" not in text:
        protection = _safetab(rest, folder, findings)
    else:
        protection = _joined([_step(part.strip(), folder, findings) for part in text.split("+")], findings)
    return Checked(None if findings.has_errors else protection, findings.findings)


def _safetab(place: str, folder: Path, findings: FindingsOf) -> Protection:
    if not place:
        return Protection("safetab", "SafeTab", is_safetab=True)
    if place == "2020":
        return Protection(OF_2020, "SafeTab with the budgets of 2020", is_safetab=True)
    if place.startswith("scale="):
        factor = place.removeprefix("scale=").strip()
        scale = Fraction(factor) if _DECIMAL.fullmatch(factor) else Fraction(0)
        if not scale:
            findings.error("safetab scale", f'"{factor}": Give a number above 0, such as 0.25.')
        times = decimal_text(scale)
        return Protection(f"safetab:scale={times}", f"SafeTab, budgets times {times}", is_safetab=True, scale=scale)
    if not (folder / place).is_dir():
        advice = "Give the directory of its parameters, 2020, or scale=F."
        findings.error("safetab", f"{folder / place} is not a directory. {advice}", is_of_files=True)
    words = f"SafeTab with the parameters of {Path(place).name}"
    return Protection(f"safetab:{place}", words, is_safetab=True, parameters=folder / place)


def _joined(steps: list[_Step], findings: FindingsOf) -> Protection:
    """The steps as one protection, with a finding if they are not in order or work on the same."""
    records, selections, numbers = ([made for name, made, *_ in steps if name in names.split()] for names in _ORDER)
    names = [name for name, *_ in steps if name in _NAMES]
    in_order = [name for group in _ORDER for name in names if name in group.split()]
    if names != in_order or len(set(names)) < len(names) or len(numbers) > 1:
        order = "Give swap first, then area and threshold, then one step on numbers, each at most once."
        findings.error("steps", f"{' and '.join(names)} can't be joined so. {order}")
    spec, words = "+".join(spec for *_, spec in steps), " and ".join(words for _, _, words, _ in steps)
    return Protection(spec, words, None, next(iter(records), None), tuple(selections), next(iter(numbers), None))


class _Wrong(Exception):  # noqa: N818 - the name is the sentence
    """A step is wrong: a sentence for each key, or for "" about the whole step."""


def _step(text: str, folder: Path, findings: FindingsOf) -> _Step:
    """One step, with a finding for each mistake."""
    name, _, rest = text.partition(":")
    try:
        if name in {"none", "safetab"}:
            raise _Wrong({"": "It can't be joined with other steps."})
        if name not in _NAMES:
            raise _Wrong({"": f"There is no such protection. {nearest(name, ['none', 'safetab', *_NAMES])}"})
        given = _values(name, rest)
        make, keys = _form(name, given)
        values = {key: given.get(key, _DEFAULTS.get(key)) for key in keys}
        written = [f"{key}={_text(value)}" for key, value in values.items() if value != _DEFAULTS.get(key)]
        made, words = make(*(folder / value if isinstance(value, Path) else value for value in values.values()))
        return name, made, words, f"{name}:{','.join(written)}"
    except _Wrong as wrong:
        for key, message in wrong.args[0].items():
            findings.error(f"{name} {key}".strip() or "step", message, is_of_files=key == "ptable")
        return name, None, "", ""


def _values(name: str, text: str) -> dict[str, Any]:
    """The values that are given, by key. Raises _Wrong."""
    allowed = {key: each for form, _, keys in _FORMS if form == name for key, each in keys.items()}
    values, wrong = dict[str, Any](), dict[str, str]()
    for pair in filter(None, (part.strip() for part in text.split(","))):
        key, is_pair, value = (part.strip() for part in pair.partition("="))
        if key not in allowed:
            wrong[key] = f"There is no such key. {nearest(key, list(allowed))}"
        elif not is_pair or key in values:
            wrong[key] = "It is given twice." if is_pair else "It has no value. Write key=value."
        else:
            try:
                values[key] = _value(value, allowed[key])
            except ValueError as error:
                wrong[key] = f'"{value}": {error}'
    if wrong:
        raise _Wrong(wrong)
    return values


def _form(name: str, given: Mapping[str, Any]) -> tuple[Callable[..., _Made], _Keys]:
    """The form of a step that these keys have. Raises _Wrong."""
    forms = [(make, keys) for form, make, keys in _FORMS if form == name]
    needs = [[key for key in keys if key not in _DEFAULTS] for _, keys in forms]
    fitting = [form for form, needed in zip(forms, needs, strict=True) if set(needed) <= set(given)]
    if len(fitting) != 1:
        raise _Wrong({"": f"Give {in_sentence([' and '.join(needed) for needed in needs], 'or')}."})
    _, keys = fitting[0]
    fits = " and ".join(key for key in given if key in keys)
    if others := {key: f"It can't be given with {fits}." for key in given if key not in keys}:
        raise _Wrong(others)
    return fitting[0]


def _text(value: Any) -> str:
    """A value in canonical form."""
    if isinstance(value, tuple):
        return "/".join(_text(part) for part in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _value(text: str, allowed: Any) -> Any:
    """A text as a value that is allowed. Raises ValueError with a sentence."""
    if isinstance(allowed, range):
        if text.isascii() and text.isdigit() and len(text) < 12 and int(text) in allowed:
            return int(text)
        raise ValueError(f"Give a whole number from {allowed.start} to {allowed.stop - 1}.")
    if isinstance(allowed, float):
        with suppress(ValueError):
            if 0 <= float(text) <= allowed:
                return float(text)
        raise ValueError(f"Give a number from 0 to {allowed:g}.")
    if isinstance(allowed, tuple):
        if text in allowed:
            return text
        raise ValueError(f"Give {' or '.join(allowed)}.")
    return allowed(text)


def _chances(text: str) -> tuple[float, ...]:
    with suppress(ValueError):
        values = tuple(_value(part, 1.0) for part in text.split("/"))
        if len(values) == 3 and abs(sum(values) - 1) < 1e-9:
            return values
    raise ValueError("Give three chances that sum to 1, such as 0/1/0.")


def _swap(rate: float, size_noise: Any, geography: Any, target: Any) -> _Made:
    words = f"swapping of {_text(100 * rate)}% of households" + ", unusual ones first" * (target == "unique")
    return Swapping(rate, size_noise, geography, target), words


def _round(ladder: Any, withheld_below: int, words: str, _: str, zeros: str) -> _Made:
    return Rounding(ladder, withheld_below, zeros == "shown"), words


def _round_random(base: int, fixed: str) -> _Made:
    return RandomRounding(base, fixed == "yes"), f"random rounding to base {base}" + ", fixed" * (fixed == "yes")


def _suppress(below: int, secondary: str, zeros: str, width: int) -> _Made:
    is_lp = secondary == "lp"
    if width > 1 and not is_lp:
        raise _Wrong({"range": "It can only be given with secondary=lp."})
    if is_lp and not is_available():
        raise _Wrong({"secondary": "lp needs OR-Tools, which is not installed. Install it: pip install ortools."})
    words = f"suppression of counts below {below}" + ", with secondary suppression" * is_lp
    return Rounding(EXACT, below, zeros == "shown", width * is_lp), words


def _cell_key(largest: int, variance: float, js: int, pstay: float) -> _Made:
    if js > largest:
        raise _Wrong({"js": f"{js} is larger than D, so a count of {js} could not change. Give at most {largest}."})
    if variance < (least := least_variance(js)):
        raise _Wrong({"V": f"With js={js} it can't be below {least}. Give a larger V or a smaller js."})
    words = f"cell key, changes up to {largest}, variance {_text(variance)}"
    return CellKey(table_of(largest, variance, js, pstay)), words


def _cell_key_of_file(ptable: Path) -> _Made:
    try:
        return cell_key_of_file(ptable), f"cell key by {ptable.name}"
    except (ValueError, UnreadableFile) as error:
        raise _Wrong({"ptable": str(error)}) from None


_MANY, _PEOPLE, _ZEROS = range(1, 10**6 + 1), range(1, 10**9 + 1), ("shown", "withheld")
_FORMS: tuple[tuple[str, Callable[..., _Made], _Keys], ...] = (
    ("swap", _swap, {"rate": 1.0, "size-noise": _chances, "geography": _chances, "target": ("none", "unique")}),
    ("area", lambda people: (Threshold(people, True), f"areas from {people} people on"), {"people": _PEOPLE}),
    ("threshold", lambda people: (Threshold(people, False), f"groups from {people} people on"), {"people": _PEOPLE}),
    ("round", lambda base: (Rounding(((0, base),)), f"rounding to the nearest {base}"), {"base": _MANY}),
    ("round", partial(_round, REVIEW_BOARD, 15, "rounding ladder"), {"ladder": ("drb",), "zeros": _ZEROS}),
    ("round", partial(_round, ((0, 5),), 10, "10-5 rule"), {"rule": ("10-5",), "zeros": _ZEROS}),
    ("round-random", _round_random, {"base": range(1, 10**4 + 1), "fixed": ("no", "yes")}),
    ("suppress", _suppress, {"below": _MANY, "secondary": ("none", "lp"), "zeros": _ZEROS, "range": _MANY}),
    ("suppress", lambda _: (RULES_OF_1980, "suppression by the rules of 1980"), {"rule": ("1980",)}),
    ("cell-key", _cell_key, {"D": range(1, 31), "V": 900.0, "js": range(31), "pstay": 1.0}),
    ("cell-key", _cell_key_of_file, {"ptable": Path}),
)
"""The forms of each step: its name, what takes the values, and the keys."""
_NAMES = list(dict.fromkeys(name for name, *_ in _FORMS))
_DEFAULTS: Mapping[str, Any] = {
    "size-noise": (0.0, 1.0, 0.0),
    "geography": (1.0, 0.0, 0.0),
    "target": "none",
    "fixed": "no",
    "secondary": "none",
    "zeros": "shown",
    "range": 1,
    "js": 0,
    "pstay": 0.0,
}
