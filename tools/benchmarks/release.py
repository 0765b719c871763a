"""How fast a release of national size is written and checked, and how much memory that takes.

Three million made-up groups (one in ten with sex by age) of a made-up geography with 84,000 tracts;
no person is read.
"""

from __future__ import annotations

import datetime
import resource
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from safetab.apps.synthetic.demo_census import write_demo_census
from safetab.core.algorithm.measurements import Measurements
from safetab.core.algorithm.run_plan import LevelPlan, RunPlan
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.output_status import OutputStatus
from safetab.inputs.planner import PublicFiles, plan_of
from safetab.inputs.public_files import read_public_files
from safetab.model.census.areas import Areas
from safetab.model.us.block_areas import Blocks, areas_of_blocks
from safetab.model.us.us_census import US, US_PASS
from safetab.release.files.checks.output_checks import OutputChecks
from safetab.release.files.checksums import write_checksums
from safetab.release.files.coterminous import coterminous_sets
from safetab.release.files.documents import ReleaseFacts
from safetab.release.files.release_options import CoterminousOptions, ReleaseOptions
from safetab.release.files.release_universe import universe_of_run
from safetab.release.files.write_release import write_release
from safetab.release.outputs.manifest import RunFacts, write_manifest, write_release_log
from safetab.release.outputs.pass_files import PassFiles
from safetab.release.report.pages import PAGES

GROUPS_AT_ONCE = 1 << 18
STATES, COUNTIES, TRACTS, BLOCKS = (
    51,
    60,
    27,
    97,
)  # about the nation's: 3,060 counties, 82,620 tracts, 8 million blocks


def geography() -> Areas:
    state = np.repeat(
        sorted(n for n in range(1, 57) if n not in {3, 7, 14, 43, 52}), COUNTIES * TRACTS * BLOCKS
    )
    county = np.tile(np.repeat(np.arange(1, COUNTIES + 1), TRACTS * BLOCKS), STATES)
    tract = np.tile(np.repeat(np.arange(1, TRACTS + 1) * 100, BLOCKS), STATES * COUNTIES)
    block = np.tile(np.arange(1000, 1000 + BLOCKS), STATES * COUNTIES * TRACTS)
    place = state * 10**5 + county * 100 + tract // 300
    number = ((state * 1000 + county) * 10**6 + tract) * 10**4 + block
    return areas_of_blocks(Blocks(number, place, np.full(len(block), -1)))


def measurements_of(level: LevelPlan, groups: int, rng: np.random.Generator) -> list[Measurements]:
    """Groups at random indices, in the order in which a run would give them."""
    design, family, universe = level.design, level.family, level.universe
    adaptive = np.array([not one.is_total_only for one in universe.iterations])
    indices = np.unique(rng.integers(0, universe.size, groups))
    indices = indices[adaptive[universe.index.iteration_of(indices)]]
    threshold = design.suppression_threshold if design.suppression_threshold is not None else 0
    parts = []
    for first in range(0, len(indices), GROUPS_AT_ONCE):
        some = indices[first : first + GROUPS_AT_ONCE]
        is_finer = rng.random(len(some)) < 0.1
        shapes = np.where(is_finer, rng.integers(1, len(family.shapes), len(some)), 0).astype(
            np.int8
        )
        thresholds = [-1, *design.thresholds.totals]
        values = {family.total: threshold + rng.geometric(0.02, (int((shapes == 0).sum()), 1))}
        for shape in family.finer:
            mine = int((shapes == family.number_of(shape)).sum())
            values[shape] = rng.integers(-5, 200, (mine, shape.cells))
        parts.append(
            Measurements(level, Stage.STAGE_2, some, shapes, np.array(thresholds)[shapes], values)
        )
    return parts


def big_plan(folder: Path) -> tuple[PublicFiles, RunPlan]:
    write_demo_census(folder)
    files = read_public_files(folder / "parameters", folder / "data").require()
    states = tuple(f"{n:02d}" for n in range(1, 57) if n not in {3, 7, 14, 43, 52})
    config = replace(files.config, passes=(US_PASS,), parts={US_PASS: states})
    files = replace(files, config=config, geography_of_pass={US_PASS: geography()})
    return files, plan_of(files).require()


def write_measurements(output: Path, plan: RunPlan, groups: int) -> dict[str, int]:
    """Of about so many groups, over all levels; tells the rows of each file."""
    output.mkdir()
    rng, size = np.random.default_rng(1), sum(level.universe.size for level in plan.levels)
    with closing(PassFiles(output, US_PASS, plan.config)) as written:
        for level in plan.levels:
            for part in measurements_of(level, groups * level.universe.size // size, rng):
                written.write(part)
    return written.rows


def main() -> None:
    groups = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000_000
    with tempfile.TemporaryDirectory() as temporary:
        files, plan = big_plan(Path(temporary) / "census")
        output = Path(temporary) / "out"
        rows = write_measurements(output, plan, groups)
        universe = universe_of_run(plan, files.geography_of_pass, {})
        print(f"{rows['t1/us.csv']:,} groups, {rows['measurements/us.parquet']:,} measurements")
        print(f"memory before: {_megabytes():,} MB")
        started = time.process_time()
        sets = coterminous_sets(files.geography_of_pass[US_PASS], US.donor_order)
        blocks = len(files.geography_of_pass[US_PASS].smallest)
        print(
            f"coterminous sets of {blocks:,} blocks: {len(sets)} in"
            f" {time.process_time() - started:.1f} s"
        )
        day = datetime.date(2020, 4, 1)
        for options in (ReleaseOptions(), ReleaseOptions(coterminous=CoterminousOptions())):
            started = time.process_time()
            released = write_release(
                output,
                universe,
                ReleaseFacts("0", day, OutputStatus.SYNTHETIC, options),
                files.geography_of_pass,
            )
            seconds = time.process_time() - started
            write_checksums(output / "release")
            numbers = sum(count for name, count in released.items() if "/numbers/" in name)
            size = sum(path.stat().st_size for path in (output / "release").rglob("*.parquet"))
            speed = f"{numbers / seconds / 1e6:.2f} million rows a CPU second"
            step = ", coterminous" if options.coterminous else ""
            print(f"release{step}: {numbers:,} rows in {seconds:.1f} s, {speed},")
            print(f"  {size / 1e6:.0f} MB; memory {_megabytes():,} MB")
            started = time.process_time()
            page = Path(temporary) / f"report{len(step)}.html"
            PAGES["report"].write(output, page, overwrite=False)
            spent = f"{time.process_time() - started:.1f} s"
            print(
                f"report: {page.stat().st_size / 1000:.0f} kB in {spent};"
                f" memory {_megabytes():,} MB"
            )
            ran = RunFacts(plan, (), day, OutputStatus.SYNTHETIC)
            write_release_log(output, ran, rows | released)
            write_manifest(output, ran, {}, rows | released)
            started = time.process_time()
            checks = OutputChecks(output, universe, options)
            with checks.of_tables_beside(), checks.of_numbers_beside():
                checks.of_remaining_files()
            print(f"checks: {time.process_time() - started:.1f} s; memory {_megabytes():,} MB")


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
