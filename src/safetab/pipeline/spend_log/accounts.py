"""Exact accounts: what was spent on a data set, whether a limit leaves room, and the lines of the spend log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

from safetab.config.config_keys import NotJson, parse_exact_json
from safetab.foundation.findings import FORMAT, SPEND_LOG_FORMAT, Checked, FindingsOf, format_of, newer_format
from safetab.planning.plan_json import exact
from safetab.privacy.calibration import PrivacyDefinition
from safetab.privacy.composition import rho_of_epsilon
from safetab.products.all_products import PRODUCTS

NAME = re.compile("[A-Za-z0-9][A-Za-z0-9 ._,()-]{0,99}")
"""The names of passes and products that a log can hold."""
_AMOUNT = re.compile(r"[0-9]{1,30}(\.[0-9]{1,30})?")


@dataclass(frozen=True, slots=True)
class Limit:
    """How much each pass of a data set may lose in all, until another limit is set."""

    dataset: str
    utc: str
    definition: PrivacyDefinition
    amount: Fraction

    def __str__(self) -> str:
        return f"{self.definition.budget_symbol} {exact(self.amount)}"


@dataclass(frozen=True, slots=True)
class Spend:
    """What one run costs a person in one pass of a data set; it counts from the run's beginning.

    Raises ValueError if a log can't hold the name of the pass or of the product.
    """

    run: str
    utc: str
    dataset: str
    tabulation_pass: str
    definition: PrivacyDefinition
    budget: Fraction
    fingerprint: str
    product: str = PRODUCTS[0].name
    most_records: int = 1  # of the unit that the run protects

    def __post_init__(self) -> None:
        if not (NAME.fullmatch(self.tabulation_pass) and NAME.fullmatch(self.product)):
            raise ValueError("a spend log can't hold this name of a pass or product.")


@dataclass(frozen=True, slots=True)
class Account:
    """What was spent on the same people in several runs: losses add up.

    They are those of a unit with as many records as any of the runs lets a unit have.
    Proof: docs/privacy.md#repeated-runs (adaptive sequential composition).
    """

    spends: tuple[Spend, ...]

    @property
    def definitions(self) -> tuple[PrivacyDefinition, ...]:
        """The privacy definitions of its runs, zCDP first."""
        return tuple(each for each in PrivacyDefinition if any(spend.definition is each for spend in self.spends))

    def _cost(self, spend: Spend) -> Fraction:
        """What a run cost such a unit."""
        times = Fraction(max(each.most_records for each in self.spends), spend.most_records)
        return spend.budget * times ** (2 if spend.definition is PrivacyDefinition.ZCDP else 1)

    def total(self, definition: PrivacyDefinition) -> Fraction | None:
        """The sum as rho or epsilon.

        None for epsilon if a run was under zCDP, which implies no pure epsilon.
        """
        if definition is PrivacyDefinition.PURE_DP:
            is_pure = all(spend.definition is definition for spend in self.spends)
            return sum(map(self._cost, self.spends), Fraction(0)) if is_pure else None
        budgets = ((self._cost(spend), spend.definition is definition) for spend in self.spends)
        return sum((budget if is_rho else rho_of_epsilon(budget) for budget, is_rho in budgets), Fraction(0))

    def left(self, limit: Limit) -> Fraction:
        """What the limit leaves: 0 if it is used up, or if there is no sum to compare it with."""
        total = self.total(limit.definition)
        return Fraction(0) if total is None else max(limit.amount - total, Fraction(0))

    def __str__(self) -> str:
        parts = []
        for definition in self.definitions:
            budgets = [self._cost(spend) for spend in self.spends if spend.definition is definition]
            runs = f"{len(budgets):,} run{'s' if len(budgets) > 1 else ''}"
            parts.append(f"{definition.budget_symbol} {exact(sum(budgets, Fraction(0)))} in {runs}")
        words = " and ".join(parts) or "nothing"
        rho = self.total(PrivacyDefinition.ZCDP)
        if len(parts) == len(PrivacyDefinition) and rho is not None:
            words += f", together rho {exact(rho)} (a pure epsilon counts as rho = epsilon squared / 2)"
        return words


def about_units(spends: Iterable[Spend]) -> list[str]:
    """How runs are charged if they let units have different numbers of records."""
    most = {spend.most_records for spend in spends}
    charged = f"Runs protect units of different sizes. All are charged for up to {max(most, default=1)} records each:"
    rule = "k times as many records lose k squared times the rho, or k times the epsilon."
    return [f"{charged} {rule}"] if len(most) > 1 else []


def amount_of(text: str) -> Fraction | None:
    """The amount of a limit, exactly; None if the text is not a decimal number."""
    return Fraction(text) if _AMOUNT.fullmatch(text) else None


def why_no_room(before: Account, spend: Spend, limit: Limit) -> str | None:
    """Why a limit leaves no room for one more run; None if there is room."""
    total = Account((*before.spends, spend)).total(limit.definition)
    cost = f"{spend.definition.budget_symbol} {exact(spend.budget)}"
    if total is None:
        return (
            f"the limit is {limit}, and zCDP implies no pure epsilon: with runs under zcdp (before: {before}; this run:"
            f" {cost}) it can't be kept. Nothing was drawn. Set a limit with --unit rho, where a pure epsilon"
            " counts as rho = epsilon squared / 2."
        )
    if total <= limit.amount:
        return None
    return (
        f"{before} was spent before; this run's {cost} would make {limit.definition.budget_symbol}"
        f" {exact(total)}, more than the limit of {limit}. Nothing was drawn. Lower the budgets, or decide on another"
        " limit."
    )


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
    "pass": NAME,
    "definition": re.compile("|".join(definition.spelling for definition in PrivacyDefinition)),
    "budget": _EXACT,
    "decimal": re.compile("[0-9./]{1,210}"),
    "fingerprint": re.compile("[0-9a-f]{32}"),
    "limit": _EXACT,
    "other": DATASET_NAME,
    "product": NAME,
    "most_records": re.compile("[1-9][0-9]{0,8}"),
    "secret": re.compile("[0-9a-f]{64}"),
}


class LineState(Enum):
    """What a line after the header says."""

    BEGUN = "begun"
    RELEASED = "released"
    FAILED = "failed"
    LIMIT = "limit"
    SAME_PEOPLE = "same-people"
    TORN = "torn"
    MERGED = "merged"


_KEYS = {
    LineState.BEGUN: {"state", "run", "utc", "dataset", "pass", "definition", "budget", "decimal", "fingerprint"},
    LineState.RELEASED: {"state", "run", "utc"},
    LineState.FAILED: {"state", "run", "utc"},
    LineState.LIMIT: {"state", "utc", "dataset", "definition", "limit", "decimal"},
    LineState.SAME_PEOPLE: {"state", "utc", "dataset", "other"},
    LineState.TORN: {"state", "utc"},
    LineState.MERGED: {"state", "utc", "secret"},
}
_OPTIONAL_KEYS = {LineState.BEGUN: {"product", "most_records"}}  # without them: the first product, one record


class _Malformed(Exception):  # noqa: N818 - the name is the sentence
    """A line is wrong; the message says how."""


class LogLine(NamedTuple):
    """A sound line after the header: its number in the file, its text without the newline, what it says."""

    number: int
    text: bytes
    values: Mapping[str, str]
    state: LineState


@dataclass(slots=True)
class LogContent:
    """What a log says.

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
    lines: list[LogLine] = field(default_factory=list)
    cut_short: list[int] = field(default_factory=list)  # the numbers of lines that count for nothing

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """The secrets of all fingerprints, in the order of the lines."""
        return (*self.earlier_secrets, self.secret)


