from __future__ import annotations

import hashlib
import itertools
import json
import os
import stat
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.commands import cli
from tests.inside import (
    Account,
    InvalidInput,
    Limit,
    LineState,
    LogContent,
    PeopleAccounts,
    PrivacyDefinition,
    Spend,
    SpendLogFile,
    about_units,
    accounts_of,
    all_accounts,
    amount_of,
    begun_line,
    limit_line,
    line_of,
    names_by_records,
    of_nobody,
    read_lines,
    read_log,
    refused_file,
    rho_of_epsilon,
    set_limit,
    why_no_room,
)
from tests.spend_logs import earlier_header, without_chain

ZCDP, PURE = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP
US, PR = "us", "pr"
SECRET = bytes(range(32))
UTC = "2026-01-02T03:04:05Z"


def spend(
    budget: str, definition: PrivacyDefinition = ZCDP, run: int = 1, dataset: str = "census", which=US, records=""
) -> Spend:
    """Without records given, every data set has its own."""
    fingerprint = hashlib.md5((records or dataset).encode()).hexdigest()
    return Spend(f"{run:016x}", UTC, dataset, which, definition, Fraction(budget), fingerprint)


def limit(amount: str | int, definition: PrivacyDefinition = ZCDP, dataset: str = "census") -> Limit:
    return Limit(dataset, UTC, definition, Fraction(amount))


def written(*lines: str) -> bytes:
    return (earlier_header(SECRET) + "".join(lines)).encode()


# Sums and limits


def test_sums_are_exact():
    account = Account((spend("0.1"), spend("0.2", run=2)))
    assert account.total(ZCDP) == Fraction(3, 10)
    assert why_no_room(account, spend("0.3", run=3), limit("0.6")) is None
    assert why_no_room(account, spend("0.3", run=3), limit("0.599999999999999999999999")) is not None
    assert str(account) == "rho 0.3 in 2 runs"


def test_a_pure_epsilon_counts_as_half_its_square_in_rho():
    assert rho_of_epsilon(Fraction(3)) == Fraction(9, 2)
    account = Account((spend("1"), spend("3", PURE, run=2)))
    assert account.total(ZCDP) == Fraction(11, 2)
    assert why_no_room(account, spend("0.5", run=3), limit(6)) is None
    assert "rho 1 in 1 run and epsilon 3 in 1 run, together rho 5.5" in str(account)
    assert "would make rho 6.5, more than the limit of rho 6." in (
        why_no_room(account, spend("1", run=3), limit(6)) or ""
    )


def test_zcdp_leaves_no_room_under_any_limit_in_epsilon():
    in_epsilon = limit(10**9, PURE)
    for before, now in ((spend("0.001"), spend("1", PURE, run=2)), (spend("1", PURE), spend("0.001", run=2))):
        assert "zCDP implies no pure epsilon" in (why_no_room(Account((before,)), now, in_epsilon) or "")
    assert why_no_room(Account((spend("2", PURE),)), spend("1", PURE, run=2), limit(3, PURE)) is None


def test_a_limit_in_rho_holds_for_a_run_under_pure_dp():
    account = Account((spend("1", PURE),))
    assert why_no_room(account, spend("3", PURE, run=2), limit(5)) is None
    assert "would make rho 5, more than the limit of rho 4.9." in (
        why_no_room(account, spend("3", PURE, run=2), limit("4.9")) or ""
    )


def test_what_is_left_is_never_below_nothing():
    account = Account((spend("1"), spend("2", PURE, run=2)))
    assert account.left(limit("3.5")) == Fraction(1, 2)
    assert account.left(limit(2)) == 0
    assert account.left(limit(100, PURE)) == 0


def test_amounts_are_plain_decimals():
    assert amount_of("9.90") == Fraction(99, 10)
    for text in ("", "-1", "1e3", "nan", "1/2", ".5", "5.", "1,5", " 1", "٣"):
        assert amount_of(text) is None, text


def test_accounts_are_by_name_and_pass():
    spends = [spend("1"), spend("2", dataset="other"), spend("4", which=PR), spend("8", run=2)]
    content = LogContent(SECRET, spends)
    assert accounts_of(content, "census").of(US).total(ZCDP) == 9
    assert accounts_of(content, "census").of(PR).total(ZCDP) == 4
    assert str(accounts_of(content, "nobody").of(US)) == "nothing"
    assert [each.names for each in all_accounts(content)] == [("census",), ("other",)]


