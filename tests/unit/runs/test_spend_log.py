import hashlib
import itertools
import json
import os
import stat
import threading
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.cases import values_of
from tests.commands import done, invalid
from tests.inside import (
    Account,
    InvalidInput,
    Limit,
    LineState,
    LogContent,
    LossUnit,
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
    set_limit,
    why_no_room,
)
from tests.spend_logs import earlier_header, without_chain

ZCDP, PURE = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP
US, PR = "us", "pr"
SECRET = bytes(range(32))
UTC = "2026-01-02T03:04:05Z"


def spend(budget, run=1, definition=ZCDP, dataset="census", which=US, records=""):
    """Without records given, every data set has its own."""
    fingerprint = hashlib.md5((records or dataset).encode()).hexdigest()
    return Spend(f"{run:016x}", UTC, dataset, which, definition, Fraction(budget), fingerprint)


def limit(amount, definition=ZCDP, dataset="census"):
    return Limit(dataset, UTC, definition, Fraction(amount))


def refusal(account, budget, most, definition=ZCDP, **more):
    """Why a further run would not be charged, or nothing."""
    return why_no_room(account, spend(budget, 9, definition, **more), most) or ""


def total(spends, name="census", which=US):
    """The rho of a pass in the account of a name."""
    return accounts_of(LogContent(SECRET, spends), name).of(which).total(ZCDP)


def written(*lines):
    texts = (line if isinstance(line, str) else begun_line(line) for line in lines)
    return (earlier_header(SECRET) + "".join(texts)).encode()


def read(*lines):
    return read_lines("log", written(*lines)).require()


# Sums and limits


def test_sums_are_exact():
    account = Account((spend("0.1"), spend("0.2", 2)))
    assert account.total(ZCDP) == Fraction(3, 10)
    assert not refusal(account, "0.3", limit("0.6"))
    assert refusal(account, "0.3", limit("0.599999999999999999999999"))
    assert str(account) == "rho 0.3 in 2 runs"


def test_a_pure_epsilon_counts_as_half_its_square_in_rho():
    assert LossUnit.EPSILON.rho_of(Fraction(3)) == Fraction(9, 2)
    account = Account((spend(1), spend(3, 2, PURE)))
    assert account.total(ZCDP) == Fraction(11, 2)
    assert not refusal(account, "0.5", limit(6))
    assert "rho 1 in 1 run and epsilon 3 in 1 run, together rho 5.5" in str(account)
    assert "would make rho 6.5, more than the limit of rho 6." in refusal(account, 1, limit(6))
    account = Account((spend(1, 1, PURE),))
    assert not refusal(account, 3, limit(5), PURE)
    assert "would make rho 5, more than the limit of rho 4.9." in refusal(account, 3, limit("4.9"), PURE)


def test_zcdp_leaves_no_room_under_any_limit_in_epsilon():
    for before, now in (ZCDP, PURE), (PURE, ZCDP):
        told = refusal(Account((spend("0.001", 1, before),)), "0.001", limit(10**9, PURE), now)
        assert "zCDP implies no pure epsilon" in told
    assert not refusal(Account((spend(2, 1, PURE),)), 1, limit(3, PURE), PURE)


def test_what_is_left_is_never_below_nothing():
    account = Account((spend(1), spend(2, 2, PURE)))
    assert [account.left(one) for one in (limit("3.5"), limit(2), limit(100, PURE))] == [Fraction(1, 2), 0, 0]


@pytest.mark.parametrize("text", ["", "-1", "1e3", "nan", "1/2", ".5", "5.", "1,5", " 1", "٣"])
def test_amounts_are_plain_decimals(text):
    assert amount_of("9.90") == Fraction(99, 10)
    assert amount_of(text) is None


def test_accounts_are_by_name_and_pass():
    spends = [spend(1), spend(2, dataset="other"), spend(4, which=PR), spend(8, 2)]
    content = LogContent(SECRET, spends)
    assert total(spends) == 9
    assert total(spends, which=PR) == 4
    assert str(accounts_of(content, "nobody").of(US)) == "nothing"
    assert [each.names for each in all_accounts(content)] == [("census",), ("other",)]


