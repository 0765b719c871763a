"""With one key a run gives the same bytes, however it is run."""

import errno
from functools import cache
from threading import current_thread

import numpy as np
import pytest

from tests.cases import cases_of, values_of
from tests.commands import done, refusing
from tests.inside import (
    BatchSizes,
    EmptyGroups,
    InversionTable,
    PassFiles,
    RunFailed,
    RunOptions,
    addressed_bits_module,
    compiled_module,
    counter_module,
    in_threads_module,
    noisy_count_module,
    output_checks_module,
    pass_files_module,
    patterns_module,
    run_files,
)
from tests.person_forms import PERSON_FORMS, parquet_of_text, people_of
from tests.releases import files_of
from tests.worlds.households import LEVELS
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = bytes(range(32))

WORLDS = {
    kind: (budget, {"privacy_defn": definition, "zero_suppression_chance": float(chance)})
    for kind, budget, definition, chance in cases_of("""
        zcdp             | 1          | zcdp   | 0.9999
        pure dp          | 2          | puredp | 0.99
        wide noise       | 0.0000045  | zcdp   | 0.9
        vanishing noise  | 1000000000 | zcdp   | 0.9
        p below one half | 1          | zcdp   | 0.3
        no suppression   | 1          | zcdp   | 0
    """)
}
"""Budget and configuration. Wide noise has a variance near 1e6, and vanishing noise of 1e-9."""


def run(world, out, **options):
    run_files(*world, out, RunOptions(test_key=KEY, **options))
    return files_of(out)


def make_world(folder, kind, **config):
    budget, values = WORLDS[kind]
    world = write_random_world(folder, 5, people=80, budget=987654321, **values, **config)
    path = world.parameters / "config.json"
    path.write_text(path.read_text().replace("987654321", budget))  # a decimal that no float spells exactly
    return world


LOW = {f"({level}, {n})": [1, 1, 2] if level.startswith("PR-") else [0, 0, 3] for level in LEVELS for n in (1, 2)}


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize(
    "thresholds", [{}, {"thresholds_p": LOW}], ids=["random thresholds", "empty groups get tables"]
)
def test_lazy_and_dense_empty_groups_are_the_same(kind, thresholds, tmp_path, monkeypatch):
    world = make_world(tmp_path / "world", kind, **thresholds)
    lazy = run(world, tmp_path / "lazy")
    monkeypatch.setattr(EmptyGroups, "that_may_be_published", lambda _, first, end: np.arange(first, end))
    assert run(world, tmp_path / "dense") == lazy


def test_words_cut_to_12_bits_give_the_same_noise(tmp_path, monkeypatch):
    """Undecided draws are then common: one in a hundred or so, each resolved with the bits that were cut off."""
    world = make_world(tmp_path / "world", "zcdp", thresholds_p=LOW)
    usual = run(world, tmp_path / "usual")
    resolved = []

    class CutTable(InversionTable):
        def resolved(self, bits, more_bits):
            resolved.append(bits)
            return super().resolved(bits, more_bits)

    monkeypatch.setattr(noisy_count_module, "inversion_table", cache(lambda noise: CutTable(noise, 12)))
    assert run(world, tmp_path / "cut") == usual
    assert len(resolved) > 20


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_world(tmp_path_factory.mktemp("world"), "zcdp")


@pytest.fixture(scope="module")
def expected(world, tmp_path_factory):
    return run(world, tmp_path_factory.mktemp("expected") / "out")


@pytest.mark.parametrize(
    "options",
    values_of("""
        {"threads": 1}
        {"threads": 3}
        {"memory": "200MB"}
        {"groups_at_once": 7, "threads": 1}
        {"groups_at_once": 7, "threads": 3}
        {"groups_at_once": 100}
    """),
)
def test_the_way_of_running_does_not_matter(options, world, expected, tmp_path):
    assert run(world, tmp_path / "out", **options[0]) == expected


def test_nor_do_sizes_of_batches(world, expected, tmp_path):
    """Records, noise and lines of text; as many rows in a row group as ever."""
    assert run(world, tmp_path / "out", sizes=BatchSizes(text_bytes=90, records=7, cells=9)) == expected


