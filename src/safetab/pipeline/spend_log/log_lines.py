"""The lines of a spend log: one JSON object each, for people and programs.

The first line is the header with the format and the secret of the fingerprints. A run appends `begun` for each of its
passes before it draws noise, and `released` or `failed` at its end. `limit` sets how much a data set may lose in all,
`same-people` says that two names are of the same people. A line that a crash cut short is followed by one that says
`torn`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from safetab.census.geography_levels import TabulationPass
from safetab.config.exact_json import NotJson, parse_exact_json
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.formats import FORMAT, SPEND_LOG_FORMAT, format_of, newer_format
from safetab.pipeline.spend_log.accounts import Limit, Spend
from safetab.planning.plan_json import exact
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.all_products import PRODUCTS

DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DATASET_RULE = "must be 1 to 100 letters, digits, dots, hyphens or underscores, beginning with one of the first two."

_MARK = "safetab_spend_log"
_HEADER_KEYS = {_MARK, "keep", "secret"}
_KEEP = "confidential: for the curator alone, mode 0600"
_EXACT = re.compile("[0-9]{1,100}(/[1-9][0-9]{0,99})?")
_FORMS = {
    "run": re.compile("[0-9a-f]{16}"),
    "utc": re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
    "dataset": DATASET_NAME,
    "pass": re.compile("|".join(tabulation_pass.value for tabulation_pass in TabulationPass)),
    "definition": re.compile("|".join(definition.spelling for definition in PrivacyDefinition)),
    "budget": _EXACT,
    "decimal": re.compile("[0-9./]{1,210}"),
    "fingerprint": re.compile("[0-9a-f]{32}"),
    "limit": _EXACT,
    "other": DATASET_NAME,
    "product": re.compile("|".join(product.name for product in PRODUCTS)),
}
_SECRET = re.compile("[0-9a-f]{64}")


class LineState(Enum):
    BEGUN = "begun"
    RELEASED = "released"
    FAILED = "failed"
    LIMIT = "limit"
    SAME_PEOPLE = "same-people"
    TORN = "torn"


_KEYS = {
    LineState.BEGUN: {"state", "run", "utc", "dataset", "pass", "definition", "budget", "decimal", "fingerprint"},
    LineState.RELEASED: {"state", "run", "utc"},
    LineState.FAILED: {"state", "run", "utc"},
    LineState.LIMIT: {"state", "utc", "dataset", "definition", "limit", "decimal"},
    LineState.SAME_PEOPLE: {"state", "utc", "dataset", "other"},
    LineState.TORN: {"state", "utc"},
}


_OPTIONAL_KEYS = {LineState.BEGUN: {"product"}}
"""A line without a product is of the first."""


class _Malformed(Exception):  # noqa: N818 - the name is the sentence
    """The message says what is wrong with a line."""


@dataclass(slots=True)
class LogContent:
    """What a log says. `is_torn`: its last line was cut short; `is_unended`: it only lacks the newline.

    The last limit of each data set is in `limits`.
    """

    secret: bytes
    spends: list[Spend] = field(default_factory=list)
    limits: dict[str, Limit] = field(default_factory=dict)
    same_people: list[tuple[str, str]] = field(default_factory=list)
    is_torn: bool = False
    is_unended: bool = False
    ended_runs: set[str] = field(default_factory=set)


def header_line(secret: bytes) -> str:
    return _line({_MARK: 1, FORMAT: SPEND_LOG_FORMAT, "keep": _KEEP, "secret": secret.hex()})


def begun_line(spend: Spend) -> str:
    return _line(
        {
            "state": LineState.BEGUN.value,
            "run": spend.run,
            "utc": spend.utc,
            "dataset": spend.dataset,
            "pass": spend.tabulation_pass.value,
            "definition": spend.definition.spelling,
            "budget": str(spend.budget),
            "decimal": exact(spend.budget),
            "fingerprint": spend.fingerprint,
        }
        | ({} if spend.product == PRODUCTS[0].name else {"product": spend.product})
    )


def ended_line(state: LineState, run: str, utc: str) -> str:
    return _line({"state": state.value, "run": run, "utc": utc})


def limit_line(limit: Limit) -> str:
    return _line(
        {
            "state": LineState.LIMIT.value,
            "utc": limit.utc,
            "dataset": limit.dataset,
            "definition": limit.definition.spelling,
            "limit": str(limit.amount),
            "decimal": exact(limit.amount),
        }
    )


def same_people_line(dataset: str, other: str, utc: str) -> str:
    return _line({"state": LineState.SAME_PEOPLE.value, "utc": utc, "dataset": dataset, "other": other})


def torn_line(utc: str) -> str:
    return _line({"state": LineState.TORN.value, "utc": utc})


def read_lines(file: str, written: bytes) -> Checked[LogContent]:
    """What a log's bytes say, or a finding for each line that is not as a run writes it.

    A last line without its newline that can't be read was cut short by a crash. No noise was drawn after it, since that
    waits until the line is on the disk; so it counts for nothing.
    """
    findings = FindingsOf(file)
    first, *lines = written.split(b"\n")
    try:
        header = _object_of(first)
        newer = newer_format(_format_of(header), SPEND_LOG_FORMAT)
        if newer:
            findings.error("", newer)
            return Checked(None, findings.findings)
        content = LogContent(_secret_of(header))
    except _Malformed as malformed:
        findings.error(
            "line 1", f"is not the header of a spend log: {malformed} Choose another file, or restore this one."
        )
        return Checked(None, findings.findings)
    content.is_unended = bool(lines[-1] if lines else first)
    for position, line in enumerate(lines):
        if not line and position == len(lines) - 1:
            continue
        try:
            _add(content, _values_of(line))
        except _Malformed as malformed:
            if position == len(lines) - 1:
                content.is_torn = True
            elif not _says_torn(lines[position + 1]):
                findings.error(f"line {position + 2}", f"{malformed} Restore the line: what was spent is not known.")
    return Checked(None if findings.has_errors else content, findings.findings)


def _add(content: LogContent, values: Mapping[str, str]) -> None:
    state = LineState(values["state"])
    if state is LineState.LIMIT:
        content.limits[values["dataset"]] = _limit_of(values)
    elif state is LineState.SAME_PEOPLE:
        content.same_people.append((values["dataset"], values["other"]))
    elif state is not LineState.TORN:
        _add_of_run(content, state, values)


def _add_of_run(content: LogContent, state: LineState, values: Mapping[str, str]) -> None:
    begun = [spend for spend in content.spends if spend.run == values["run"]]
    if state is not LineState.BEGUN:
        if not begun or values["run"] in content.ended_runs:
            raise _Malformed("a run ends that has not begun, or has ended before.")
        content.ended_runs.add(values["run"])
        return
    spend = _spend_of(values)
    if any(other.tabulation_pass is spend.tabulation_pass for other in begun) or spend.run in content.ended_runs:
        raise _Malformed("a run begins that has begun before.")
    content.spends.append(spend)


def _limit_of(values: Mapping[str, str]) -> Limit:
    return Limit(values["dataset"], values["utc"], _definition_of(values), _exact_of(values, "limit"))


def _spend_of(values: Mapping[str, str]) -> Spend:
    return Spend(
        values["run"],
        values["utc"],
        values["dataset"],
        TabulationPass(values["pass"]),
        _definition_of(values),
        _exact_of(values, "budget"),
        values["fingerprint"],
        values.get("product", PRODUCTS[0].name),
    )


def _definition_of(values: Mapping[str, str]) -> PrivacyDefinition:
    (definition,) = (each for each in PrivacyDefinition if each.spelling == values["definition"])
    return definition


def _exact_of(values: Mapping[str, str], key: str) -> Fraction:
    number = Fraction(values[key])
    if values["decimal"] != exact(number):
        raise _Malformed(f"{key} and decimal are not the same number.")
    return number


def _values_of(line: bytes) -> dict[str, str]:
    """A line's values: all that its state has, each in its form."""
    values = _object_of(line)
    texts = {key: value for key, value in values.items() if isinstance(value, str)}
    state = next((state for state in LineState if state.value == texts.get("state")), None)
    if state is None:
        raise _Malformed(f"the state must be one of {', '.join(each.value for each in LineState)}.")
    if not _KEYS[state] <= values.keys() <= _KEYS[state] | _OPTIONAL_KEYS.get(state, set()):
        raise _Malformed(f"a line that says {state.value} must have {', '.join(sorted(_KEYS[state]))}, and no more.")
    for key in sorted(values.keys() - {"state"}):
        if not _FORMS[key].fullmatch(texts.get(key, "")):
            raise _Malformed(f"{key} is not as a run writes it.")
    return texts


