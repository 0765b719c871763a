"""Re-release: other steps from the same measurements, against what a run with those steps would have made."""

import json
import shutil
import subprocess
import sys

import pytest

import safetab
from tests.brute_force import rows_of
from tests.commands import done, refused
from tests.inside import InvalidInput, OutputStatus
from tests.releases import files_of, json_of, numbers_of

pytestmark = pytest.mark.slow

STEPS = {"confidence": "0.9", "rules": ["withhold-negatives"], "coterminous": True}
PASSES = ("us", "pr")


@pytest.fixture(scope="module")
def plain(releases):
    return releases.pairs().out


@pytest.fixture(scope="module")
def stepped(releases, plain, tmp_path_factory):
    before, new = files_of(plain), tmp_path_factory.mktemp("stepped") / "new"
    summary = safetab.rerelease(plain, new, geography=releases.pairs().world.data / "GRF-C.txt", **STEPS)
    assert files_of(plain) == before
    assert summary.rows == {name: one["rows"] for name, one in manifest_of(new)["outputs"].items()}
    return new


@pytest.fixture
def copied(plain, tmp_path):
    """An output that a test may change."""
    return shutil.copytree(plain, tmp_path / "out")


def released(out):
    """All that an output says; its manifest and log also tell how it came to be."""
    files = files_of(out) | {"outputs": manifest_of(out)["outputs"]}
    return {name: text for name, text in files.items() if name not in {"manifest.json", "log.txt"}}


def manifest_of(out):
    return json_of(out / "manifest.json")


def change_manifest(out, **changes):
    (out / "manifest.json").write_text(json.dumps(manifest_of(out) | changes))


def test_it_is_what_a_run_with_these_steps_would_have_made(releases, plain, stepped):
    assert released(stepped) == released(releases.pairs(**STEPS).out)
    for name in ("t1/us.csv", "t2/us.csv", "measurements/us.parquet", "t1/pr.csv", "release/privacy.json"):
        assert (stepped / name).read_bytes() == (plain / name).read_bytes()


def test_a_rerelease_of_a_rerelease_begins_at_the_measurements_again(plain, stepped, tmp_path):
    safetab.rerelease(stepped, tmp_path / "back")
    assert released(tmp_path / "back") == released(plain)


def test_what_makes_it_can_neither_draw_nor_count():
    loaded = "import sys, safetab.runs.rerelease; print([name for name in sys.modules if name.startswith(%r)])"
    forbidden = ("safetab.core.mechanisms", "safetab.counting", "duckdb", "pyspark")
    assert subprocess.check_output([sys.executable, "-c", loaded % (forbidden,)], text=True).strip() == "[]"


@pytest.mark.parametrize("rule", ["withhold-negatives", "clamp-negatives"])
def test_t1_and_t2_after_a_rule_have_what_it_leaves(rule, plain, releases):
    new = releases.again(plain, rules=[rule])
    for name in (f"{table}/{one}.csv" for table in ("t1", "t2") for one in PASSES):
        own, after = ([tuple(row.values()) for row in rows_of(out / name)] for out in (plain, new / "after-steps"))
        negative = {row for row in own if row[-1].startswith("-")}
        assert negative
        clamped = {(*row[:-1], "0") for row in negative} if rule == "clamp-negatives" else set()
        assert set(after) == set(own) - negative | clamped
        assert len(after) == len(set(after))


def test_t1_and_t2_after_the_steps_are_the_release_in_other_words(stepped):
    """Copies, and what rules withhold, on a world where both are."""
    numbers = [row for row in numbers_of(stepped) if row["count"] is not None]
    assert {row["status"] for row in numbers} == {"published", "copied"}
    expected = {"t1": set(), "t2": set()}
    for row in numbers:
        key, count = (row["region_id"], row["geography_level"], row["iteration_code"]), str(row["count"])
        if row["table_id"] == "T01001":
            expected["t1"].add((*key, count))
        elif row["sex"] != "both":
            ages = (row["age_start"], row["age_end"])
            shown = ("*", "*") if ages == (0, 115) else map(str, ages)
            expected["t2"].add((*key, *shown, {"male": "1", "female": "2"}[row["sex"]], count))
    for name, rows in expected.items():
        written = [tuple(row.values()) for one in PASSES for row in rows_of(stepped / f"after-steps/{name}/{one}.csv")]
        assert len(written) == len(rows)
        assert set(written) == rows