def test_empty_groups_are_looked_for_in_threads_that_end_with_the_run(world, tmp_path, monkeypatch):
    here, searched, original = current_thread(), set(), EmptyGroups.that_may_be_published

    def that_may_be_published(*given):
        searched.add(current_thread())
        return original(*given)

    monkeypatch.setattr(EmptyGroups, "that_may_be_published", that_may_be_published)
    run(world, tmp_path / "one", groups_at_once=7, threads=1)
    assert searched == {here}
    write = PassFiles.write

    def fails_later(*given):
        if searched != {here}:
            raise OSError(errno.EIO, "a broken disk")
        write(*given)

    monkeypatch.setattr(PassFiles, "write", fails_later)
    with pytest.raises(RunFailed) as held:  # and the frames of the run with it
        run(world, tmp_path / "three", groups_at_once=7, threads=3)
    assert held.value
    assert searched != {here}
    assert not any(thread.is_alive() for thread in searched - {here})


@pytest.mark.parametrize("few", [20, 1 << 12], ids=["some parts are little", "all are"])
def test_nor_does_it_which_thread_does_what_is_little(few, world, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(in_threads_module, "_SMALL", few)
    monkeypatch.setattr(output_checks_module, "_LARGE", 1 << 24)
    writers, original = set(), PassFiles.write

    def write(*given):
        writers.add(current_thread())
        original(*given)

    monkeypatch.setattr(PassFiles, "write", write)
    assert run(world, tmp_path / "out", groups_at_once=100) == expected
    assert current_thread() in writers
    assert (len(writers) > 1) == (few == 20)

    monkeypatch.setattr(PassFiles, "write", refusing(errno.EIO))
    with pytest.raises(RunFailed):
        run(world, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_nor_does_it_with_long_lists(world, tmp_path, monkeypatch):
    """Dictionaries of a batch then hold what its rows have, and those of a file what its own rows have."""
    monkeypatch.setattr(pass_files_module, "SHORT_LIST", 0)
    sizes = BatchSizes(measurements=50)
    usual = run(world, tmp_path / "usual", sizes=sizes)
    for groups_at_once in (3, 7, 100):
        assert run(world, tmp_path / str(groups_at_once), groups_at_once=groups_at_once, sizes=sizes) == usual


NEVER = 1 << 40


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(
            {
                (patterns_module, "_PATTERNS_AT_ONCE"): 5,
                (addressed_bits_module, "_BLOCKS_AT_ONCE"): 5,
            },
            id="batches of keys",
        ),
        pytest.param(
            {(compiled_module, "_LEAST_WORK_TO_COMPILE"): NEVER, (counter_module, "_CELLS_OF_A_COUNT"): NEVER},
            id="interpreted loops",
        ),
        pytest.param(
            {
                (compiled_module, "_LEAST_WORK_TO_COMPILE"): 0,
                (compiled_module, "_LEAST_WORK_INSTEAD_OF_ARRAYS"): 0,
                (counter_module, "_CELLS_OF_A_COUNT"): NEVER,
            },
            id="compiled loops",
        ),
    ],
)
def test_how_much_is_done_at_once_or_compiled_does_not_matter(settings, world, expected, tmp_path, monkeypatch):
    for (module, name), value in settings.items():
        monkeypatch.setattr(module, name, value)
    assert run(world, tmp_path / "out") == expected


def same_people(world, folder, write):
    """The world, its people written by a function."""
    other = world.copy(folder)
    (other.data / "person-records.txt").unlink()
    write(other.data, people_of(world))
    return other


def test_who_reads_which_row_group_does_not_matter(world, expected, tmp_path, monkeypatch):
    """Seven row groups in three threads, in batches that end inside them; patterns in the table and beyond it."""
    few = BatchSizes(records=5)
    monkeypatch.setattr(counter_module, "_MANY_RECORDS", 0)
    monkeypatch.setattr(counter_module, "_FIRST_PATTERNS", 3)
    assert run(same_people(world, tmp_path, parquet_of_text), tmp_path / "out", threads=3, sizes=few) == expected


@pytest.mark.parametrize("write", PERSON_FORMS)
def test_the_form_of_the_person_files_does_not_matter(write, world, expected, tmp_path):
    assert run(same_people(world, tmp_path, write), tmp_path / "out") == expected


def test_python_and_the_command_do_the_same(world, expected, tmp_path):
    World(*map(str, world)).run(str(tmp_path / "one"), test_key=KEY.hex(), threads=1)
    assert files_of(tmp_path / "one") == expected
    done("run", *world, tmp_path / "two", "--test-key", KEY.hex(), "--memory", "500MB")
    assert files_of(tmp_path / "two") == expected


def test_without_a_key_every_run_is_different(world, expected, tmp_path):
    outs = [world.run(tmp_path / name, test_key=None) for name in ("one", "two")]
    assert len({files_of(out)["t1/us.csv"] for out in outs} | {expected["t1/us.csv"]}) == 3
