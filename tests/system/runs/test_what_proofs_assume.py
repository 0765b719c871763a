"""What theorems assume and the program enforces: a key for made-up people alone, one charge, records that stay, each once."""

from fractions import Fraction

import pyarrow.parquet as pq
import pytest

import safetab
from tests.inside import (
    SAFETAB_P,
    SYNTHETIC_MARKER,
    US,
    AddressedBits,
    InvalidInput,
    Ledger,
    MeasurementEvent,
    MiscountedRecords,
    OverspentBudget,
    PartRecords,
    PrivacyDefinition,
    RunFailed,
    RunOptions,
    Sensitivity,
    SharedBits,
    Stage,
    WatchedFiles,
    run_files,
    validate_files,
)
from tests.specified.agreement import engine_of, inputs_of
from tests.worlds.people import write_random_world
from tests.worlds.specified.small_world import nz_keys, write_specification

(FAMILY, *_), LEVEL = SAFETAB_P.families, US.levels[0]


def test_a_key_is_chosen_for_made_up_people_alone(tmp_path):
    world = write_random_world(tmp_path / "world", 3, budget=1)
    options = RunOptions(test_key=bytes(32))
    validate_files(*world, options)
    (world.data / SYNTHETIC_MARKER).unlink()
    with pytest.raises(InvalidInput, match="--test-key: refused"):
        validate_files(*world, options)


def test_a_recorder_is_for_made_up_people_alone(tmp_path):
    """It sees exact counts, and nothing that it saw is for release."""
    world, seen = write_random_world(tmp_path / "world", 3, budget=1, people=20), []

    def recorder(measure, counts, event, _):
        seen.append((event.level, counts.confidential_counts.sum()))
        return measure(counts)

    assert not run_files(*world, tmp_path / "out", recorder=recorder).status.is_for_release
    assert sum(people for _, people in seen) > 0
    seen.clear()
    (world.data / SYNTHETIC_MARKER).unlink()
    with pytest.raises(ValueError, match="it is for synthetic people alone"):
        run_files(*world, tmp_path / "refused", recorder=recorder)
    assert seen == []


def event_of(stage, cost):
    of_level = (SAFETAB_P, FAMILY, LEVEL, stage, PrivacyDefinition.ZCDP, Sensitivity.of_groups(1))
    return MeasurementEvent(*of_level, Fraction(cost))


def ledger_of_one(bits):
    return Ledger({(FAMILY, LEVEL): Fraction(1)}, bits)


def test_bits_have_one_ledger():
    bits = AddressedBits(bytes(32))
    ledger_of_one(bits)
    with pytest.raises(SharedBits):
        ledger_of_one(bits)


def test_a_stage_is_charged_once_and_within_its_budget():
    ledger = ledger_of_one(AddressedBits(bytes(32)))
    ledger.charge(event_of(Stage.STAGE_1, "0.1"))
    for event in (event_of(Stage.STAGE_1, "0.1"), event_of(Stage.STAGE_2, "0.91"), event_of(Stage.STAGE_2, "0")):
        with pytest.raises(OverspentBudget):
            ledger.charge(event)
    ledger.charge(event_of(Stage.STAGE_2, "0.9"))


def test_only_what_was_charged_is_read_again():
    ledger = ledger_of_one(AddressedBits(bytes(32)))
    event = event_of(Stage.STAGE_1, "0.1")
    with pytest.raises(OverspentBudget):
        ledger.right_to_read_again(event)
    ledger.charge(event)
    assert ledger.right_to_read_again(event).event == event


def test_a_file_that_changed_is_seen(tmp_path):
    (tmp_path / "codes.csv").write_text("a")
    watched = WatchedFiles([tmp_path / "codes.csv"])
    watched.require_unchanged()
    (tmp_path / "codes.csv").write_text("ab")
    with pytest.raises(RunFailed, match=r"codes\.csv changed"):
        watched.require_unchanged()


def test_a_record_that_is_encoded_twice_is_seen(tmp_path, monkeypatch):
    original = PartRecords.add

    def twice(self, *arrays):
        original(self, *arrays)
        original(self, *arrays)

    monkeypatch.setattr(PartRecords, "add", twice)
    engine = engine_of(inputs_of(*write_specification(tmp_path, nz_keys())), tmp_path, threads=1)
    assert not [one for one in engine.check() if one.is_error]
    with pytest.raises(MiscountedRecords):
        engine.prepare()


def test_searched_columns_alone_have_statistics(both_products, tmp_path):
    safetab.rerelease(both_products / "people", tmp_path / "again", rules=["clamp-negatives"])
    for path in (tmp_path / "again" / "release" / "numbers").rglob("*.parquet"):
        group = pq.ParquetFile(path).metadata.row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        assert {each.path_in_schema for each in columns if each.is_stats_set} == {"region_id", "iteration_code"}