# Passes of several censuses


def test_a_pass_with_another_name_counts_in_every_account_that_may_share_people():
    spends = [spend(1), spend(4, which=PR), spend(2, 2, which="all"), spend(16, 3, dataset="other")]
    people = accounts_of(LogContent(SECRET, spends), "census")
    assert {name: people.of(name).total(ZCDP) for name in people.passes} == {US: 3, PR: 6, "all": 6}
    assert not refusal(people.of("all"), 2, limit(8), which="all")
    assert refusal(people.of("all"), 2, limit("7.9"), which="all")


def test_of_each_run_the_largest_pass_counts_once():
    """Two runs may mean different people by the same names, but nobody is in two passes of one run."""
    losses = values_of("""
        6 | "ZCDP" | 1 | "urban"
        1 | "ZCDP" | 1 | "rural"
        1 | "PURE_DP" | 2 | "urban"
        4 | "PURE_DP" | 2 | "rural"
    """)
    spends = [spend(loss, run, PrivacyDefinition[definition], which=name) for loss, definition, run, name in losses]
    people = accounts_of(LogContent(SECRET, spends), "census")
    assert {name: people.of(name).total(ZCDP) for name in people.passes} == {"urban": 14, "rural": 14}
    assert len(people.of("urban").spends) == 2


RUNS = """
("us", 1) | ("pr", 3)
("us", 5) | ("pr", 2)
("all", 7)
("urban", 4) | ("rural", 9)
("urban", 8) | ("rural", 6)
"""
"""The passes of five runs, with what each costs."""


def people_who_lost_more_than_an_account_says():
    """Everybody whom five runs of three censuses can have: the pass in each run, or None.

    The U.S. census ran twice, and nobody was in both of its passes.
    """
    runs = [dict(run) for run in values_of(RUNS)]
    spends = [spend(loss, run, which=name) for run, passes in enumerate(runs) for name, loss in passes.items()]
    found = []
    for person in itertools.product(*([*passes, None] for passes in runs)):
        lost = sum(passes[name] for passes, name in zip(runs, person, strict=True) if name)
        totals = [total(spends, which=name) or 0 for name in person if name]
        if not {US, PR} <= {*person} and any(lost > one for one in totals):
            found.append(person)
    return found


def test_no_account_says_less_than_a_person_lost(monkeypatch):
    assert people_who_lost_more_than_an_account_says() == []

    def passes_of_one_name(people, name):
        return Account(tuple(each for each in people.spends if each.tabulation_pass == name))

    monkeypatch.setattr(PeopleAccounts, "of", passes_of_one_name)
    found = people_who_lost_more_than_an_account_says()
    assert ("us", "us", "all", None, None) in found  # other names are not added
    assert (None, None, None, "rural", "urban") in found  # the same names mean other people


def of_specification(name, budget, run, most_records=1):
    """A run of a specification: its columns are its own, and so is the fingerprint of the same records."""
    return replace(spend(budget, run, which="all", records=name), product=name, most_records=most_records)


def test_two_specifications_of_the_same_records_are_one_account_whatever_their_fingerprints():
    content = read(of_specification("stays", "0.5", 1), of_specification("diagnoses", "0.25", 2), spend(1, 3))
    people = accounts_of(content, "census")
    assert len({each.fingerprint for each in people.spends}) == 3
    # the third run has a pass of its own for Puerto Rico, which costs nothing here
    assert [float(people.of(which).total(ZCDP)) for which in ("all", US, PR)] == [1.75, 1.75, 0.75]