# Passes of several censuses


def test_a_pass_with_another_name_counts_in_every_account_that_may_share_people():
    spends = [spend("1"), spend("4", which=PR), spend("2", run=2, which="all"), spend("16", run=3, dataset="other")]
    people = accounts_of(LogContent(SECRET, spends), "census")
    assert {name: people.of(name).total(ZCDP) for name in people.passes} == {"us": 3, "pr": 6, "all": 6}
    assert why_no_room(people.of("all"), spend("2", run=4, which="all"), limit(8)) is None
    assert why_no_room(people.of("all"), spend("2", run=4, which="all"), limit("7.9")) is not None


def test_of_each_run_the_largest_pass_counts_once():
    """Two runs may mean different people by the same names, but nobody is in two passes of one run."""
    spends = [spend("6", which="urban"), spend("1", which="rural")]
    spends += [spend("1", PURE, run=2, which="urban"), spend("4", PURE, run=2, which="rural")]
    people = accounts_of(LogContent(SECRET, spends), "census")
    assert {name: people.of(name).total(ZCDP) for name in people.passes} == {"urban": 14, "rural": 14}
    assert len(people.of("urban").spends) == 2


def people_who_lost_more_than_an_account_says() -> list[tuple[str | None, ...]]:
    """Everybody whom five runs of three censuses can have: the pass in each run, or None.

    The U.S. census ran twice, and nobody was in both of its passes.
    """
    runs = [{"us": 1, "pr": 3}, {"us": 5, "pr": 2}, {"all": 7}, {"urban": 4, "rural": 9}, {"urban": 8, "rural": 6}]
    losses = [(name, run, loss) for run, passes in enumerate(runs) for name, loss in passes.items()]
    spends = [spend(str(loss), run=run, which=name) for name, run, loss in losses]
    accounts = accounts_of(LogContent(SECRET, spends), "census")
    found = []
    for person in itertools.product(*([*passes, None] for passes in runs)):
        lost = sum(passes[name] for passes, name in zip(runs, person, strict=True) if name)
        totals = [accounts.of(name).total(ZCDP) or 0 for name in person if name]
        if not {US, PR} <= {*person} and any(lost > total for total in totals):
            found.append(person)
    return found


def test_no_account_says_less_than_a_person_lost(monkeypatch):
    assert people_who_lost_more_than_an_account_says() == []

    def passes_of_one_name(people: PeopleAccounts, name: str) -> Account:
        return Account(tuple(each for each in people.spends if each.tabulation_pass == name))

    monkeypatch.setattr(PeopleAccounts, "of", passes_of_one_name)
    found = people_who_lost_more_than_an_account_says()
    assert ("us", "us", "all", None, None) in found  # other names are not added
    assert (None, None, None, "rural", "urban") in found  # the same names mean other people


def of_specification(name: str, budget: str, run: int, most_records: int = 1, definition=ZCDP) -> Spend:
    """A run of a specification: its columns are its own, and so is the fingerprint of the same records."""
    spent = spend(budget, definition, run, which="all", records=name)
    return replace(spent, product=name, most_records=most_records)


def test_two_specifications_of_the_same_records_are_one_account_whatever_their_fingerprints():
    lines = [of_specification("stays", "0.5", 1), of_specification("diagnoses", "0.25", 2), spend("1", run=3)]
    content = read_lines("log", written(*map(begun_line, lines))).require()
    people = accounts_of(content, "census")
    assert len({each.fingerprint for each in people.spends}) == 3
    assert {which: people.of(which).total(ZCDP) for which in ("all", US, PR)} == {
        "all": Fraction("1.75"),
        US: Fraction("1.75"),
        PR: Fraction("0.75"),  # the third run has a pass of its own for them, which costs nothing here
    }


def test_an_account_is_of_a_unit_with_as_many_records_as_any_run_allows():
    both = [of_specification("patients", "0.5", 1, most_records=6), of_specification("stays", "0.01", 2, 2)]
    content = read_lines("log", written(*map(begun_line, both))).require()
    assert content.spends == both
    account = accounts_of(content, "census").of("all")
    assert account.total(ZCDP) == Fraction("0.5") + 9 * Fraction("0.01")  # six equal stays, three times two
    assert str(account) == "rho 0.59 in 2 runs"
    pure = [replace(each, definition=PURE) for each in both]
    assert Account(tuple(pure)).total(PURE) == Fraction("0.5") + 3 * Fraction("0.01")
    assert Account(tuple(pure)).total(ZCDP) == rho_of_epsilon(Fraction("0.5")) + rho_of_epsilon(Fraction("0.03"))
    more = replace(both[0], run=f"{3:016x}", most_records=12)
    assert Account((*both, more)).total(ZCDP) == Fraction("0.5") + 4 * Fraction("0.5") + 36 * Fraction("0.01")
    assert why_no_room(account, more, limit("2.86")) is None
    assert why_no_room(account, more, limit("2.85")) is not None
    assert "most_records" not in begun_line(spend("1"))


