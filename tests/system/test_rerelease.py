"""Re-release: other steps from the same measurements, against what a run with those steps would have made."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import safetab
from tests.brute_force import rows_of
from tests.commands import cli
from tests.inside import InvalidInput, OutputStatus
from tests.releases import numbers_of
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = "17" * 32
STEPS = {"confidence": "0.9", "rules": ["withhold-negatives"], "coterminous": True}


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    """Noise so wide that many numbers are negative."""
    folder = tmp_path_factory.mktemp("again")
    world = write_random_world(
        folder, 3, people=300, budget=1, allow_negative_counts=True, zero_suppression_chance=0.3, privacy_defn="zcdp"
    )
    world.configure(**{key: 0.05 for key, value in world.config().items() if "budget_p_level" in key and value})
    return world


@pytest.fixture(scope="module")
def plain(world: World, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("plain") / "out"
    safetab.run(*world, out, test_key=KEY)
    return out


@pytest.fixture(scope="module")
def stepped(world: World, plain: Path, tmp_path_factory) -> Path:
    before, new = files_of(plain), tmp_path_factory.mktemp("stepped") / "new"
    summary = safetab.rerelease(plain, new, geography=world.data / "GRF-C.txt", **STEPS)
    assert files_of(plain) == before
    assert summary.rows == {name: one["rows"] for name, one in manifest_of(new)["outputs"].items()}
    return new


def files_of(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def released(out: Path) -> dict[str, bytes]:
    """All that an output says; its manifest and log also tell how it came to be."""
    return {name: text for name, text in files_of(out).items() if name not in {"manifest.json", "log.txt"}}


def manifest_of(out: Path) -> dict:
    return json.loads((out / "manifest.json").read_text())


def test_it_is_what_a_run_with_these_steps_would_have_made(world, plain, stepped, tmp_path):
    safetab.run(*world, tmp_path / "at-once", test_key=KEY, **STEPS)
    assert released(stepped) == released(tmp_path / "at-once")
    assert manifest_of(stepped)["outputs"] == manifest_of(tmp_path / "at-once")["outputs"]
    for name in ("t1/us.csv", "t2/us.csv", "measurements/us.parquet", "t1/pr.csv", "release/privacy.json"):
        assert files_of(stepped)[name] == files_of(plain)[name]


def test_a_rerelease_of_a_rerelease_begins_at_the_measurements_again(plain, stepped, tmp_path):
    safetab.rerelease(stepped, tmp_path / "back")
    assert released(tmp_path / "back") == released(plain)
    assert manifest_of(tmp_path / "back")["outputs"] == manifest_of(plain)["outputs"]


def test_what_makes_it_can_neither_draw_nor_count():
    loaded = "import sys, safetab.pipeline.rerelease; print([name for name in sys.modules if name.startswith(%r)])"
    forbidden = ("safetab.mechanisms", "safetab.engines", "duckdb", "pyspark")
    assert subprocess.check_output([sys.executable, "-c", loaded % (forbidden,)], text=True).strip() == "[]"


def test_the_function_is_still_one_after_a_run_has_imported_what_it_needs(plain):
    assert plain.is_dir()
    assert callable(safetab.rerelease)


@pytest.mark.parametrize("rule", ["withhold-negatives", "clamp-negatives"])
def test_t1_and_t2_after_a_rule_have_what_it_leaves(rule, plain, tmp_path):
    safetab.rerelease(plain, tmp_path / "new", rules=[rule])
    for name in ("t1/us.csv", "t2/us.csv", "t1/pr.csv", "t2/pr.csv"):
        own = [tuple(row.values()) for row in rows_of(plain / name)]
        after = [tuple(row.values()) for row in rows_of(tmp_path / "new" / "after-steps" / name)]
        negative = [row for row in own if row[-1].startswith("-")]
        assert negative
        left = set(own) - set(negative)
        if rule == "clamp-negatives":
            left |= {(*row[:-1], "0") for row in negative}
        assert len(after) == len(left)
        assert set(after) == left


def test_t1_and_t2_after_the_steps_are_the_release_in_other_words(stepped):
    """Copies, and what rules withhold, on a world where both are."""
    numbers = [row for row in numbers_of(stepped) if row["count"] is not None]
    assert {row["status"] for row in numbers} == {"published", "copied"}
    keys = ("region_id", "geography_level", "iteration_code")
    totals = {(*(row[key] for key in keys), str(row["count"])) for row in numbers if row["table_id"] == "T01001"}
    sexes = set()
    for row in numbers:
        if row["table_id"] != "T01001" and row["sex"] != "both":
            ages = (row["age_start"], row["age_end"])
            shown = ("*", "*") if ages == (0, 115) else tuple(map(str, ages))
            sexes.add(
                (*(row[key] for key in keys), *shown, {"male": "1", "female": "2"}[row["sex"]], str(row["count"]))
            )
    for name, expected in (("t1", totals), ("t2", sexes)):
        written = [
            tuple(row.values()) for one in ("us", "pr") for row in rows_of(stepped / f"after-steps/{name}/{one}.csv")
        ]
        assert len(written) == len(expected)
        assert set(written) == expected


def test_without_steps_there_is_nothing_after_them(plain, tmp_path):
    safetab.rerelease(plain, tmp_path / "new", confidence="0.5")
    assert not (plain / "after-steps").exists()
    assert not (tmp_path / "new" / "after-steps").exists()
    assert [row["count"] for row in numbers_of(tmp_path / "new")] == [row["count"] for row in numbers_of(plain)]
    margins = [sum(row["margin_of_error"] for row in numbers_of(out)) for out in (tmp_path / "new", plain)]
    assert margins[0] < margins[1] / 2


def test_the_log_is_its_own(plain, stepped):
    log = (stepped / "log.txt").read_text().splitlines()
    told = manifest_of(stepped)
    assert [line for line in log if line.endswith(" rows")] == [
        f"wrote {name}: {one['rows']} rows" for name, one in told["outputs"].items()
    ]
    measured_by = told["measured_by"]
    assert f"released again from the measurements of {measured_by['date']} (safetab {measured_by['version']})" in log[1]
    assert "no new noise was drawn and nothing was spent" in log[1]
    assert OutputStatus.TEST_KEY.sentence in log[2]
    assert log[-1] == (plain / "log.txt").read_text().splitlines()[-1]


@pytest.mark.parametrize("status", OutputStatus)
def test_the_status_is_that_of_the_measurements(status, plain, tmp_path):
    out, new = tmp_path / "out", tmp_path / "new"
    shutil.copytree(plain, out)
    (out / "manifest.json").write_text(
        json.dumps(manifest_of(plain) | {"status": status.value, "for_release": status.is_for_release})
    )
    if status.is_for_release:
        without_the_mark(out)
    result = cli("rerelease", out, new)
    assert result.exit_code == 0, result.output
    assert status.sentence in result.stdout
    assert status.sentence in (new / "log.txt").read_text()
    assert (manifest_of(new)["status"], manifest_of(new)["for_release"]) == (status.value, status.is_for_release)
    assert (new / "NOT-FOR-RELEASE").exists() is not status.is_for_release


@pytest.mark.parametrize(("for_release", "status"), [(True, "for release"), (False, "test key")])
def test_an_output_of_before_there_was_a_status_gets_one(for_release, status, plain, tmp_path):
    shutil.copytree(plain, tmp_path / "out")
    manifest = {name: value for name, value in manifest_of(plain).items() if name != "status"}
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest | {"for_release": for_release}))
    if for_release:
        without_the_mark(tmp_path / "out")
    assert safetab.rerelease(tmp_path / "out", tmp_path / "new").status.value == status
    assert manifest_of(tmp_path / "new")["status"] == status


def without_the_mark(out: Path) -> None:
    (out / "NOT-FOR-RELEASE").unlink()
    manifest = manifest_of(out)
    del manifest["documents"]["NOT-FOR-RELEASE"]
    (out / "manifest.json").write_text(json.dumps(manifest))


def test_a_stray_file_of_the_old_output_stays_behind(plain, tmp_path):
    shutil.copytree(plain, tmp_path / "out")
    (tmp_path / "out" / "person-records.txt").write_text("QAGE\n30\n")
    (tmp_path / "out" / "t1" / "notes.txt").write_text("for the curator\n")
    safetab.rerelease(tmp_path / "out", tmp_path / "new")
    assert set(files_of(tmp_path / "new")) == set(files_of(plain))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda out: (out / "measurements" / "us.parquet").unlink(), "files that don't exist: measurements/us.parquet"),
        (lambda out: (out / "t1" / "us.csv").write_text("x"), "files are not what its manifest says: t1/us.csv"),
        (lambda out: (out / "manifest.json").write_text("{}"), "has no readable manifest.json"),
        (
            lambda out: (out / "manifest.json").write_text(json.dumps(manifest_of(out) | {"status": "fine"})),
            "has no readable manifest.json",
        ),
        (
            lambda out: (out / "manifest.json").write_text(json.dumps(manifest_of(out) | {"outputs": {}})),
            "files that don't exist: t1/us.csv, t2/us.csv",
        ),
    ],
)  # fmt: skip
def test_an_output_that_is_not_whole_is_refused(damage, message, plain, tmp_path):
    shutil.copytree(plain, tmp_path / "out")
    damage(tmp_path / "out")
    with pytest.raises(InvalidInput) as invalid:
        safetab.rerelease(tmp_path / "out", tmp_path / "new")
    assert message in str(invalid.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--coterminous"], "--coterminous: compares blocks. Add --geography"),
        (["--geography", "GRF-C.txt"], "--geography: needs --coterminous."),
        (["--empty-blocks", "water.txt"], "--empty-blocks: needs --coterminous."),
        (["--order", "state,county"], "--order: is about the coterminous step"),
        (["--confidence", "95"], "--confidence: must be a number from 0.5"),
        (["--rule", "no-zeros"], '"no-zeros" is not a rule'),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message, plain, tmp_path):
    result = cli("rerelease", plain, tmp_path / "new", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "new").exists()


def test_the_old_output_can_be_neither_replaced_nor_added_to(plain):
    before = files_of(plain)
    for new, message in (
        (plain, "contains files that this command reads"),
        (plain / "new", f"is inside {plain}, which this command reads"),
    ):
        result = cli("rerelease", plain, new, "--overwrite")
        assert result.exit_code == 1
        assert message in result.stderr
    assert files_of(plain) == before
