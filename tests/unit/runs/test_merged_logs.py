"""A merged spend log has every run of the logs once, and none of their accounts says less than before."""

import csv
import json
import random
import stat
from fractions import Fraction
from itertools import combinations, product

import pytest

from tests.cases import cases_of
from tests.commands import cli, done, invalid, refused
from tests.inside import (
    COLUMNS,
    InvalidInput,
    Limit,
    LineState,
    PrivacyDefinition,
    Spend,
    accounts_of,
    begun_line,
    check_log,
    datasets_of,
    limit_line,
    line_of,
    merge_logs,
    names_by_records,
    of_nobody,
    read_log,
    sound_lines,
    statement,
)
from tests.spend_logs import earlier_header, without_chain

ZCDP, PURE = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP
A, B = bytes(range(32)), bytes(range(32, 64))
UTC = "2026-01-02T03:04:05Z"
PRINT_A, PRINT_B = "a" * 32, "b" * 32


def begun(run, budget="1", which="us", dataset="census", fingerprint=PRINT_A, utc=UTC):
    definition = PURE if budget.startswith("epsilon") else ZCDP
    amount = Fraction(budget.removeprefix("epsilon "))
    return begun_line(Spend(f"{run:016x}", utc, dataset, which, definition, amount, fingerprint))


def ended(run, state=LineState.RELEASED):
    return line_of(state, run=f"{run:016x}", utc=UTC)


def limit(amount, dataset="census", definition=ZCDP, utc=UTC):
    return limit_line(Limit(dataset, utc, definition, Fraction(amount)))


def log_of(path, secret, *lines):
    path.touch(mode=0o600)
    path.write_text(earlier_header(secret) + "".join(lines))
    return path


@pytest.fixture
def log(tmp_path):
    """Makes a log of its own secret, or of that of another."""
    return lambda name, *lines, of="": log_of(tmp_path / name, {"a": A, "b": B}[of or name], *lines)


@pytest.fixture
def new(tmp_path):
    """Where merged logs go."""
    return tmp_path / "new"


def spent(path, dataset="census", which="us"):
    return accounts_of(read_log(path), dataset).of(which).total(ZCDP)


def limits(path):
    return {name: one.amount for name, one in read_log(path).limits.items()}


# Merged


def test_every_run_of_either_log_counts_once(log, new):
    common = begun(1), begun(1, "2", "pr"), ended(1)
    more = (begun(2, "0.5"), ended(2)), (begun(3, "0.25"), ended(3))
    logs = [log(name, *common, *own, of="a") for name, own in zip("ab", more, strict=True)]
    before = [path.read_bytes() for path in logs]
    assert merge_logs(logs, new) == ()
    assert (spent(new), spent(new, which="pr")) == (Fraction("1.75"), 2)
    assert [path.read_bytes() for path in logs] == before
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    header, *lines = without_chain(new.read_text()).splitlines(keepends=True)
    assert [line for line in lines if '"merged"' not in line] == [*common, *more[0], *more[1]]
    assert json.loads(header)["format"] == 3


def test_merging_again_adds_only_what_is_new(log, new, tmp_path):
    first, other = log("a", begun(1)), log("b", begun(2, "2"))
    merge_logs([first, other], tmp_path / "once")
    with first.open("a") as file:
        file.write(ended(1) + begun(3, "4"))
    merge_logs([tmp_path / "once", first, other], new)
    assert spent(new) == 7
    assert len(read_log(new).spends) == 3
    assert read_log(new).ended_runs == {f"{1:016x}"}


def test_no_account_says_less_after_a_merge(tmp_path):
    """Random logs with a common part, shared names and joined names; sums are those of the distinct runs."""
    draw, passes = random.Random(7), ["us", "pr", "main"]
    joined = line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="x", other="y")
    for number in range(6):
        runs = [
            begun(run, draw.choice(["1", "0.5", "epsilon 2"]), draw.choice(passes), draw.choice("xyz"))
            for run in range(8)
        ]
        parts = [[run for run in runs if draw.random() < 0.6] + [joined][: draw.randrange(2)] for _ in range(3)]
        logs = [log_of(tmp_path / f"{number}-{n}", bytes([n]) * 32, *part) for n, part in enumerate(parts)]
        merge_logs(logs, tmp_path / f"{number}")
        contents = [read_log(path) for path in (tmp_path / f"{number}", *logs)]
        merged, *others = [{one.run for one in content.spends} for content in contents]
        assert merged == set().union(*others)
        for content in contents[1:]:
            for name, which in product(datasets_of(content), passes):
                after, before = (accounts_of(each, name).of(which).total(ZCDP) or 0 for each in (contents[0], content))
                assert after >= before