def test_charges_for_units_of_different_sizes_are_explained(tmp_path):
    both = [of_specification("patients", "2", 1, most_records=3), of_specification("stays", "2", 2)]
    (told,) = about_units(both)
    assert told.startswith(
        "Runs protect units of different sizes. All are charged for up to 3 records each: k times as"
    )
    assert about_units(both[:1]) == about_units([]) == []
    log = tmp_path / "spend.log"
    log.write_bytes(written(*map(begun_line, both)))
    log.chmod(0o600)
    assert told in " ".join(cli("spend", log).stdout.split())


def test_both_american_passes_are_shown_where_no_other_census_ran():
    def passes(*names: str) -> tuple[str, ...]:
        return accounts_of(LogContent(SECRET, [spend("1", which=name) for name in names]), "census").passes

    assert passes() == passes(US) == passes(PR) == passes(PR, US) == (US, PR)
    assert passes("north", "south") == ("north", "south")
    assert passes("north", PR) == (US, PR, "north")


def test_the_same_records_in_passes_with_two_names_are_the_same_people():
    spends = [spend("1", dataset="a", records="x"), spend("2", dataset="b", records="x", run=2, which="all")]
    assert accounts_of(LogContent(SECRET, spends), "a").of(US).total(ZCDP) == 3


@pytest.mark.parametrize(
    ("which", "product"), [("", "SafeTab-P"), ("a|b", "SafeTab-P"), ("_", "SafeTab-P"), ("us", ""), ("us", "a|b")]
)
def test_a_name_that_no_line_can_hold_is_never_charged(which, product):
    with pytest.raises(ValueError, match="can't hold this name"):
        replace(spend("1"), tabulation_pass=which, product=product)


# Names of the same people


def test_accounts_of_the_same_people_are_added_up_in_every_pass_from_every_name():
    spends = [
        *(spend("1", dataset="a"), spend("2", dataset="b"), spend("4", dataset="b", which=PR)),
        *(spend("8", dataset="c"), spend("16", dataset="d")),
    ]
    content = LogContent(SECRET, spends, {}, [("a", "b"), ("c", "b")])
    for name in "abc":
        assert accounts_of(content, name).of(US).total(ZCDP) == 11
        assert accounts_of(content, name).of(PR).total(ZCDP) == 4
    assert accounts_of(content, "d").of(US).total(ZCDP) == 16
    assert accounts_of(content, "d", ["a"]).of(US).total(ZCDP) == 27
    assert [each.names for each in all_accounts(content)] == [("a", "b", "c"), ("d",)]


def test_the_smallest_limit_of_all_names_holds():
    limits = {
        name: limit(amount, unit, name) for name, amount, unit in (("a", 9, ZCDP), ("b", 5, ZCDP), ("c", 2, PURE))
    }
    content = LogContent(SECRET, [spend("1", dataset="a")], limits, [("a", "b"), ("b", "c")])
    assert accounts_of(content, "a").limits == (limits["b"], limits["c"])


def test_names_that_shared_records_before_names_were_joined_are_the_same_people():
    """A log of an earlier version: the second name was warned of, and its runs counted apart."""
    old = [
        spend("1", dataset="a", records="x"),
        spend("2", dataset="b", records="x", run=2),
        spend("4", dataset="c", run=3),
    ]
    corrected = spend("8", dataset="b", records="y", run=4)
    content = read_lines("log", written(*map(begun_line, [*old, corrected]))).require()
    assert accounts_of(content, "a").of(US).total(ZCDP) == 11
    assert accounts_of(content, "c").of(US).total(ZCDP) == 4


def test_two_data_sets_without_records_in_a_pass_have_nobody_in_common():
    nobody = of_nobody(SECRET)
    spends = [replace(spend("1", dataset=name, which=PR), fingerprint=nobody) for name in "ab"]
    content = LogContent(SECRET, spends)
    assert accounts_of(content, "a").names == ("a",)
    assert names_by_records(content) == {}
    assert names_by_records(LogContent(SECRET, [spend("1")])) == {spend("1").fingerprint: {"census"}}