def test_an_account_is_of_a_unit_with_as_many_records_as_any_run_allows():
    both = [of_specification("patients", "0.5", 1, 6), of_specification("stays", "0.01", 2, 2)]
    content = read(*both)
    assert content.spends == both
    account = accounts_of(content, "census").of("all")
    assert account.total(ZCDP) == Fraction("0.59")  # six equal stays, three times two: nine times 0.01
    assert str(account) == "rho 0.59 in 2 runs"
    pure = Account(tuple(replace(each, definition=PURE) for each in both))
    assert pure.total(PURE) == Fraction("0.53")
    assert pure.total(ZCDP) == Fraction("0.125") + Fraction("0.00045")
    more = replace(both[0], run=f"{3:016x}", most_records=12)
    assert Account((*both, more)).total(ZCDP) == Fraction("2.86")  # 0.5, four times 0.5, and 36 times 0.01
    assert why_no_room(account, more, limit("2.86")) is None
    assert why_no_room(account, more, limit("2.85"))
    assert "most_records" not in begun_line(spend(1))


def test_charges_for_units_of_different_sizes_are_explained(tmp_path):
    both = [of_specification("patients", 2, 1, 3), of_specification("stays", 2, 2)]
    (told,) = about_units(both)
    assert "All are charged for up to 3 records each: k times as" in told
    assert about_units(both[:1]) == about_units([]) == []
    log = tmp_path / "spend.log"
    log.write_bytes(written(*both))
    log.chmod(0o600)
    assert told in " ".join(done("spend", log).split())


def test_both_american_passes_are_shown_where_no_other_census_ran():
    def passes(*names):
        return accounts_of(LogContent(SECRET, [spend(1, which=name) for name in names]), "census").passes

    assert passes() == passes(US) == passes(PR) == passes(PR, US) == (US, PR)
    assert passes("north", "south") == ("north", "south")
    assert passes("north", PR) == (US, PR, "north")


def test_the_same_records_in_passes_with_two_names_are_the_same_people():
    assert total([spend(1, dataset="a", records="x"), spend(2, 2, dataset="b", records="x", which="all")], "a") == 3


@pytest.mark.parametrize("names", ["|SafeTab-P", "a/b|SafeTab-P", "_|SafeTab-P", "us|", "us|a/b"])
def test_a_name_that_no_line_can_hold_is_never_charged(names):
    which, product = (name.replace("/", "|") for name in names.split("|"))
    with pytest.raises(ValueError, match="can't hold this name"):
        replace(spend(1), tabulation_pass=which, product=product)


# Names of the same people


def test_accounts_of_the_same_people_are_added_up_in_every_pass_from_every_name():
    spends = [spend(2**place, dataset=name) for place, name in enumerate("abcd")] + [spend(16, dataset="b", which=PR)]
    content = LogContent(SECRET, spends, {}, [("a", "b"), ("c", "b")])
    for name in "abc":
        assert [accounts_of(content, name).of(which).total(ZCDP) for which in (US, PR)] == [7, 16]
    assert accounts_of(content, "d").of(US).total(ZCDP) == 8
    assert accounts_of(content, "d", ["a"]).of(US).total(ZCDP) == 15
    assert [each.names for each in all_accounts(content)] == [("a", "b", "c"), ("d",)]


def test_the_smallest_limit_of_all_names_holds():
    limits = {"a": limit(9, ZCDP, "a"), "b": limit(5, ZCDP, "b"), "c": limit(2, PURE, "c")}
    content = LogContent(SECRET, [spend(1, dataset="a")], limits, [("a", "b"), ("b", "c")])
    assert accounts_of(content, "a").limits == (limits["b"], limits["c"])


def test_names_that_shared_records_before_names_were_joined_are_the_same_people():
    """A log of an earlier version: the second name was warned of, and its runs counted apart."""
    of_records = values_of("""
        1 | "a" | "x"
        2 | "b" | "x"
        4 | "c" | ""
        8 | "b" | "y"
    """)
    content = read(*[spend(budget, budget, dataset=name, records=records) for budget, name, records in of_records])
    assert [accounts_of(content, name).of(US).total(ZCDP) for name in "ac"] == [11, 4]