def test_a_run_that_two_logs_tell_differently_is_refused_and_nothing_written(log, new):
    first = log("a", begun(1), ended(1), begun(2))
    other = log("b", limit("9"), begun(1, "0.5"), ended(1, LineState.FAILED), of="a")
    with pytest.raises(InvalidInput, match="another log has a different line about run 0000000000000001") as refusal:
        merge_logs([first, other], new)
    assert [finding.where for finding in refusal.value.findings] == ["line 3", "line 4"]
    assert "give another log to merge" in invalid(merge_logs, [first], new)
    assert not new.exists()


def test_a_log_that_lost_a_line_of_a_run_is_named_by_that_line(log, new):
    whole = log("a", begun(1), begun(1, "2", "pr"), ended(1))
    lost = log("b", begun(1), ended(1), of="a")
    told = invalid(merge_logs, [lost, whole], new)
    assert "line 3: another log has the end of run 0000000000000001, and lacks this" in told
    assert not new.exists()
    merge_logs([whole, lost], new)
    assert spent(new, which="pr") == 2


def test_the_smaller_limit_holds_and_is_said(log, new, tmp_path):
    first = log("a", limit("2"), limit("5", "alone"), begun(1, "1.5"))
    other = log("b", limit("1"), limit("3"), begun(2))
    smaller, *_, spent_more = map(str, merge_logs([first, other], new))
    assert limits(new) == {"census": 2, "alone": 5}
    assert 'the limit of "census": is rho 3, and rho 2 in another log. The smaller one holds' in smaller
    assert '"census", US pass: rho 2.5 in 2 runs was spent, more than the limit of rho 2.' in spent_more
    merge_logs([other, first], tmp_path / "other-way")
    assert limits(tmp_path / "other-way")["census"] == 2
    in_epsilon = log("c", limit("2", definition=PURE), of="b")
    assert "is epsilon 2, and rho 2 in another log" in invalid(merge_logs, [first, in_epsilon], tmp_path / "none")


LIMITS = """
| 2
2 |
| 3 2
"""
"""Of the first log, and of the other."""


def a_limit_of_either_log_holds_in_a_merge(folder):
    for number, (mine, others) in enumerate(cases_of(LIMITS)):
        first = log_of(folder / f"{number}-a", A, *map(limit, mine.split()), begun(1))
        other = log_of(folder / f"{number}-b", B, begun(2), *map(limit, others.split()))
        merge_logs([first, other], folder / f"{number}")
        assert limits(folder / f"{number}") == {"census": 2}


def test_a_limit_of_either_log_holds_in_a_merge(tmp_path):
    a_limit_of_either_log_holds_in_a_merge(tmp_path)


def test_lines_cut_short_are_left_out_with_their_marks(log, new):
    torn = line_of(LineState.TORN, utc=UTC)
    first = log("a", begun(1), begun(2, "9")[:-30])
    other = log("b", begun(3, "9")[:40], "\n", torn, begun(4, "2").strip())
    merge_logs([first, other], new)
    assert spent(new) == 3
    assert [line.state.value for line in read_log(new).lines] == ["merged", "begun", "merged", "begun"]
    new.write_text(new.read_text().replace('"budget"', '"bugdet"', 1))  # damaged, and not cut short
    assert "line 3: a line that says begun must have" in invalid(read_log, new)


def test_each_secret_keeps_its_own_lines_and_nobody(log, new):
    first = log("a", begun(1, "1", "pr", "x", of_nobody(A)), begun(2, "1", "pr", "y", of_nobody(A)))
    other = log("b", begun(3, "1", "pr", "z", of_nobody(B)), begun(4, "1", "us", "z", PRINT_B))
    warning, *_ = merge_logs([first, other], new)
    content = read_log(new)
    assert (content.secrets, content.secret) == ((A, B), B)
    assert names_by_records(content) == {PRINT_B: {"z"}}
    assert "z and x, y: fingerprints of different logs can't be compared" in str(warning)


def test_a_merge_that_can_not_be_is_refused_and_nothing_written(log, new):
    first, other = log("a"), log("b")
    for spoil, words in (
        (lambda: new.write_text("mine"), "already exists"),
        (lambda: other.chmod(0o640), "its mode is 0640"),
        (lambda: (other.chmod(0o600), other.write_text(earlier_header(B) + "{}\n" + begun(1))), "line 2"),
        (other.unlink, "does not exist"),
    ):
        spoil()
        assert words in refused("spend", first, "--merge", other, "--output", new)
        if new.exists():
            assert new.read_text() == "mine"
            new.unlink()
    for options in ["--merge", "b"], ["-o", "new"], ["--check", "--table", "t.csv"]:
        refused("spend", first, *options, code=2)


# Merged


# Checked


def test_a_sound_log_is_said_to_be(log):
    path = log("a", begun(1), ended(1))
    sentence, head = done("spend", path, "--check").splitlines()
    assert sentence == "Nothing is wrong: 1 run, no line is damaged or in doubt."
    assert head == f"This is {read_log(path).chain.head}."