# Lines


def test_lines_are_read_as_they_were_written():
    spends = [spend("0.1"), spend("1/3", PURE, which=PR), spend("7", run=2, dataset="other-1.2_x")]
    spends.append(replace(spend("2", run=3, which="north-1"), product="Languages, 2031 (second run)"))
    lines = [*map(begun_line, spends), line_of(LineState.RELEASED, run=f"{1:016x}", utc=UTC)]
    content = read_lines("log", written(*lines, line_of(LineState.FAILED, run=f"{2:016x}", utc=UTC))).require()
    assert (content.secret, content.spends) == (SECRET, spends)
    assert not content.is_torn
    begun = json.loads(lines[0])
    assert (begun["budget"], begun["decimal"], begun["pass"], begun["state"]) == ("1/10", "0.1", "us", "begun")


def test_the_last_limit_of_a_name_holds():
    lines = [
        limit_line(limit("9.9")),
        begun_line(spend("1")),
        limit_line(limit("1/3", PURE, "other")),
        limit_line(limit(12)),
    ]
    content = read_lines(
        "log", written(*lines, line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="census", other="other"))
    ).require()
    assert content.limits == {"census": limit(12), "other": limit("1/3", PURE, "other")}
    assert content.same_people == [("census", "other")]
    assert json.loads(lines[0]) == {
        "state": "limit",
        "utc": UTC,
        "dataset": "census",
        "definition": "zcdp",
        "limit": "99/10",
        "decimal": "9.9",
    }


@pytest.mark.parametrize("ending", [None, LineState.RELEASED, LineState.FAILED])
def test_what_has_begun_counts_however_it_ended(ending):
    end = [line_of(ending, run=f"{1:016x}", utc=UTC)] if ending else []
    assert read_lines("log", written(begun_line(spend("4")), *end)).require().spends == [spend("4")]


@pytest.mark.parametrize("kept", [1, 40, 200, -2])
def test_a_torn_last_line_counts_for_nothing(kept):
    torn = begun_line(spend("2", run=2))[:kept]
    content = read_lines("log", written(begun_line(spend("1")), torn)).require()
    assert content.spends == [spend("1")]
    assert content.is_torn


def test_a_whole_last_line_that_only_lacks_its_newline_counts():
    content = read_lines("log", written(begun_line(spend("1"))).rstrip(b"\n")).require()
    assert content.spends == [spend("1")]
    assert content.is_unended
    assert not content.is_torn


def changed(**values: object) -> str:
    return json.dumps(json.loads(begun_line(spend("0.5"))) | values) + "\n"


MALFORMED = {
    "no JSON": "{\n",
    "no object": "[]\n",
    "a blank line": "\n",
    "not UTF-8": b'{"state": "\xff"}\n',
    "an unknown state": changed(state="undone"),
    "no state": '{"run": "x"}\n',
    "a key too few": '{"state": "begun"}\n',
    "a key too many": changed(more="1"),
    "a key twice": begun_line(spend("1")).replace('"run"', '"state": "begun", "run"'),
    "a number for a text": changed(budget=1),
    "a budget of no size": changed(budget="-1/2"),
    "a divisor of 0": changed(budget="1/0"),
    "budget and decimal apart": changed(decimal="0.4"),
    "no name of a pass": changed(**{"pass": "U|S"}),
    "a pass without a name": changed(**{"pass": ""}),
    "too long a name of a pass": changed(**{"pass": "a" * 101}),
    "no name of a product": changed(product="SafeTab|P"),
    "an unknown definition": changed(definition="dp"),
    "a name with a space": changed(dataset="a b"),
    "an end without a beginning": line_of(LineState.RELEASED, run=f"{9:016x}", utc=UTC),
    "a second header": earlier_header(SECRET),
    "a run that begins twice": begun_line(spend("1", run=7)),
    "limit and decimal apart": limit_line(limit(1)).replace('"decimal": "1"', '"decimal": "10"'),
    "a limit of no size": limit_line(limit(1)).replace('"limit": "1"', '"limit": "-1"'),
    "a limit without its date": limit_line(limit(1)).replace(f'"utc": "{UTC}", ', ""),
    "the same people as nobody": line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="census", other=""),
    "a deep nest": "[" * 100_000 + "\n",
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_line_is_a_finding_with_its_number(kind):
    line = MALFORMED[kind]
    content = written(begun_line(spend("1", run=7))) + (line if isinstance(line, bytes) else line.encode())
    checked = read_lines("log", content + begun_line(spend("1", run=8)).encode())
    assert checked.value is None
    (finding,) = checked.findings
    assert (finding.where, finding.is_error) == ("line 3", True)


