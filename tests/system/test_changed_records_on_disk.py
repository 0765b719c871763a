"""Encoded records in --temp that a disk or another program changed are found, before anything is published."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import safetab
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
from tests.worlds.people import write_random_world
from tests.worlds.world import World

WORDS = r"encoded records in .* \(.*temp.*\) are not those that were written there: the disk is faulty"
Damage = Callable[[Path], None]


def flipped(file: Path, at: float = 0.5) -> None:
    content = bytearray(file.read_bytes())
    content[int(len(content) * at)] ^= 1
    with file.open("r+b") as opened:  # in its place: it may be mapped into memory
        opened.write(content)


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 4)


DAMAGES = {"flipped": flipped, "cut": cut, "removed": Path.unlink}


@pytest.fixture
def records(tmp_path):
    many = np.arange(1_500, dtype=np.int32)
    found = PartRecords(tmp_path, [PartAtoms(US_PASS, 0, 2)], 100)
    for piece in np.split(many, [13, 901]):
        found.add(piece % 2, piece % 1_100, (piece % 100).astype(np.uint8))
    return found


@pytest.mark.parametrize("name", ["atom", "pattern", "attribute"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_records_that_changed_before_they_are_sorted_are_found(damage, name, records, tmp_path):
    damage(tmp_path / f"records-0.{name}")
    with pytest.raises(RunFailed, match=WORDS):
        records.sorted_part(0)


@pytest.mark.parametrize("name", ["sorted-pattern", "sorted-size", "sorted-attribute"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_records_that_changed_after_they_were_sorted_are_found(damage, name, records, tmp_path, monkeypatch):
    monkeypatch.setattr(part_records_module, "_FEW_BYTES", 0)
    records.sorted_part(0)
    records.require_intact()
    damage(tmp_path / f"records-0.{name}")
    with pytest.raises(RunFailed, match=WORDS):
        records.require_intact()


@pytest.fixture
def numbers(tmp_path):
    found = NumbersFile(tmp_path / "numbers", np.uint8)
    content = np.random.default_rng(7).integers(0, 256, 3 * 4096 + 5).astype(np.uint8)
    for piece in np.split(content, [4_096, 8_192]):
        found.append(piece)
    return found


def exchanged(file: Path, size: int, first: int, second: int) -> None:
    """Exchange two stretches of a file."""
    before = file.read_bytes()
    content = bytearray(before)
    content[first : first + size] = before[second : second + size]
    content[second : second + size] = before[first : first + size]
    assert content != before
    file.write_bytes(content)


def require_found(numbers: NumbersFile[np.uint8]) -> None:
    with pytest.raises(RunFailed, match=WORDS):
        numbers.read()
    with pytest.raises(RunFailed, match=WORDS):
        numbers.require_written(numbers.mapped())


@pytest.mark.parametrize("place", [0, 1, 4095, 4096, 12_287, 12_288, 12_292])
def test_a_flipped_bit_is_found_wherever_it_is(place, numbers, tmp_path):
    flipped(tmp_path / "numbers", (place + 0.5) / numbers.count)
    require_found(numbers)


@pytest.mark.parametrize(
    ("size", "first", "second"), [(512, 0, 512), (512, 512, 3_584), (8, 0, 8), (1, 0, 1), (4096, 0, 8_192)]
)
def test_exchanged_sectors_words_bytes_and_blocks_are_found(size, first, second, numbers, tmp_path):
    exchanged(tmp_path / "numbers", size, first, second)
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
def world(tmp_path):
    return write_random_world(tmp_path / "world", 5, people=300, budget=1)


def as_parquet(world: World) -> None:
    text = world.data / "person-records.txt"
    strings = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(text.read_text().split("\n")[0].split("|"), "string")
    )
    table = pyarrow.csv.read_csv(text, parse_options=pyarrow.csv.ParseOptions(delimiter="|"), convert_options=strings)
    pq.write_table(table, world.data / "person-records.parquet")
    text.unlink()


def damaging(monkeypatch: pytest.MonkeyPatch, where: type, step: str, damage: Callable[[], object]) -> None:
    """Damage something right before a step of a run."""
    original = getattr(where, step)

    def damaged(self, *given):
        damage()
        return original(self, *given)

    monkeypatch.setattr(where, step, damaged)


def of_all_files(damage: Damage, folder: Path, pattern: str) -> None:
    found = list(folder.rglob(pattern))
    assert found
    for file in found:
        damage(file)


@pytest.mark.parametrize("form", ["text", "Parquet"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_run_ends_before_it_spends_if_its_records_changed_on_disk(damage, form, world, tmp_path, monkeypatch):
    if form == "Parquet":
        as_parquet(world)
    temporary = tmp_path / "temp"
    temporary.mkdir()
    damaging(monkeypatch, LocalEngine, "prepare", partial(of_all_files, damage, temporary, "*.attribute"))
    with pytest.raises(RunFailed, match=f"{WORDS}.*Nothing was spent") as failed:
        safetab.run(*world, tmp_path / "out", temp=temporary)
    assert str(temporary) in str(failed.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_run_publishes_nothing_if_its_sorted_records_changed_on_disk(damage, world, tmp_path, monkeypatch):
    monkeypatch.setattr(part_records_module, "_FEW_BYTES", 0)
    temporary = tmp_path / "temp"
    temporary.mkdir()
    damaging(monkeypatch, TabulatedOutput, "write", partial(of_all_files, damage, temporary, "*.sorted-attribute"))
    with pytest.raises(RunFailed, match=WORDS):
        safetab.run(*world, tmp_path / "out", temp=temporary)
    assert not (tmp_path / "out").exists()
