"""Encoded records in --temp that a disk or another program changed are found, before anything is published."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.cases import values_of
from tests.inside import (
    US_PASS,
    LocalEngine,
    NumbersFile,
    PartAtoms,
    PartRecords,
    RunFailed,
    TabulatedOutput,
    part_records_module,
)
from tests.parquet_flips import parquet_of
from tests.worlds.people import write_random_world

FILES = "atom pattern attribute sorted-pattern sorted-size sorted-attribute"
WORDS = r"encoded records in .* \(.*temp.*\) are not those that were written there: the disk is faulty"


def flipped(file, at=0.5):
    content = bytearray(file.read_bytes())
    content[int(len(content) * at)] ^= 1
    with file.open("r+b") as opened:  # in its place: it may be mapped into memory
        opened.write(content)


DAMAGES = {"flipped": flipped, "cut": lambda file: os.truncate(file, file.stat().st_size - 4), "removed": Path.unlink}
EACH_DAMAGE = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)


@pytest.fixture
def records(tmp_path):
    found = PartRecords(tmp_path, [PartAtoms(US_PASS, 0, 2)], 100)
    for piece in np.split(np.arange(1_500, dtype=np.int32), [13, 901]):
        found.add(piece % 2, piece % 1_100, (piece % 100).astype(np.uint8))
    return found


@pytest.mark.parametrize("name", FILES.split())
@EACH_DAMAGE
def test_records_that_changed_before_or_after_they_are_sorted_are_found(damage, name, records, tmp_path, monkeypatch):
    find = partial(records.sorted_part, 0)
    if name.startswith("sorted"):
        monkeypatch.setattr(part_records_module, "_FEW_BYTES", 0)
        find()
        find = records.require_intact
        find()
    damage(tmp_path / f"records-0.{name}")
    with pytest.raises(RunFailed, match=WORDS):
        find()


@pytest.fixture
def numbers(tmp_path):
    found = NumbersFile(tmp_path / "numbers", np.uint8)
    content = np.random.default_rng(7).integers(0, 256, 3 * 4096 + 5).astype(np.uint8)
    for piece in np.split(content, [4_096, 8_192]):
        found.append(piece)
    return found


def require_found(numbers):
    for read in (numbers.read, lambda: numbers.require_written(numbers.mapped())):
        with pytest.raises(RunFailed, match=WORDS):
            read()


@pytest.mark.parametrize("place", [0, 1, 4095, 4096, 12_287, 12_288, 12_292])
def test_a_flipped_bit_is_found_wherever_it_is(place, numbers, tmp_path):
    flipped(tmp_path / "numbers", (place + 0.5) / numbers.count)
    require_found(numbers)


@pytest.mark.parametrize(("size", "first", "second"), values_of("512|0|512\n512|512|3584\n8|0|8\n1|0|1\n4096|0|8192"))
def test_exchanged_sectors_words_bytes_and_blocks_are_found(size, first, second, numbers, tmp_path):
    file = tmp_path / "numbers"
    before = file.read_bytes()
    one, other = before[first : first + size], before[second : second + size]
    file.write_bytes(before[:first] + other + before[first + size : second] + one + before[second + size :])
    assert one != other
    require_found(numbers)


@pytest.mark.parametrize("distance", [8, 512, 4_088, 8_192])
def test_a_bit_that_falls_where_another_rises_is_found(distance, numbers, tmp_path):
    content = bytearray((tmp_path / "numbers").read_bytes())
    places = range(len(content) - distance)
    place = next(here for here in places if content[here] & 4 > content[here + distance] & 4)
    content[place] -= 4
    content[place + distance] += 4
    (tmp_path / "numbers").write_bytes(content)
    require_found(numbers)


def test_a_file_of_pieces_is_read_as_it_was_written(tmp_path):
    file = NumbersFile(tmp_path / "numbers", np.int32)
    assert file.read().tolist() == []
    pieces = [np.arange(count, dtype=np.int32) for count in (1, 5_000, 0, 3)]
    for piece in pieces:
        file.append(piece)
    assert file.read().tolist() == np.concatenate(pieces).tolist()
    assert file.mapped().tolist() == np.concatenate(pieces).tolist()


@pytest.fixture
def changed(out, tmp_path, monkeypatch):
    """Runs with something that damages the files of a pattern right before a step."""
    world, temporary = write_random_world(tmp_path / "world", 5, people=90, budget=1, run_pr=False), tmp_path / "temp"
    temporary.mkdir()

    def run(owner, step, damage, pattern, form="text"):
        if form == "Parquet":
            parquet_of(world.data / "person-records.txt", 70)
        original = getattr(owner, step)

        def damaged(self, *given):
            files = list(temporary.rglob(pattern))
            assert files
            for file in files:
                damage(file)
            return original(self, *given)

        monkeypatch.setattr(owner, step, damaged)
        with pytest.raises(RunFailed, match=WORDS) as failed:
            world.run(out, temp=temporary)
        assert str(temporary) in str(failed.value)
        assert not out.exists()
        return str(failed.value)

    return run


@pytest.mark.parametrize("form", ["text", "Parquet"])
@EACH_DAMAGE
def test_a_run_ends_before_it_spends_if_its_records_changed_on_disk(damage, form, changed):
    assert "Nothing was spent" in changed(LocalEngine, "prepare", damage, "*.attribute", form)


@EACH_DAMAGE
def test_a_run_publishes_nothing_if_its_sorted_records_changed_on_disk(damage, changed, monkeypatch):
    monkeypatch.setattr(part_records_module, "_FEW_BYTES", 0)
    changed(TabulatedOutput, "write", damage, "*.sorted-attribute")