def test_every_malformed_line_is_told_at_once():
    lines = written("x\n", begun_line(spend("1")), "y\n", begun_line(spend("1", run=2)))
    assert [finding.where for finding in read_lines("log", lines).findings] == ["line 2", "line 4"]


@pytest.mark.parametrize(
    "header",
    ["", "x", '{"safetab_spend_log": 2, "keep": "", "secret": "%s"}' % ("0" * 64), '{"safetab_spend_log": 1}', "{}"],
)
def test_a_file_that_is_no_spend_log_is_a_finding(header):
    (finding,) = read_lines("log", f"{header}\n".encode()).findings
    assert str(InvalidInput([finding])).startswith("log is not a spend log")


# The file


def appended(path: Path, *lines: str) -> None:
    file = SpendLogFile(path, may_create=True)
    with file.locked() as content:
        file.append(content, lines)
    file.close()


def content_of(path: Path):
    file = SpendLogFile(path, may_create=False)
    with file.locked() as content:
        pass
    file.close()
    return content


def test_a_new_log_is_for_its_owner_alone_and_has_a_secret_of_its_own(tmp_path):
    mask = os.umask(0)
    try:
        for name in ("one", "two"):
            appended(tmp_path / name, begun_line(spend("1")))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o600
    assert content_of(tmp_path / "one").secret != content_of(tmp_path / "two").secret


def test_what_was_written_stays_byte_for_byte(tmp_path):
    path = tmp_path / "log"
    for run in range(5):
        before = path.read_bytes() if path.exists() else b""
        appended(path, begun_line(spend("1", run=run)))
        assert path.read_bytes().startswith(before)
    assert len(content_of(path).spends) == 5


def test_a_torn_line_is_marked_and_the_log_goes_on(tmp_path):
    path = tmp_path / "log"
    appended(path, begun_line(spend("1")))
    torn = begun_line(spend("2", run=2))[:70]
    with path.open("a") as file:
        file.write(torn)
    appended(path, begun_line(spend("4", run=3)))
    assert torn in path.read_text()
    assert content_of(path).spends == [spend("1"), spend("4", run=3)]
    assert not content_of(path).is_torn


def test_a_lost_newline_is_put_back(tmp_path):
    path = tmp_path / "log"
    appended(path, begun_line(spend("1")))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    appended(path, begun_line(spend("4", run=3)))
    assert content_of(path).spends == [spend("1"), spend("4", run=3)]


# Limits are changed by a command of their own


def test_a_limit_is_a_line_of_its_own_and_nothing_else_changes(tmp_path):
    path = tmp_path / "log"
    appended(path, begun_line(spend("1")))
    before = path.read_bytes()
    assert set_limit(path, "census", "9.9", None) == ()
    assert path.read_bytes().startswith(before)
    (line,) = path.read_bytes()[len(before) :].decode().splitlines()
    assert json.loads(without_chain(line)) | {"utc": UTC} == json.loads(limit_line(limit("9.9")))
    set_limit(path, "census", "12", None)
    assert accounts_of(read_log(path), "census").limits[0].amount == 12


def test_a_limit_is_set_for_all_names_of_the_same_people(tmp_path):
    path = tmp_path / "log"
    runs = [begun_line(spend("1", run=run, dataset=name)) for run, name in enumerate("abc")]
    appended(
        path, *runs, limit_line(limit(2, dataset="b")), line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="a", other="b")
    )
    set_limit(path, "a", "9", None)
    assert {name: each.amount for name, each in read_log(path).limits.items()} == {"a": 9, "b": 9}


def test_the_unit_of_a_limit_is_that_of_the_last_one_or_else_of_the_runs(tmp_path):
    path = tmp_path / "log"
    runs = [spend("1"), spend("1", PURE, 2, "pure"), spend("1", run=3, dataset="mixed"), spend("1", PURE, 4, "mixed")]
    appended(path, *map(begun_line, runs), limit_line(limit(3, ZCDP, "decided")))
    for dataset, unit in {"census": ZCDP, "pure": PURE, "mixed": ZCDP, "decided": ZCDP}.items():
        set_limit(path, dataset, "9", None)
        assert read_log(path).limits[dataset].definition is unit
    set_limit(path, "decided", "9", PURE)
    set_limit(path, "decided", "8", None)
    assert read_log(path).limits["decided"].definition is PURE