def header_line(secret: bytes, form: int = 1) -> str:
    """The first line of a new log. Only a merged log needs the newest format."""
    header = {_MARK: 1, FORMAT: form, "keep": _KEEP, "secret": secret.hex()}
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
    return line_of(LineState.LIMIT, utc=limit.utc, dataset=limit.dataset, definition=definition, **amount)


def line_of(state: LineState, **values: str) -> str:
    """A line with this state and these values, which are written in the order given."""
    return json.dumps({"state": state.value, **values}) + "\n"


def read_lines(file: str, written: bytes) -> Checked[LogContent]:
    """What a log's bytes say, or a finding for each line that is not as a run writes it.

    An unreadable last line without its newline was cut short by a crash. It does not count: noise
    waits until the line is on disk, so none was drawn.
    """
    content, findings = sound_lines(file, written)
    return Checked(None if findings.has_errors else content, findings.findings)


def sound_lines(file: str, written: bytes) -> tuple[LogContent | None, FindingsOf]:
    """What the sound lines say, or None without a log's first line; and a finding for each damaged line."""
    findings = FindingsOf(file)
    first, *lines = written.split(b"\n")
    try:
        header = _object_of(first)
        newer = newer_format(_format_of(header), SPEND_LOG_FORMAT)
        if newer:
            findings.error("", newer)
            return None, findings
        content = LogContent(_secret_of(header))
    except _Malformed:
        findings.error(
            "", "is not a spend log, or its first line is damaged. Choose another file, or restore this one."
        )
        return None, findings
    content.is_unended = bool(lines[-1] if lines else first)
    for position, line in enumerate(lines):
        if not line and position == len(lines) - 1:
            continue
        try:
            values = _values_of(line)
            add_line(content, values)
            content.lines.append(LogLine(position + 2, line, values, LineState(values["state"])))
        except _Malformed as malformed:
            content.is_torn = position == len(lines) - 1
            if content.is_torn or _says_torn(lines[position + 1]):
                content.cut_short.append(position + 2)
            else:
                findings.error(f"line {position + 2}", f"{malformed} Restore the line: what was spent is not known.")
    return content, findings


