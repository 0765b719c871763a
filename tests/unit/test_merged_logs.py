"""A merged spend log has every run of the logs once, and none of their accounts says less than before."""

import csv
import json
import random
import stat
from fractions import Fraction
from itertools import combinations

import pytest

from tests.commands import cli
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


def begun(run, budget, which="us", dataset="census", fingerprint=PRINT_A, utc=UTC):
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


def spent(log, dataset="census", which="us"):
    return accounts_of(read_log(log), dataset).of(which).total(ZCDP)


def spend(*arguments):
    return cli("spend", *arguments)


# Merged


def test_every_run_of_either_log_counts_once(tmp_path):
    common = (begun(1, "1"), begun(1, "2", "pr"))
    first = log_of(tmp_path / "a", A, *common, ended(1), begun(2, "0.5"), ended(2))
    copy = log_of(tmp_path / "b", A, *common, ended(1), begun(3, "0.25"), ended(3))
    before = first.read_bytes(), copy.read_bytes()
    assert merge_logs([first, copy], tmp_path / "new") == ()
    assert (spent(tmp_path / "new"), spent(tmp_path / "new", which="pr")) == (Fraction("1.75"), 2)
    assert (first.read_bytes(), copy.read_bytes()) == before
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    lines = without_chain((tmp_path / "new").read_text()).splitlines(keepends=True)
    assert [line for line in lines[1:] if '"merged"' not in line] == [
        *common, ended(1), begun(2, "0.5"), ended(2), begun(3, "0.25"), ended(3)
    ]  # fmt: skip
    assert json.loads(lines[0])["format"] == 3


def test_merging_again_adds_only_what_is_new(tmp_path):
    first, other = log_of(tmp_path / "a", A, begun(1, "1")), log_of(tmp_path / "b", B, begun(2, "2"))
    merge_logs([first, other], tmp_path / "once")
    with first.open("a") as log:
        log.write(ended(1) + begun(3, "4"))
    merge_logs([tmp_path / "once", first, other], tmp_path / "twice")
    assert spent(tmp_path / "twice") == 7
    assert len(read_log(tmp_path / "twice").spends) == 3
    assert read_log(tmp_path / "twice").ended_runs == {f"{1:016x}"}


def test_no_account_says_less_after_a_merge(tmp_path):
    """Random logs with a common part, shared names and joined names; sums are those of the distinct runs."""
    draw = random.Random(7)
    for number in range(12):
        runs = [
            begun(run, draw.choice(["1", "0.5", "epsilon 2"]), draw.choice(["us", "pr", "main"]), draw.choice("xyz"))
            for run in range(8)
        ]
        joined = line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="x", other="y")
        parts = [[run for run in runs if draw.random() < 0.6] + [joined][: draw.randrange(2)] for _ in range(3)]
        logs = [log_of(tmp_path / f"{number}-{n}", bytes([n]) * 32, *part) for n, part in enumerate(parts)]
        new = tmp_path / f"{number}-new"
        merge_logs(logs, new)
        assert {one.run for one in read_log(new).spends} == {one.run for log in logs for one in read_log(log).spends}
        for log in logs:
            for name in datasets_of(read_log(log)):
                for which in ("us", "pr", "main"):
                    assert (spent(new, name, which) or 0) >= (spent(log, name, which) or 0)


def test_a_run_that_two_logs_tell_differently_is_refused_and_nothing_written(tmp_path):
    first = log_of(tmp_path / "a", A, begun(1, "1"), ended(1), begun(2, "1"))
    cheaper = begun(1, "0.5")
    other = log_of(tmp_path / "b", A, limit("9"), cheaper, ended(1, LineState.FAILED))
    with pytest.raises(InvalidInput) as refused:
        merge_logs([first, other], tmp_path / "new")
    assert [finding.where for finding in refused.value.findings] == ["line 3", "line 4"]
    assert "another log has a different line about run 0000000000000001" in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_a_log_that_lost_a_line_of_a_run_is_named_by_that_line(tmp_path):
    whole = log_of(tmp_path / "a.log", A, begun(1, "1"), begun(1, "2", "pr"), ended(1))
    lost = log_of(tmp_path / "b.log", A, begun(1, "1"), ended(1))
    with pytest.raises(InvalidInput, match=r"line 3: another log has the end of run 0000000000000001, and lacks this"):
        merge_logs([lost, whole], tmp_path / "all.log")
    assert not (tmp_path / "all.log").exists()
    merge_logs([whole, lost], tmp_path / "all.log")
    assert spent(tmp_path / "all.log", which="pr") == 2