@pytest.mark.parametrize(
    ("dataset", "amount", "unit", "words"),
    [
        ("census", "9", PURE, "zCDP implies no pure epsilon"),
        ("new", "9", None, "--unit: needed, rho or epsilon"),
        ("a b", "9", ZCDP, "--dataset: must be 1 to 100"),
        ("census", "-1", ZCDP, "--set-limit: must be a decimal"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_and_nothing_written(dataset, amount, unit, words, tmp_path):
    path = tmp_path / "log"
    appended(path, begun_line(spend("1")))
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=words):
        set_limit(path, dataset, amount, unit)
    assert path.read_bytes() == before


def test_a_limit_may_be_set_before_the_first_run(tmp_path):
    path = tmp_path / "log"
    with pytest.raises(InvalidInput, match="--unit: needed, rho or epsilon"):
        set_limit(path, "census", "9", None)
    assert not path.exists()
    (warning,) = set_limit(path, "census", "9", ZCDP)
    assert 'the log has no run on "census" yet' in warning.message
    assert read_log(path).limits["census"].amount == 9


def test_a_limit_below_what_was_spent_is_warned_about(tmp_path):
    appended(tmp_path / "log", begun_line(spend("4")), begun_line(spend("1", which=PR)))
    (warning,) = set_limit(tmp_path / "log", "census", "3", None)
    assert warning.where == "US pass"
    assert "every further run will be refused" in warning.message


def test_a_torn_limit_was_never_set(tmp_path):
    path = tmp_path / "log"
    appended(path, limit_line(limit(9)))
    with path.open("a") as file:
        file.write(limit_line(limit(99))[:-5])
    assert read_log(path).limits == {"census": limit(9)}
    set_limit(path, "census", "8", None)
    assert read_log(path).limits["census"].amount == 8


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602, 0o610, 0o666])
def test_a_log_that_others_may_touch_is_refused(mode, tmp_path):
    path = tmp_path / "log"
    appended(path)
    path.chmod(mode)
    (finding,) = refused_file(path)
    assert f"its mode is {mode:04o}" in finding.message
    assert "chmod 600" in finding.message
    with pytest.raises(InvalidInput):
        SpendLogFile(path, may_create=True)


def test_links_directories_and_pipes_are_refused(tmp_path):
    appended(tmp_path / "log")
    (tmp_path / "link").symlink_to(tmp_path / "log")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, words in {
        "link": "is a link",
        "dangling": "is a link",
        "folder": "is not a regular file",
        "pipe": "is not a regular file",
        "no/such": "can't be created",
        "log/inside": "can't be used",
        "a\0b": "can't be used",
    }.items():
        (finding,) = refused_file(tmp_path / name)
        assert words in finding.message, name
    with pytest.raises(InvalidInput, match="can't be opened"):
        SpendLogFile(tmp_path / "link", may_create=True)
    assert not (tmp_path / "nothing").exists()


def test_appending_waits_for_the_lock(tmp_path):
    path = tmp_path / "log"
    appended(path)
    holder = SpendLogFile(path, may_create=False)
    other = threading.Thread(target=appended, args=(path, begun_line(spend("1"))))
    with holder.locked() as content:
        other.start()
        other.join(0.3)
        assert other.is_alive()
        assert content.spends == []
        holder.append(content, [begun_line(spend("2", run=2))])
    other.join(10)
    holder.close()
    assert [each.budget for each in content_of(path).spends] == [2, 1]


def test_lines_are_synced_before_append_returns(tmp_path, monkeypatch):
    calls: list[str] = []
    write, sync = os.write, os.fsync
    monkeypatch.setattr(os, "write", lambda *arguments: (calls.append("write"), write(*arguments))[1])
    monkeypatch.setattr(
        os,
        "fsync",
        lambda descriptor: (
            calls.append("sync directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync"),
            sync(descriptor),
        )[1],
    )
    appended(tmp_path / "log", begun_line(spend("1")))
    # The new log, the line, and the head of the log in the file beside it.
    assert calls == ["sync", "sync directory", "write", "sync", "write", "sync"]
