"""What a log shows of a long run, and what the curator's log says of its steps."""

import io
import os
import re
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from tests.cases import values_of
from tests.inside import (
    BatchSizes,
    Elapsed,
    LocalBackend,
    NoProgress,
    RunOptions,
    StepLines,
    StepTimes,
    TerminalProgress,
    progress_bars,
    seconds_in_words,
    validate_files,
)
from tests.person_forms import columns_of, people_of
from tests.worlds.people import write_random_world


class Clock:
    """Stands still until a test moves it; the processor works half of the time."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds

    def moment(self):
        return Elapsed(self.seconds, self.seconds / 2)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lines():
    """What a log says."""
    return []


@pytest.fixture
def steps(lines, clock):
    return StepLines(lines.append, clock)


@pytest.fixture
def times(lines, clock):
    return StepTimes(NoProgress(), lines.append, clock.moment)


def test_a_log_tells_when_a_step_begins_and_how_long_it_took(steps, lines, clock):
    steps.step("Reading", 1)
    clock.seconds = 2.5
    steps.step("Counting", 10)
    clock.seconds = 100
    steps.end_step()
    assert lines == ["Reading", "Reading: done in 2.5 s", "Counting", "Counting: done in 1 min 38 s"]


def test_a_log_tells_of_a_long_step_how_far_it_is_each_half_minute(steps, lines, clock):
    steps.step("Checking", 4_000)
    steps.advance(0)
    for clock.seconds in 10, 20, 30, 40, 59, 61:
        steps.advance(500)
    assert lines == [
        "Checking",
        "Checking: 38% (1,500 of 4,000), 50.0/s, 50.0 s left",
        "Checking: 75% (3,000 of 4,000), 49.2/s, 20.3 s left",
    ]


def test_a_log_guesses_no_rate_before_a_part_is_done(steps, lines, clock):
    steps.step("Checking", 4_000)
    clock.seconds = 100
    steps.advance(0)
    assert lines == ["Checking"]


def test_a_log_never_tells_of_more_than_there_is(steps, lines, clock):
    steps.step("Checking", 100)
    for clock.seconds in 40, 80:
        steps.advance(90)
    steps.step("Checking what can be checked", 0)
    clock.seconds = 200
    steps.advance(7)
    assert lines[:2] == ["Checking", "Checking: 90% (90 of 100), 2.2/s, 4.4 s left"]
    assert not any("%" in line for line in lines[2:])


def test_a_bar_never_exceeds_its_total_and_has_none_where_none_is_known(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    progress = TerminalProgress()
    for name, parts, advances in values_of("""
        "Checking" | 100 | (90, 90)
        "Checking what can be checked" | 0 | (7,)
    """):
        progress.step(name, parts)
        for advance in advances:
            progress.advance(advance)
    assert [(task.completed, task.total) for task in progress._bars.tasks] == [(100, 100), (7, None)]


def test_bars_fit_80_columns_and_break_between_words():
    console = Console(width=80, force_terminal=True, color_system=None, file=io.StringIO())
    bars = progress_bars(console)
    name = "Checking the household records of every part of the country"
    bars.add_task(name, total=335_000_000, completed=334_999_999)
    with console.capture() as shown:
        console.print(bars.get_renderable())
    lines = shown.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert "334,999,999/335,000,000" in lines[0]
    assert set(name.split()) <= set(shown.get().split())


class Terminal(io.StringIO):
    """Standard error of somebody who looks at it."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("seconds", "words"),
    values_of("""
        0.04 | "0.0 s"
        59.9 | "59.9 s"
        60 | "1 min 0 s"
        3_599.7 | "1 h 0 min"
        7_300 | "2 h 1 min"
    """),
)
def test_durations_are_told_in_words(seconds, words):
    assert seconds_in_words(seconds) == words


def test_the_time_of_a_part_is_its_own_without_the_parts_inside(times, lines, clock):
    def answers():
        for answer in "first", "second":
            clock.seconds += 1
            with times.part("counting"):
                clock.seconds += 10
            yield answer

    times.step("Tabulating", 2)
    for _ in times.each("noise", answers()):
        clock.seconds += 100
    times.end_step()
    assert lines == [
        'step "Tabulating": 222.00 s, 111.00 CPU s',
        'of it "counting": 20.00 s, 10.00 CPU s',
        'of it "noise": 2.00 s, 1.00 CPU s',
    ]


def test_the_time_of_work_in_another_thread_is_not_that_of_the_part_that_is_open(times, lines, clock):
    times.step("Tabulating", 1)
    with times.part("noise"):
        clock.seconds += 10
        began = time.thread_time()
        times.in_another_thread(_work_for_a_tenth_of_a_second)()
        taken = time.thread_time() - began
    times.end_step()
    assert lines[0] == 'step "Tabulating": 10.00 s, 5.00 CPU s'
    of_part = re.fullmatch(r'of it "noise": 10.00 s, ([0-9.]+) CPU s', lines[1])
    assert float(of_part[1]) == pytest.approx(5 - taken, abs=0.02)


def test_a_part_in_which_longer_work_of_another_thread_ends_takes_no_negative_time(times, lines):
    times.step("Tabulating", 1)
    with times.part("counting"):
        times.in_another_thread(_work_for_a_tenth_of_a_second)()
    times.end_step()
    assert lines[1] == 'of it "counting": 0.00 s, 0.00 CPU s'


def _work_for_a_tenth_of_a_second():
    began = time.thread_time()
    while time.thread_time() - began < 0.1:
        pass


class Steps(NoProgress):
    """Remembers the steps, and how many parts each advance counted."""

    def __init__(self):
        self.names, self.advances = [], []

    def step(self, name, parts):  # noqa: ARG002
        self.names.append(name)
        self.advances.clear()

    def advance(self, parts=1):
        self.advances.append(parts)


def test_the_bar_of_the_records_moves_with_each_batch_of_one_large_file(tmp_path):
    world = write_random_world(tmp_path / "world", 4, people=200, budget=1)
    rows = people_of(world)
    (world.data / "person-records.txt").unlink()
    pq.write_table(pa.table(columns_of(rows)), world.data / "person-records.parquet")  # one row group: one piece
    progress = Steps()
    validate_files(*world, RunOptions(sizes=BatchSizes(records=40)), progress)
    assert progress.names[-1] == "Checking the person records"
    assert progress.advances == [40] * 5


def test_what_an_engine_needs_is_started_in_a_step_of_its_own(tmp_path, monkeypatch):
    world = write_random_world(tmp_path / "world", 4, people=60, budget=1)
    monkeypatch.setattr(LocalBackend, "start", lambda _, progress: progress.step("Starting Spark", 1))
    progress = Steps()
    validate_files(*world, None, progress)
    assert progress.names == ["Reading the public files", "Starting Spark", "Checking the person records"]


def test_quiet_progress_shows_no_step_and_no_note(capsys):
    with TerminalProgress(is_quiet=True) as progress:
        progress.step("Reading", 1)
        progress.note("something useful")
        progress.tell("something to know")
    assert capsys.readouterr().err == "something to know\n"


@pytest.mark.parametrize("width", [40, 60])
def test_bars_are_as_wide_as_a_terminal_that_can_not_move_its_cursor(width, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(shown, "isatty", lambda: True)
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda _: os.terminal_size((width, 24)))
    with TerminalProgress() as progress:
        progress.step("Checking the person records", 331_000_000)
        progress.advance(123_456_789)
    assert width // 2 < max(map(len, shown.getvalue().replace("\r", "\n").split("\n"))) <= width