def test_the_smaller_limit_holds_and_is_said(tmp_path):
    first = log_of(tmp_path / "a", A, limit("2"), limit("5", "alone"), begun(1, "1.5"))
    other = log_of(tmp_path / "b", B, limit("1"), limit("3"), begun(2, "1"))
    warnings = [str(one) for one in merge_logs([first, other], tmp_path / "new")]
    assert {name: one.amount for name, one in read_log(tmp_path / "new").limits.items()} == {"census": 2, "alone": 5}
    assert 'the limit of "census": is rho 3, and rho 2 in another log. The smaller one holds' in warnings[0]
    assert '"census", US pass: rho 2.5 in 2 runs was spent, more than the limit of rho 2.' in warnings[-1]
    other_way = tmp_path / "other-way"
    merge_logs([other, first], other_way)
    assert read_log(other_way).limits["census"].amount == 2


def a_limit_of_either_log_holds_in_a_merge(folder):
    for number, (mine, others) in enumerate((((), (limit("2"),)), ((limit("2"),), ()), ((), (limit("3"), limit("2"))))):
        first = log_of(folder / f"{number}-a", A, *mine, begun(1, "1"))
        other = log_of(folder / f"{number}-b", B, begun(2, "1"), *others)
        new = folder / f"{number}-new"
        merge_logs([first, other], new)
        assert {name: one.amount for name, one in read_log(new).limits.items()} == {"census": 2}


def test_a_limit_of_either_log_holds_in_a_merge(tmp_path):
    a_limit_of_either_log_holds_in_a_merge(tmp_path)


def test_limits_in_two_units_are_refused(tmp_path):
    first = log_of(tmp_path / "a", A, limit("2"))
    other = log_of(tmp_path / "b", B, limit("2", definition=PURE))
    with pytest.raises(InvalidInput, match="is epsilon 2, and rho 2 in another log"):
        merge_logs([first, other], tmp_path / "new")


def test_lines_cut_short_are_left_out_with_their_marks(tmp_path):
    first = log_of(tmp_path / "a", A, begun(1, "1"), begun(2, "9")[:-30])
    other = log_of(tmp_path / "b", B, begun(3, "9")[:40], "\n", line_of(LineState.TORN, utc=UTC), begun(4, "2").strip())
    merge_logs([first, other], tmp_path / "new")
    assert spent(tmp_path / "new") == 3
    states = [line.state.value for line in read_log(tmp_path / "new").lines]
    assert states == ["merged", "begun", "merged", "begun"]


def test_a_line_that_is_damaged_after_a_merge_is_an_error_and_not_a_line_cut_short(tmp_path):
    torn = (begun(2, "9")[:40], "\n", line_of(LineState.TORN, utc=UTC))
    first = log_of(tmp_path / "a", A, begun(1, "1"), *torn, ended(1))
    merge_logs([first, log_of(tmp_path / "b", B, begun(3, "1"), *torn, ended(3))], tmp_path / "new")
    assert spent(tmp_path / "new") == 2
    (tmp_path / "new").write_text((tmp_path / "new").read_text().replace('"budget"', '"bugdet"', 1))
    with pytest.raises(InvalidInput, match="line 3: a line that says begun must have"):
        read_log(tmp_path / "new")