def test_without_steps_there_is_nothing_after_them(plain, releases):
    new = releases.again(plain, confidence="0.5")
    assert not (plain / "after-steps").exists()
    assert not (new / "after-steps").exists()
    own, after = numbers_of(plain), numbers_of(new)
    assert [row["count"] for row in after] == [row["count"] for row in own]
    assert sum(row["margin_of_error"] for row in after) < sum(row["margin_of_error"] for row in own) / 2


def test_the_log_is_its_own(plain, stepped):
    log, told = (stepped / "log.txt").read_text().splitlines(), manifest_of(stepped)
    written = [f"wrote {name}: {one['rows']} rows" for name, one in told["outputs"].items()]
    assert [line for line in log if line.endswith(" rows")] == written
    measured = told["measured_by"]
    assert f"released again from the measurements of {measured['date']} (safetab {measured['version']})" in log[1]
    assert "no new noise was drawn and nothing was spent" in log[1]
    assert OutputStatus.TEST_KEY.sentence in log[2]
    assert log[-1] == (plain / "log.txt").read_text().splitlines()[-1]


@pytest.mark.parametrize("status", OutputStatus)
def test_the_status_is_that_of_the_measurements(status, copied, tmp_path):
    new = tmp_path / "new"
    change_manifest(copied, status=status.value, for_release=status.is_for_release)
    if status.is_for_release:
        without_the_mark(copied)
    assert status.sentence in done("rerelease", copied, new)
    assert status.sentence in (new / "log.txt").read_text()
    told = manifest_of(new)
    assert (told["status"], told["for_release"]) == (status.value, status.is_for_release)
    assert (new / "NOT-FOR-RELEASE").exists() is not status.is_for_release


@pytest.mark.parametrize(("for_release", "status"), [(True, "for release"), (False, "test key")])
def test_an_output_of_before_there_was_a_status_gets_one(for_release, status, copied, tmp_path):
    manifest = manifest_of(copied) | {"for_release": for_release}
    del manifest["status"]
    (copied / "manifest.json").write_text(json.dumps(manifest))
    if for_release:
        without_the_mark(copied)
    assert safetab.rerelease(copied, tmp_path / "new").status.value == status
    assert manifest_of(tmp_path / "new")["status"] == status


def without_the_mark(out):
    (out / "NOT-FOR-RELEASE").unlink()
    documents = manifest_of(out)["documents"]
    del documents["NOT-FOR-RELEASE"]
    change_manifest(out, documents=documents)


def test_a_stray_file_of_the_old_output_stays_behind(plain, copied, tmp_path):
    (copied / "person-records.txt").write_text("QAGE\n30\n")
    (copied / "t1" / "notes.txt").write_text("for the curator\n")
    safetab.rerelease(copied, tmp_path / "new")
    assert files_of(tmp_path / "new").keys() == files_of(plain).keys()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda out: (out / "measurements/us.parquet").unlink(), "files that don't exist: measurements/us.parquet"),
        (lambda out: (out / "t1/us.csv").write_text("x"), "files are not what its manifest says: t1/us.csv"),
        (lambda out: (out / "manifest.json").write_text("{}"), "has no readable manifest.json"),
        (lambda out: change_manifest(out, status="fine"), "has no readable manifest.json"),
        (lambda out: change_manifest(out, outputs={}), "files that don't exist: t1/us.csv, t2/us.csv"),
    ],
)
def test_an_output_that_is_not_whole_is_refused(damage, message, copied, tmp_path):
    damage(copied)
    with pytest.raises(InvalidInput, match=message):
        safetab.rerelease(copied, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_options_that_make_no_sense_are_refused(plain, tmp_path):
    for options, words in {
        "--coterminous": "--coterminous: compares blocks. Add --geography",
        "--geography GRF-C.txt": "--geography: needs --coterminous.",
        "--empty-blocks water.txt": "--empty-blocks: needs --coterminous.",
        "--order state,county": "--order: is about the coterminous step",
        "--confidence 95": "--confidence: must be a number from 0.5",
        "--rule no-zeros": '"no-zeros" is not a rule',
    }.items():
        assert words in refused("rerelease", plain, tmp_path / "new", *options.split(), code=2)
        assert not (tmp_path / "new").exists()


def test_the_old_output_can_be_neither_replaced_nor_added_to(plain):
    before = files_of(plain)
    assert "contains files that this command reads" in refused("rerelease", plain, plain, "--overwrite")
    inside = refused("rerelease", plain, plain / "new", "--overwrite")
    assert f"is inside {plain}, which this command reads" in inside
    assert files_of(plain) == before