def test_two_data_sets_without_records_in_a_pass_have_nobody_in_common():
    spends = [replace(spend(1, dataset=name, which=PR), fingerprint=of_nobody(SECRET)) for name in "ab"]
    content = LogContent(SECRET, spends)
    assert accounts_of(content, "a").names == ("a",)
    assert names_by_records(content) == {}
    assert names_by_records(LogContent(SECRET, [spend(1)])) == {spend(1).fingerprint: {"census"}}


# Lines


def test_lines_are_read_as_they_were_written():
    spends = [spend("0.1"), spend("1/3", 1, PURE, which=PR), spend(7, 2, dataset="other-1.2_x")]
    spends.append(replace(spend(2, 3, which="north-1"), product="Languages, 2031 (second run)"))
    ends = (LineState.RELEASED, LineState.FAILED)
    content = read(*spends, *(line_of(end, run=f"{run:016x}", utc=UTC) for run, end in enumerate(ends, 1)))
    assert content.secret == SECRET
    assert content.spends == spends
    assert content.is_torn is False
    begun = json.loads(begun_line(spends[0]))
    assert [begun[key] for key in ("budget", "decimal", "pass", "state")] == ["1/10", "0.1", "us", "begun"]


def test_the_last_limit_of_a_name_holds():
    same = line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="census", other="other")
    first, of_other, last = (limit_line(one) for one in (limit("9.9"), limit("1/3", PURE, "other"), limit(12)))
    content = read(first, spend(1), of_other, last, same)
    assert content.limits == {"census": limit(12), "other": limit("1/3", PURE, "other")}
    assert content.same_people == [("census", "other")]
    expected = {"state": "limit", "dataset": "census", "definition": "zcdp", "limit": "99/10", "decimal": "9.9"}
    assert json.loads(first).items() >= expected.items()


@pytest.mark.parametrize("ending", [None, LineState.RELEASED, LineState.FAILED])
def test_what_has_begun_counts_however_it_ended(ending):
    end = [line_of(ending, run=f"{1:016x}", utc=UTC)] if ending else []
    assert read(spend(4), *end).spends == [spend(4)]


@pytest.mark.parametrize("kept", [1, 40, 200, -2])
def test_a_torn_last_line_counts_for_nothing(kept):
    content = read(spend(1), begun_line(spend(2, 2))[:kept])
    assert content.spends == [spend(1)]
    assert content.is_torn is True


def test_a_whole_last_line_that_only_lacks_its_newline_counts():
    content = read(begun_line(spend(1)).rstrip("\n"))
    assert content.spends == [spend(1)]
    assert content.is_unended is True
    assert content.is_torn is False


def changed(**values):
    return json.dumps(json.loads(begun_line(spend("0.5"))) | values) + "\n"


NO_LINES = ["{", "[]", "", '{"state": "\xff"}', '{"run": "x"}', '{"state": "begun"}', "[" * 100_000]
WRONG_VALUES = [
    dict(one.split("=") for one in text.split(";"))
    for text in (
        "state=undone",
        "more=1",
        "budget=-1/2",
        "budget=1/0",
        "decimal=0.4",
        "pass=U|S",
        "pass=",
        f"pass={'a' * 101}",
        "product=SafeTab|P",
        "definition=dp",
        "dataset=a b",
    )
]
LIMIT = limit_line(limit(1))
MALFORMED = [
    *(f"{line}\n" for line in NO_LINES),
    *(changed(**values) for values in [*WRONG_VALUES, {"budget": 1}]),
    begun_line(spend(1)).replace('"run"', '"state": "begun", "run"'),
    line_of(LineState.RELEASED, run=f"{9:016x}", utc=UTC),
    earlier_header(SECRET),
    begun_line(spend(1, 7)),
    LIMIT.replace('"decimal": "1"', '"decimal": "10"'),
    LIMIT.replace('"limit": "1"', '"limit": "-1"'),
    LIMIT.replace(f'"utc": "{UTC}", ', ""),
    line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="census", other=""),
]