def test_one_log_alone_is_not_merged(tmp_path):
    with pytest.raises(InvalidInput, match="give another log to merge"):
        merge_logs([log_of(tmp_path / "a", A, begun(1, "1"))], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_each_secret_keeps_its_own_lines_and_nobody(tmp_path):
    first = log_of(tmp_path / "a", A, begun(1, "1", "pr", "x", of_nobody(A)), begun(2, "1", "pr", "y", of_nobody(A)))
    other = log_of(tmp_path / "b", B, begun(3, "1", "pr", "z", of_nobody(B)), begun(4, "1", "us", "z", PRINT_B))
    warnings = merge_logs([first, other], tmp_path / "new")
    content = read_log(tmp_path / "new")
    assert (content.secrets, content.secret) == ((A, B), B)
    assert names_by_records(content) == {PRINT_B: {"z"}}
    assert "z and x, y: fingerprints of different logs can't be compared" in str(warnings[0])


@pytest.mark.parametrize("problem", ["there", "missing", "damaged", "of another mode"])
def test_a_merge_that_can_not_be_is_refused_and_nothing_written(problem, tmp_path):
    first, other, new = log_of(tmp_path / "a", A), log_of(tmp_path / "b", B), tmp_path / "new"
    if problem == "there":
        new.write_text("mine")
    elif problem == "missing":
        other.unlink()
    elif problem == "damaged":
        other.write_text(earlier_header(B) + "{}\n" + begun(1, "1"))
    else:
        other.chmod(0o640)
    result = spend(first, "--merge", other, "--output", new)
    assert result.exit_code == 1
    assert (new.read_text() if problem == "there" else new.exists()) == ("mine" if problem == "there" else False)


@pytest.mark.parametrize("options", [["--merge", "b"], ["-o", "new"], ["--check", "--table", "t.csv"]])
def test_wrong_usage_is_refused(options, tmp_path):
    assert spend(log_of(tmp_path / "a", A), *options).exit_code == 2


# Checked


def test_a_sound_log_is_said_to_be(tmp_path):
    result = spend(log_of(tmp_path / "a", A, begun(1, "1"), ended(1)), "--check")
    assert (result.exit_code, result.stderr) == (0, "")
    sentence, head = result.stdout.splitlines()
    assert sentence == "Nothing is wrong: 1 run, no line is damaged or in doubt."
    assert head == f"This is {read_log(tmp_path / 'a').chain.head}."


def test_every_damaged_line_and_every_doubt_is_told(tmp_path):
    early = UTC.replace("2026", "2025")
    log = log_of(
        tmp_path / "a", A, limit("1"), begun(1, "1"), "x\n", begun(2, "2", utc=early), ended(2), ended(3), "y\n"
    )
    with log.open("a") as file:
        file.write(line_of(LineState.TORN, utc=UTC) + begun(4, "1", dataset="other")[:50])
    before = log.read_bytes()
    findings = check_log(log)
    assert [each.where for each in findings if each.is_error] == ["line 4", "line 7"]
    doubts = [each.where for each in findings if not each.is_error]
    assert doubts == ["line 8", "line 10", "line 3", "line 5", '"census", US pass']
    result = spend(log, "--check")
    assert result.exit_code == 1
    assert "2 problems" in result.stderr
    shown = json.loads(spend(log, "--check", "--json").stdout)
    assert shown["exit_code"] == 1
    assert shown["findings"][0]["where"] == "line 4"
    assert log.read_bytes() == before


def test_a_log_that_was_emptied_is_damaged_and_stays_as_it_is(tmp_path):
    empty = tmp_path / "empty.log"
    empty.touch(mode=0o600)
    other = log_of(tmp_path / "a.log", A, begun(1, "1"))
    for arguments in ((empty,), (empty, "--check"), (empty, "--table", tmp_path / "table.csv")):
        assert "is empty, and no run leaves a spend log so" in spend(*arguments).output.replace("\n  ", " ")
    assert spend(other, "--merge", empty, "-o", tmp_path / "all.log").exit_code == 1
    assert empty.read_bytes() == b""


def test_a_file_that_is_no_log_is_damaged(tmp_path):
    (tmp_path / "a").touch(mode=0o600)
    (tmp_path / "a").write_text("no log")
    assert spend(tmp_path / "a", "--check").exit_code == 1
    assert sound_lines("a", b"no log")[0] is None


# The statement


def test_the_statement_has_exact_sums_and_the_limit_then_in_force(tmp_path):
    second, third = UTC.replace(":05Z", ":06Z"), UTC.replace(":05Z", ":07Z")
    log = log_of(
        tmp_path / "a", A,
        begun(1, "0.1"), begun(1, "1/3", "pr"), ended(1), limit("2", utc=second),
        begun(2, "0.2", utc=second), ended(2, LineState.FAILED),
        limit("7", utc=third), begun(3, "epsilon 1", dataset="other", fingerprint=PRINT_B, utc=third),
        line_of(LineState.SAME_PEOPLE, utc=UTC, dataset="other", other="census"),
    )  # fmt: skip
    assert spend(log, "--table", tmp_path / "t.csv").exit_code == 0
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    shown = ("dataset", "pass", "ended", "loss", "cumulative_rho", "limit_rho", "left_rho", "cumulative_epsilon")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("census", "us", "released", "0.1", "0.1", "", "", ""),
        ("census", "pr", "released", "1/3", "1/3", "", "", ""),
        ("census", "us", "failed", "0.2", "0.3", "2", "1.7", ""),
        ("other", "us", "not ended", "1", "0.8", "7", "6.2", ""),
    ]
    assert "a" * 32 not in (tmp_path / "t.csv").read_text()
    assert A.hex() not in (tmp_path / "t.csv").read_text()
    assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == 0o600
    assert spend(log, "--table", tmp_path / "t.csv").exit_code == 1  # it is there
    assert spend(log, "--table", tmp_path / "t.json", "--dataset", "other").exit_code == 0
    assert len(json.loads((tmp_path / "t.json").read_text())["rows"]) == 4
    assert spend(log, "--table", tmp_path / "u.csv", "--dataset", "nobody").exit_code == 1