def add_line(content: LogContent, values: Mapping[str, str]) -> None:
    """Add what a line says to the content."""
    state = LineState(values["state"])
    if state is LineState.LIMIT:
        amount = _exact_of(values, "limit")
        content.limits[values["dataset"]] = Limit(values["dataset"], values["utc"], _definition_of(values), amount)
    elif state is LineState.SAME_PEOPLE:
        content.same_people.append((values["dataset"], values["other"]))
    elif state is LineState.MERGED:
        content.earlier_secrets.append(content.secret)
        content.secret = bytes.fromhex(values["secret"])
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
    cost, most_records = (_definition_of(values), _exact_of(values, "budget")), int(values.get("most_records", "1"))
    if any(other.tabulation_pass == values["pass"] for other in begun) or values["run"] in content.ended_runs:
        raise _Malformed("a run begins that has begun before.")
    spend = Spend(values["run"], values["utc"], values["dataset"], values["pass"], *cost, values["fingerprint"])
    content.spends.append(replace(spend, product=values.get("product", spend.product), most_records=most_records))


def _definition_of(values: Mapping[str, str]) -> PrivacyDefinition:
    (definition,) = (each for each in PrivacyDefinition if each.spelling == values["definition"])
    return definition


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
        raise _Malformed(f"a line that says {state.value} must have {', '.join(sorted(_KEYS[state]))}, and no more.")
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
    if header.keys() - {FORMAT} != _HEADER_KEYS or not has_secret:
        raise _Malformed(f"it must have {', '.join(sorted(_HEADER_KEYS))}.")
    return bytes.fromhex(str(secret))


def _object_of(line: bytes) -> Mapping[str, object]:
    """The JSON object of a line, with exact numbers."""
    try:
        parsed = parse_exact_json(line.decode("utf-8"))
    except (UnicodeDecodeError, NotJson):
        raise _Malformed("it is not JSON.") from None
    if not isinstance(parsed.value, dict) or parsed.repeated_keys:
        raise _Malformed("it must be one JSON object that has no key twice.")
    return parsed.value


def _says_torn(line: bytes) -> bool:
    """Whether a line says that the line before it was cut short."""
    with suppress(_Malformed):
        return _values_of(line)["state"] == LineState.TORN.value
    return False
