"""The lines of a spend log: how a run writes them, and what a log's bytes say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

from safetab.core.guarantees.plan_json import exact
from safetab.foundation.findings import (
    FORMAT,
    SPEND_LOG_FORMAT,
    Checked,
    FindingsOf,
    format_of,
    newer_format,
)
from safetab.model.config.config_keys import NotJson, parse_exact_json
from safetab.model.privacy_definition import SPELLINGS, PrivacyDefinition
from safetab.model.products.all_products import PRODUCTS
from safetab.runs.spend_log.accounts import NAME, Limit, Spend
from safetab.runs.spend_log.chain import Chain, heads_in

DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DATASET_RULE = (
    "must be 1 to 100 letters, digits, dots, hyphens or underscores,"
    " beginning with one of the first two."
)
_MARK = "safetab_spend_log"
_CHAINED_FORMAT = 3
_HEADER_KEYS = {_MARK, "keep", "secret"}
_LOG = "log"
_KEEP = "confidential: for the curator alone, mode 0600"
_EXACT = re.compile("[0-9]{1,100}(/[1-9][0-9]{0,99})?")
_FORMS = {
    "run": re.compile("[0-9a-f]{16}"),
    "utc": re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
    "dataset": DATASET_NAME,
    "pass": NAME,
    "definition": re.compile("|".join(SPELLINGS)),
    "budget": _EXACT,
    "decimal": re.compile("[0-9./]{1,210}"),
    "fingerprint": re.compile("[0-9a-f]{32}"),
    "limit": _EXACT,
    "other": DATASET_NAME,
    "product": NAME,
    "most_records": re.compile("[1-9][0-9]{0,8}"),
    "secret": re.compile("[0-9a-f]{64}"),
    "of": re.compile("spend log [0-9a-f]{16}: [0-9]{1,9} lines, head [0-9a-f]{32}"),
}


class LineState(Enum):
    """The event that a line after the header states."""

    BEGUN = "begun"
    RELEASED = "released"
    FAILED = "failed"
    LIMIT = "limit"
    SAME_PEOPLE = "same-people"
    TORN = "torn"
    MERGED = "merged"


_KEYS = {
    LineState.BEGUN: {
        "state",
        "run",
        "utc",
        "dataset",
        "pass",
        "definition",
        "budget",
        "decimal",
        "fingerprint",
    },
    LineState.RELEASED: {"state", "run", "utc"},
    LineState.FAILED: {"state", "run", "utc"},
    LineState.LIMIT: {"state", "utc", "dataset", "definition", "limit", "decimal"},
    LineState.SAME_PEOPLE: {"state", "utc", "dataset", "other"},
    LineState.TORN: {"state", "utc"},
    LineState.MERGED: {"state", "utc", "secret"},
}
_OPTIONAL_KEYS = {
    LineState.BEGUN: {"product", "most_records"},  # without them: the first product, one record
    LineState.MERGED: {"of"},
}


class _Malformed(Exception):  # noqa: N818 - the name is the sentence
    """A line is wrong; the message says how."""


class _LogLine(NamedTuple):
    """A sound line after the header.

    It has its number, its text without newline and chain, and what it says.
    """

    number: int
    text: bytes
    values: Mapping[str, str]
    state: LineState


@dataclass(slots=True)
class LogContent:
    """The content of a log.

    `secret` is that of the next run's fingerprints; a merged log has others for earlier lines.
    `limits` has the last limit of each data set. `is_torn`: the last line was cut short;
    `is_unended`: the last line only lacks its newline.
    """

    secret: bytes
    spends: list[Spend] = field(default_factory=list)
    limits: dict[str, Limit] = field(default_factory=dict)
    same_people: list[tuple[str, str]] = field(default_factory=list)
    is_torn: bool = False
    is_unended: bool = False
    ended_runs: set[str] = field(default_factory=set)
    earlier_secrets: list[bytes] = field(default_factory=list)
    lines: list[_LogLine] = field(default_factory=list)
    # The numbers of lines that count for nothing.
    cut_short: list[int] = field(default_factory=list)
    chain: Chain = field(default_factory=Chain)

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """The secrets of all fingerprints, in the order of the lines."""
        return tuple(dict.fromkeys((*self.earlier_secrets, self.secret)))


def header_line(secret: bytes, log: str) -> str:
    """The first line of a new log with this name, 16 random hexadecimal digits."""
    header = {_MARK: 1, FORMAT: SPEND_LOG_FORMAT, "keep": _KEEP, _LOG: log, "secret": secret.hex()}
    return json.dumps(header) + "\n"


def begun_line(spend: Spend) -> str:
    """The line that charges a run on one pass."""
    values = {
        "run": spend.run,
        "utc": spend.utc,
        "dataset": spend.dataset,
        "pass": spend.tabulation_pass,
        "definition": spend.definition.spelling,
        "budget": str(spend.budget),
        "decimal": exact(spend.budget),
        "fingerprint": spend.fingerprint,
    }
    product = {} if spend.product == PRODUCTS[0].name else {"product": spend.product}
    unit = {} if spend.most_records == 1 else {"most_records": str(spend.most_records)}
    return line_of(LineState.BEGUN, **values, **product, **unit)


def limit_line(limit: Limit) -> str:
    """The line that sets a limit."""
    definition = limit.definition.spelling
    amount = {"limit": str(limit.amount), "decimal": exact(limit.amount)}
    return line_of(
        LineState.LIMIT, utc=limit.utc, dataset=limit.dataset, definition=definition, **amount
    )


def line_of(state: LineState, **values: str) -> str:
    """A line with this state and these values, which are written in the order given."""
    return json.dumps({"state": state.value, **values}) + "\n"


def read_lines(file: str, written: bytes) -> Checked[LogContent]:
    """The content of a log, or a finding for each line that is not as a run writes it.

    An unreadable last line without its newline was cut short by a crash. It does not count: noise
    waits until the line is on disk, so none was drawn.
    """
    content, findings = sound_lines(file, written)
    return Checked(None if findings.has_errors else content, findings.findings)


def sound_lines(file: str, written: bytes) -> tuple[LogContent | None, FindingsOf]:
    """The content of the sound lines, and a finding for each damaged line.

    The content is None without a log's first line.
    """
    findings = FindingsOf(file)
    first, *lines = written.split(b"\n")
    try:
        header = _object_of(first)
        form = _format_of(header)
        newer = newer_format(form, SPEND_LOG_FORMAT)
        if newer:
            findings.error("", newer)
            return None, findings
        content = LogContent(
            _secret_of(header), chain=Chain.of_header(first, _name_of(header, form))
        )
    except _Malformed:
        findings.error("", _NO_LOG if written else _EMPTIED)
        return None, findings
    content.is_unended = bool(lines[-1] if lines else first)
    for position, line in enumerate(lines):
        if not line and position == len(lines) - 1:
            continue
        plain, is_as_chained = content.chain.add(line)
        try:
            values = _values_of(plain)
            if not is_as_chained:
                findings.error(f"line {position + 2}", _CHANGED)
            add_line(content, values)
            content.lines.append(_LogLine(position + 2, plain, values, LineState(values["state"])))
        except _Malformed as malformed:
            content.is_torn = position == len(lines) - 1
            if content.is_torn or _says_torn(content, lines[position + 1]):
                content.cut_short.append(position + 2)
            else:
                findings.error(
                    f"line {position + 2}",
                    f"{malformed} Restore the line: what was spent is not known.",
                )
    return content, findings


_NO_LOG = (
    "is not a spend log, or its first line is damaged. Choose another file, or restore this one."
)
_EMPTIED = (
    "is empty, and no run leaves a spend log so: it was emptied, or a copy failed. Restore it."
    " Only if no run was ever charged to it, remove it: the next run makes a new one."
)
_CHANGED = (
    "the hash at its end is not that of this line and those before: the line was changed, or lines"
    " before it are missing. Restore the log: what was spent is not known."
)


def add_line(content: LogContent, values: Mapping[str, str]) -> None:
    """Add what a line says to the content."""
    state = LineState(values["state"])
    if state is LineState.LIMIT:
        amount = _exact_of(values, "limit")
        content.limits[values["dataset"]] = Limit(
            values["dataset"], values["utc"], _definition_of(values), amount
        )
    elif state is LineState.SAME_PEOPLE:
        content.same_people.append((values["dataset"], values["other"]))
    elif state is LineState.MERGED:
        content.earlier_secrets.append(content.secret)
        content.secret = bytes.fromhex(values["secret"])
        content.chain.merged += heads_in(values.get("of", ""))
    elif state is not LineState.TORN:
        _add_of_run(content, state, values)


def _add_of_run(content: LogContent, state: LineState, values: Mapping[str, str]) -> None:
    """Add the beginning or the end of a run; a run begins each pass once and ends once."""
    begun = [spend for spend in content.spends if spend.run == values["run"]]
    if state is not LineState.BEGUN:
        if not begun or values["run"] in content.ended_runs:
            raise _Malformed("a run ends that has not begun, or has ended before.")
        content.ended_runs.add(values["run"])
        return
    cost, most_records = (
        (_definition_of(values), _exact_of(values, "budget")),
        int(values.get("most_records", "1")),
    )
    if (
        any(other.tabulation_pass == values["pass"] for other in begun)
        or values["run"] in content.ended_runs
    ):
        raise _Malformed("a run begins that has begun before.")
    spend = Spend(
        values["run"],
        values["utc"],
        values["dataset"],
        values["pass"],
        *cost,
        values["fingerprint"],
    )
    content.spends.append(
        replace(spend, product=values.get("product", spend.product), most_records=most_records)
    )


def _definition_of(values: Mapping[str, str]) -> PrivacyDefinition:
    return PrivacyDefinition.spelled(values["definition"])


def _exact_of(values: Mapping[str, str], key: str) -> Fraction:
    """The exact number of a key, which must equal the decimal for people."""
    number = Fraction(values[key])
    if values["decimal"] != exact(number):
        raise _Malformed(f"{key} and decimal are not the same number.")
    return number


def _values_of(line: bytes) -> dict[str, str]:
    """The values of a line; it must have exactly the keys of its state, each in its form."""
    values = _object_of(line)
    texts = {key: value for key, value in values.items() if isinstance(value, str)}
    state = next((state for state in LineState if state.value == texts.get("state")), None)
    if state is None:
        raise _Malformed(f"the state must be one of {', '.join(each.value for each in LineState)}.")
    if not _KEYS[state] <= values.keys() <= _KEYS[state] | _OPTIONAL_KEYS.get(state, set()):
        raise _Malformed(
            f"a line that says {state.value} must have {', '.join(sorted(_KEYS[state]))},"
            " and no more."
        )
    for key in sorted(values.keys() - {"state"}):
        if not _FORMS[key].fullmatch(texts.get(key, "")):
            raise _Malformed(f"{key} is not as a run writes it.")
    return texts


def _format_of(header: Mapping[str, object]) -> int:
    """The format of the log; headers of later formats have this key too."""
    if header.get(_MARK) != 1:
        raise _Malformed(f"{_MARK} must be 1.")
    try:
        return format_of(header.get(FORMAT, 0))
    except ValueError as error:
        raise _Malformed(f"{error}.") from None


def _secret_of(header: Mapping[str, object]) -> bytes:
    """The secret in a header. Raises _Malformed if it has other keys than a header."""
    secret = header.get("secret")
    has_secret = isinstance(secret, str) and re.fullmatch("[0-9a-f]{64}", secret)
    if header.keys() - {FORMAT, _LOG} != _HEADER_KEYS or not has_secret:
        raise _Malformed(f"it must have {', '.join(sorted(_HEADER_KEYS))}.")
    return bytes.fromhex(str(secret))


def _name_of(header: Mapping[str, object], form: int) -> str | None:
    """The name of a log with a chain, or None before there were chains.

    Raises _Malformed without one.
    """
    name = header.get(_LOG)
    if form < _CHAINED_FORMAT:
        return None
    if not (isinstance(name, str) and re.fullmatch("[0-9a-f]{16}", name)):
        raise _Malformed(f"{_LOG} is not as a run writes it.")
    return name


def _object_of(line: bytes) -> Mapping[str, object]:
    """The JSON object of a line, with exact numbers."""
    try:
        parsed = parse_exact_json(line.decode("utf-8"))
    except (UnicodeDecodeError, NotJson):
        raise _Malformed("it is not JSON.") from None
    if not isinstance(parsed.value, dict) or parsed.repeated_keys:
        raise _Malformed("it must be one JSON object that has no key twice.")
    return parsed.value


def _says_torn(content: LogContent, line: bytes) -> bool:
    """Whether a line says that the line before it was cut short."""
    with suppress(_Malformed):
        return _values_of(content.chain.plain(line))["state"] == LineState.TORN.value
    return False