def test_the_order_of_a_merge_does_not_change_the_table(tmp_path):
    def day(number):
        return UTC.replace("-02T", f"-0{number}T")

    first = log_of(
        tmp_path / "a", A, limit("9"), begun(3, "1", utc=day(3)), begun(3, "1", "pr", utc=day(3)), ended(3),
        begun(5, "4", utc=day(5)),
    )  # fmt: skip
    other = log_of(tmp_path / "b", B, begun(4, "2", utc=day(4)), ended(4), limit("9"), begun(6, "0.5", utc=day(3)))
    merge_logs([first, other], tmp_path / "ab")
    merge_logs([other, first], tmp_path / "ba")
    for log in ("ab", "ba"):
        assert spend(tmp_path / log, "--table", tmp_path / f"{log}.csv").exit_code == 0
    assert (tmp_path / "ab.csv").read_text() == (tmp_path / "ba.csv").read_text()
    with (tmp_path / "ab.csv").open() as file:
        rows = [(row["utc"][8:10], row["pass"], row["cumulative_rho"], row["left_rho"]) for row in csv.DictReader(file)]
    assert rows == [
        ("03", "us", "1", "8"), ("03", "pr", "1", "8"), ("03", "us", "1.5", "7.5"), ("04", "us", "3.5", "5.5"),
        ("05", "us", "7.5", "1.5"),
    ]  # fmt: skip


def test_the_last_row_of_each_account_is_what_the_accounts_say(tmp_path):
    logs = [
        log_of(tmp_path / str(n), bytes([n]) * 32, *(begun(10 * n + m, f"0.{m + 1}", "us") for m in range(3)))
        for n in range(3)
    ]
    for first, other in combinations(logs, 2):
        merge_logs([first, other], tmp_path / f"{first.name}{other.name}")
        content = read_log(tmp_path / f"{first.name}{other.name}")
        assert statement(content)[-1]["cumulative_rho"] == "1.2"
        assert accounts_of(content, "census").of("us").total(ZCDP) == Fraction("1.2")