def test_every_damaged_line_and_every_doubt_is_told(log):
    early = UTC.replace("2026", "2025")
    path = log("a", limit("1"), begun(1), "x\n", begun(2, "2", utc=early), ended(2), ended(3), "y\n")
    with path.open("a") as file:
        file.write(line_of(LineState.TORN, utc=UTC) + begun(4, dataset="other")[:50])
    before = path.read_bytes()
    findings = check_log(path)
    assert [each.where for each in findings if each.is_error] == ["line 4", "line 7"]
    doubts = [each.where for each in findings if not each.is_error]
    assert doubts == ["line 8", "line 10", "line 3", "line 5", '"census", US pass']
    assert "2 problems" in refused("spend", path, "--check")
    shown = json.loads(cli("spend", path, "--check", "--json").stdout)
    assert (shown["exit_code"], shown["findings"][0]["where"]) == (1, "line 4")
    assert path.read_bytes() == before


def test_a_log_that_was_emptied_or_is_none_is_damaged_and_stays_as_it_is(log, new):
    empty, other = log("a"), log("b", begun(1))
    empty.write_text("")
    for options in (), ("--check",), ("--table", new):
        assert "is empty, and no run leaves a spend log so" in refused("spend", empty, *options)
    refused("spend", other, "--merge", empty, "-o", new)
    assert empty.read_bytes() == b""
    empty.write_text("no log")
    refused("spend", empty, "--check")
    assert sound_lines("a", b"no log")[0] is None


# The statement


def rows_of(table):
    with table.open() as file:
        return list(csv.DictReader(file))


def test_the_statement_has_exact_sums_and_the_limit_then_in_force(log, tmp_path):
    second, third = UTC.replace(":05Z", ":06Z"), UTC.replace(":05Z", ":07Z")
    path, table = (
        log(
            "a", begun(1, "0.1"), begun(1, "1/3", "pr"), ended(1), limit("2", utc=second),
            begun(2, "0.2", utc=second), ended(2, LineState.FAILED),
            limit("7", utc=third), begun(3, "epsilon 1", dataset="other", fingerprint=PRINT_B, utc=third),
            line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="other", other="census"),
        ),
        tmp_path / "t.csv",
    )  # fmt: skip
    done("spend", path, "--table", table)
    rows = rows_of(table)
    assert tuple(rows[0]) == COLUMNS
    shown = "dataset", "pass", "ended", "loss", "cumulative_rho", "limit_rho", "left_rho", "cumulative_epsilon"
    assert [[row[name] for name in shown] for row in rows] == cases_of(
        """
        census | us | released | 0.1 | 0.1 | | |
        census | pr | released | 1/3 | 1/3 | | |
        census | us | failed | 0.2 | 0.3 | 2 | 1.7 |
        other | us | not ended | 1 | 0.8 | 7 | 6.2 |
        """
    )
    assert not [secret for secret in (PRINT_A, A.hex()) if secret in table.read_text()]
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    refused("spend", path, "--table", table)  # it is there
    done("spend", path, "--table", tmp_path / "t.json", "--dataset", "other")
    assert len(json.loads((tmp_path / "t.json").read_text())["rows"]) == 4
    refused("spend", path, "--table", tmp_path / "u.csv", "--dataset", "nobody")


def test_the_order_of_a_merge_does_not_change_the_table(log, tmp_path):
    third, fourth, fifth = (UTC.replace("-02T", f"-0{day}T") for day in (3, 4, 5))
    first = log(
        "a", limit("9"), begun(3, utc=third), begun(3, "1", "pr", utc=third), ended(3), begun(5, "4", utc=fifth)
    )
    other = log("b", begun(4, "2", utc=fourth), ended(4), limit("9"), begun(6, "0.5", utc=third))
    tables = tmp_path / "ab.csv", tmp_path / "ba.csv"
    for logs, table in zip(([first, other], [other, first]), tables, strict=True):
        merge_logs(logs, table.with_suffix(""))
        done("spend", table.with_suffix(""), "--table", table)
    assert tables[0].read_text() == tables[1].read_text()
    rows = rows_of(tables[0])
    assert [[row["utc"][8:10], row["pass"], row["cumulative_rho"], row["left_rho"]] for row in rows] == cases_of(
        """
        03 | us | 1 | 8
        03 | pr | 1 | 8
        03 | us | 1.5 | 7.5
        04 | us | 3.5 | 5.5
        05 | us | 7.5 | 1.5
        """
    )


def test_the_last_row_of_each_account_is_what_the_accounts_say(tmp_path):
    logs = [
        log_of(tmp_path / str(n), bytes([n]) * 32, *(begun(10 * n + m, f"0.{m + 1}") for m in range(3)))
        for n in range(3)
    ]
    for first, other in combinations(logs, 2):
        merge_logs([first, other], new := tmp_path / f"{first.name}{other.name}")
        assert statement(read_log(new))[-1]["cumulative_rho"] == "1.2"
        assert spent(new) == Fraction("1.2")