@pytest.mark.parametrize("line", MALFORMED, ids=[line[:30] for line in MALFORMED])
def test_a_malformed_line_is_a_finding_with_its_number(line):
    first, last = (spend(1, run) for run in (7, 8))
    checked = read_lines("log", written(first) + line.encode("latin-1") + begun_line(last).encode())
    assert checked.value is None
    assert [(finding.where, finding.is_error) for finding in checked.findings] == [("line 3", True)]


def test_every_malformed_line_is_told_at_once():
    lines = written("x\n", spend(1), "y\n", spend(1, 2))
    assert [finding.where for finding in read_lines("log", lines).findings] == ["line 2", "line 4"]


@pytest.mark.parametrize(
    "header",
    ["", "x", '{"safetab_spend_log": 2, "keep": "", "secret": "%s"}' % ("0" * 64), '{"safetab_spend_log": 1}', "{}"],
)
def test_a_file_that_is_no_spend_log_is_a_finding(header):
    (finding,) = read_lines("log", f"{header}\n".encode()).findings
    assert str(InvalidInput([finding])).startswith("log is not a spend log")


# The file


def appended(path, *lines):
    file = SpendLogFile(path, may_create=True)
    with file.locked() as content:
        file.append(content, [line if isinstance(line, str) else begun_line(line) for line in lines])
    file.close()


@pytest.fixture
def log(tmp_path):
    """With one run."""
    appended(tmp_path / "log", spend(1))
    return tmp_path / "log"


def test_a_new_log_is_for_its_owner_alone_and_has_a_secret_of_its_own(log, tmp_path):
    mask = os.umask(0)
    try:
        appended(tmp_path / "two", spend(1))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "two").stat().st_mode) == 0o600
    assert read_log(log).secret != read_log(tmp_path / "two").secret


def test_what_was_written_stays_byte_for_byte(log):
    for run in range(2, 6):
        before = log.read_bytes()
        appended(log, spend(1, run))
        assert log.read_bytes().startswith(before)
    assert len(read_log(log).spends) == 5


def test_a_torn_line_is_marked_and_the_log_goes_on(log):
    torn = begun_line(spend(2, 2))[:70]
    with log.open("a") as file:
        file.write(torn)
    appended(log, spend(4, 3))
    assert torn in log.read_text()
    content = read_log(log)
    assert content.spends == [spend(1), spend(4, 3)]
    assert content.is_torn is False


def test_a_lost_newline_is_put_back(log):
    log.write_bytes(log.read_bytes().rstrip(b"\n"))
    appended(log, spend(4, 3))
    assert read_log(log).spends == [spend(1), spend(4, 3)]


# Limits are changed by a command of their own


def test_a_limit_is_a_line_of_its_own_and_nothing_else_changes(log):
    before = log.read_bytes()
    assert set_limit(log, "census", "9.9", None) == ()
    assert log.read_bytes().startswith(before)
    (line,) = log.read_bytes()[len(before) :].decode().splitlines()
    assert json.loads(without_chain(line)) | {"utc": UTC} == json.loads(limit_line(limit("9.9")))
    set_limit(log, "census", "12", None)
    assert accounts_of(read_log(log), "census").limits[0].amount == 12


def test_a_limit_is_set_for_all_names_of_the_same_people(tmp_path):
    path, same = tmp_path / "log", line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="a", other="b")
    runs = (spend(1, run, dataset=name) for run, name in enumerate("abc"))
    appended(path, *runs, limit_line(limit(2, dataset="b")), same)
    set_limit(path, "a", "9", None)
    assert {name: each.amount for name, each in read_log(path).limits.items()} == {"a": 9, "b": 9}


def test_the_unit_of_a_limit_is_that_of_the_last_one_or_else_of_the_runs(log):
    runs = (spend(1, 2, PURE, "pure"), spend(1, 3, dataset="mixed"), spend(1, 4, PURE, "mixed"))
    appended(log, *runs, limit_line(limit(3, ZCDP, "decided")))
    for dataset, given, unit in values_of("""
        "census" | None | "ZCDP"
        "pure" | None | "PURE_DP"
        "mixed" | None | "ZCDP"
        "decided" | None | "ZCDP"
        "decided" | "PURE_DP" | "PURE_DP"
        "decided" | None | "PURE_DP"
    """):
        set_limit(log, dataset, "9", given and PrivacyDefinition[given])
        assert read_log(log).limits[dataset].definition is PrivacyDefinition[unit]


