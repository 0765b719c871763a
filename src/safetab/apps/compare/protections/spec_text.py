"""The text of a protection, name:key=value,... with steps joined by +, and back.

All mistakes are found at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from safetab.apps.compare.protections.all_methods import METHODS, SAID
from safetab.apps.compare.protections.method import Form, Place, Wrong, number_text, value_of
from safetab.apps.compare.protections.protection import Protection
from safetab.foundation.findings import Checked, FindingsOf
from safetab.model.specification.exact_numbers import decimal_text
from safetab.model.specification.kinds import in_sentence, nearest

_OF_2020 = "2020"  # a directory of this name is `safetab:./2020`
_DECIMAL = re.compile(r"\d{1,6}|\d{0,6}\.\d{1,12}", re.ASCII)
_FORMS = [
    (place, form)
    for place in Place
    for method in METHODS
    if method.place is place
    for form in method.forms
]
"""The forms of all steps, in the order of the steps."""
_PLACES: Mapping[str, Place] = {form.name: place for place, form in _FORMS}
"""The thing that each step works on, by the name of the step."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a protection's text."""

    name: str
    made: Any = None  # None: something is wrong
    words: str = ""
    text: str = ""
    said: str = ""


def parse(text: str, folder: Path) -> Protection:
    """The protection that a text asks for; files are looked up from `folder`.

    Raises InvalidInput.
    """
    return checked(text, folder).require()


def checked(text: str, folder: Path) -> Checked[Protection]:
    """The protection that a text asks for, or everything that is wrong with the text."""
    findings = FindingsOf(f"protection {text}")
    name, _, rest = text.strip().partition(":")
    if text.strip() == "none":
        protection = Protection("none", "no protection", family="none", said=(SAID["none"],))
    elif name == "safetab" and "+" not in text:
        protection = _safetab(rest, folder, findings)
    else:
        protection = _joined(
            [_step(part.strip(), folder, findings) for part in text.split("+")], findings
        )
    return Checked(None if findings.has_errors else protection, findings.findings)


def _safetab(place: str, folder: Path, findings: FindingsOf) -> Protection:
    """SafeTab with the comparison's own parameters, or with those that `place` asks for.

    `place` is empty, 2020, scale=F or a directory.
    """
    safetab = Protection(
        "safetab", "SafeTab", is_safetab=True, family="safetab", said=(SAID["safetab"],)
    )
    if not place:
        return safetab
    if place == _OF_2020:
        return replace(
            safetab,
            spec=f"safetab:{place}",
            name="SafeTab with the budgets of 2020",
            is_of_2020=True,
        )
    if place.startswith("scale="):
        factor = place.removeprefix("scale=").strip()
        scale = Fraction(factor) if _DECIMAL.fullmatch(factor) else Fraction(0)
        if not scale:
            findings.error("safetab scale", f'"{factor}": Give a number above 0, such as 0.25.')
        times = decimal_text(scale)
        return replace(
            safetab,
            spec=f"safetab:scale={times}",
            name=f"SafeTab, budgets times {times}",
            scale=scale,
        )
    if not (folder / place).is_dir():
        advice = "Give the directory of its parameters, 2020, or scale=F."
        findings.error(
            "safetab", f"{folder / place} is not a directory. {advice}", is_of_files=True
        )
    words = f"SafeTab with the parameters of {Path(place).name}"
    return replace(safetab, spec=f"safetab:{place}", name=words, parameters=folder / place)


def _joined(steps: Sequence[_Step], findings: FindingsOf) -> Protection:
    """The steps as one protection.

    There is a finding if they are not in order or work on the same.
    """
    made: dict[Place, list[Any]] = {place: [] for place in Place}
    names = [step.name for step in steps if step.name in _PLACES]
    for step in steps:
        if step.name in _PLACES:
            made[_PLACES[step.name]].append(step.made)
    in_order = sorted(names, key=_PLACES.__getitem__)
    if names != in_order or len(set(names)) < len(names) or len(made[Place.NUMBERS]) > 1:
        order = (
            "Give swap first, then area and threshold, then one step on numbers, each at most once."
        )
        findings.error("steps", f"{' and '.join(names)} can't be joined so. {order}")
    choosing = [name for name in names if _PLACES[name] is not Place.SELECTIONS]
    together = SAID.get("+".join(names))
    return Protection(
        spec="+".join(step.text for step in steps),
        name=" and ".join(step.words for step in steps),
        records=next(iter(made[Place.RECORDS]), None),
        selections=tuple(made[Place.SELECTIONS]),
        numbers=next(iter(made[Place.NUMBERS]), None),
        family=" + ".join(choosing or names),
        said=(together,) if together and len(names) > 1 else tuple(step.said for step in steps),
    )


def _step(text: str, folder: Path, findings: FindingsOf) -> _Step:
    """One step, with a finding for each mistake."""
    name, _, rest = text.partition(":")
    try:
        if name in {"none", "safetab"}:
            raise Wrong({"": "It can't be joined with other steps."})
        if name not in _PLACES:
            raise Wrong(
                {"": f"There is no such protection. {nearest(name, ['none', 'safetab', *_PLACES])}"}
            )
        given = _values(name, rest)
        form = _form(name, given)
        values = {key: given.get(key, form.defaults.get(key)) for key in form.keys}
        written = [
            f"{key}={number_text(value)}"
            for key, value in values.items()
            if value != form.defaults.get(key)
        ]
        made, words = form.make(
            *(folder / value if isinstance(value, Path) else value for value in values.values())
        )
        return _Step(name, made, words, f"{name}:{','.join(written)}", SAID[form.said or name])
    except Wrong as wrong:
        for key, message in wrong.args[0].items():
            findings.error(f"{name} {key}".strip() or "step", message, is_of_files=key == "ptable")
        return _Step(name)


def _values(name: str, text: str) -> dict[str, Any]:
    """The values that are given, by key. Raises Wrong."""
    allowed = dict[str, Any]()
    for form in _forms_of(name):
        allowed |= form.keys
    values, wrong = dict[str, Any](), dict[str, str]()
    for pair in filter(None, (part.strip() for part in text.split(","))):
        key, is_pair, value = (part.strip() for part in pair.partition("="))
        if key not in allowed:
            wrong[key] = f"There is no such key. {nearest(key, list(allowed))}"
        elif not is_pair or key in values:
            wrong[key] = "It is given twice." if is_pair else "It has no value. Write key=value."
        else:
            try:
                values[key] = value_of(value, allowed[key])
            except ValueError as error:
                wrong[key] = f'"{value}": {error}'
    if wrong:
        raise Wrong(wrong)
    return values


def _form(name: str, given: Mapping[str, Any]) -> Form:
    """The form of a step that these keys have. Raises Wrong."""
    forms = _forms_of(name)
    fitting = [form for form in forms if set(form.needed) <= set(given)]
    if len(fitting) != 1:
        needs = [" and ".join(form.needed) for form in forms]
        raise Wrong({"": f"Give {in_sentence(needs, 'or')}."})
    (form,) = fitting
    fits = " and ".join(key for key in given if key in form.keys)
    if others := {key: f"It can't be given with {fits}." for key in given if key not in form.keys}:
        raise Wrong(others)
    return form


def _forms_of(name: str) -> list[Form]:
    return [form for _, form in _FORMS if form.name == name]