def _format_of(header: Mapping[str, object]) -> int:
    """Later headers have the mark and their format too, whatever else they have."""
    if header.get(_MARK) != 1:
        raise _Malformed(f"{_MARK} must be 1.")
    try:
        return format_of(header.get(FORMAT, 0))
    except ValueError as error:
        raise _Malformed(f"{error}.") from None


def _secret_of(header: Mapping[str, object]) -> bytes:
    secret = header.get("secret")
    if header.keys() - {FORMAT} != _HEADER_KEYS or not isinstance(secret, str) or not _SECRET.fullmatch(secret):
        raise _Malformed(f"it must have {', '.join(sorted(_HEADER_KEYS))}.")
    return bytes.fromhex(secret)


def _object_of(line: bytes) -> Mapping[str, object]:
    try:
        parsed = parse_exact_json(line.decode("utf-8"))
    except (UnicodeDecodeError, NotJson):
        raise _Malformed("it is not JSON.") from None
    if not isinstance(parsed.value, dict) or parsed.repeated_keys:
        raise _Malformed("it must be one JSON object that has no key twice.")
    return parsed.value


def _says_torn(line: bytes) -> bool:
    try:
        return _values_of(line)["state"] == LineState.TORN.value
    except _Malformed:
        return False


def _line(values: Mapping[str, object]) -> str:
    return json.dumps(values) + "\n"