@pytest.mark.parametrize(
    ("dataset", "amount", "unit", "words"),
    values_of("""
        "census" | "9" | "PURE_DP" | "zCDP implies no pure epsilon"
        "new" | "9" | None | "--unit: needed, rho or epsilon"
        "a b" | "9" | "ZCDP" | "--dataset: must be 1 to 100"
        "census" | "-1" | "ZCDP" | "--set-limit: must be a decimal"
    """),
)
def test_a_limit_that_makes_no_sense_is_refused_and_nothing_written(dataset, amount, unit, words, log):
    before = log.read_bytes()
    with pytest.raises(InvalidInput, match=words):
        set_limit(log, dataset, amount, unit and PrivacyDefinition[unit])
    assert log.read_bytes() == before


def test_a_limit_may_be_set_before_the_first_run(tmp_path):
    path = tmp_path / "log"
    assert "--unit: needed, rho or epsilon" in invalid(set_limit, path, "census", "9", None)
    assert not path.exists()
    (warning,) = set_limit(path, "census", "9", ZCDP)
    assert 'the log has no run on "census" yet' in warning.message
    assert read_log(path).limits["census"].amount == 9


def test_a_limit_below_what_was_spent_is_warned_about(log):
    appended(log, spend(3, 2), spend(1, which=PR))
    (warning,) = set_limit(log, "census", "3", None)
    assert warning.where == "US pass"
    assert "every further run will be refused" in warning.message


def test_a_torn_limit_was_never_set(log):
    appended(log, limit_line(limit(9)))
    with log.open("a") as file:
        file.write(limit_line(limit(99))[:-5])
    assert read_log(log).limits == {"census": limit(9)}
    set_limit(log, "census", "8", None)
    assert read_log(log).limits["census"].amount == 8


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o602, 0o610, 0o666])
def test_a_log_that_others_may_touch_is_refused(mode, log):
    log.chmod(mode)
    (finding,) = refused_file(log)
    assert f"its mode is {mode:04o}" in finding.message
    assert "chmod 600" in finding.message
    invalid(SpendLogFile, log, may_create=True)


def test_links_directories_and_pipes_are_refused(log, tmp_path):
    (tmp_path / "link").symlink_to(log)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe", 0o600)
    words = {"is a link": "link dangling", "is not a regular file": "folder pipe", "can't be created": "no/such"}
    for sentence, names in (words | {"can't be used": "log/inside a\0b"}).items():
        for name in names.split():
            (finding,) = refused_file(tmp_path / name)
            assert sentence in finding.message, name
    assert "can't be opened" in invalid(SpendLogFile, tmp_path / "link", may_create=True)
    assert not (tmp_path / "nothing").exists()


def test_appending_waits_for_the_lock(log):
    holder = SpendLogFile(log, may_create=False)
    other = threading.Thread(target=appended, args=(log, spend(4, 4)))
    with holder.locked() as content:
        other.start()
        other.join(0.1)
        assert other.is_alive()
        assert content.spends == [spend(1)]
        holder.append(content, [begun_line(spend(2, 2))])
    other.join(10)
    holder.close()
    assert [each.budget for each in read_log(log).spends] == [1, 2, 4]


def test_lines_are_synced_before_append_returns(tmp_path, monkeypatch):
    calls, write, sync = [], os.write, os.fsync

    def synced(descriptor):
        calls.append("sync directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync")
        sync(descriptor)

    monkeypatch.setattr(os, "write", lambda *arguments: (calls.append("write"), write(*arguments))[1])
    monkeypatch.setattr(os, "fsync", synced)
    appended(tmp_path / "log", spend(1))
    # The new log, the line, and the head of the log in the file beside it.
    assert calls == ["sync", "sync directory", *["write", "sync"] * 2]
