"""`safetab compare`: checks, counts, protections, attacks, and a folder with the page and its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from safetab.comparison.compare import Comparing
from safetab.comparison.measures.utility import key_of_seed
from safetab.comparison.pages.committee_table import committee_table
from safetab.comparison.pages.compare_page import compare_page
from safetab.comparison.pages.words import text
from safetab.comparison.request import FACTS_FILE, CompareRequest, checked_protections
from safetab.comparison.results import Comparison
from safetab.comparison.world import counted_world
from safetab.comparison.written_tables import exposure_table
from safetab.dialects.configuration import require_not_swapped
from safetab.foundation.files import whole_path
from safetab.foundation.findings import VERSION, Finding
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.safe_csv import safe_texts
from safetab.outputs.output_folder import whole_output
from safetab.pipeline import guards

PAGE_FILE = "compare.html"
_NOBODY = text("nobody")


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """What the command reports at the end."""

    warnings: tuple[Finding, ...]
    protections: tuple[str, ...]  # their specs
    attacked: str  # the area under attack; empty without one
    not_finished: tuple[str, ...]
    rows: Mapping[str, int]  # by the name of a table


def compare_files(
    parameters: Path, data: Path, out: Path, request: CompareRequest, progress: Progress | None = None
) -> ComparisonSummary:
    """Compare protections on one synthetic census and write the page and its numbers: all of it, or nothing.

    Raises InvalidInput if an input or option is wrong or the people may be real, RunFailed if the
    machine fails.
    """
    progress = progress or NoProgress()
    require_not_swapped(parameters, data)
    out = whole_path(out)
    protections, left_out = checked_protections(parameters, data, out, request)
    threads = guards.pyarrow_threads(request.options.threads)
    with guards.os_errors_as_run_failed(), guards.findings_logged(None), guards.own_errors_logged(None), threads:
        with counted_world(parameters, data, request, progress) as world:
            comparing = Comparing(parameters, data, world, request, progress)
            comparison = comparing.comparison(protections, left_out)
        progress.step("Writing the page", 1)
        rows = _write(out, comparison, request)
        progress.advance()
    attacked = ", ".join(counted.area.name for counted in comparing.areas)
    specs = tuple(each.protection.spec for each in comparison.protections)
    return ComparisonSummary(world.warnings, specs, attacked, comparison.not_finished, rows)


def _write(out: Path, comparison: Comparison, request: CompareRequest) -> dict[str, int]:
    """Write all files; returns the rows of each table."""
    tables = {
        "committee": committee_table(comparison),
        "utility": pa.concat_tables([each.utility for each in comparison.protections]),
        "exposure": exposure_table(comparison.protections, comparison.baseline),
    }
    with whole_output(out, None, overwrite=request.options.overwrite) as output:
        for name, table in tables.items():
            with (output / f"{name}.csv").open("wb") as file:  # Arrow opens only UTF-8 paths
                pa.csv.write_csv(safe_texts(table), file)
            if name != "committee":
                with (output / f"{name}.parquet").open("wb") as file:
                    named = table.replace_schema_metadata({"safetab": _NOBODY})
                    pa.parquet.write_table(named, file, compression="zstd")
        (output / PAGE_FILE).write_text(compare_page(comparison), encoding="utf-8")
        (output / "README.txt").write_text(text("readme", nobody=_NOBODY), encoding="utf-8")
        facts = json.dumps(_facts(comparison, request), indent=2, ensure_ascii=False)
        (output / FACTS_FILE).write_text(facts + "\n", encoding="utf-8")
        output.chmod(0o700)  # for the curator alone
        for path in output.iterdir():
            path.chmod(0o600)
    return {name: len(table) for name, table in tables.items()}


def _facts(comparison: Comparison, request: CompareRequest) -> dict[str, object]:
    """What was run, as JSON values."""
    return {
        "program": "safetab",
        "version": VERSION,
        "what": "comparison of protections",
        "warning": _NOBODY,
        "for_release": False,
        "seed": request.seed,
        "test_key_of_safetab": key_of_seed(request.seed).hex(),
        "runs": request.runs,
        "tables": request.tables,
        "facts": dict(comparison.facts),
        "not_finished": list(comparison.not_finished),
        "controls": [asdict(check) for check in comparison.controls],
        "protections": [
            {
                "spec": each.protection.spec,
                "name": each.protection.name,
                "guarantee": each.guarantee,
                "comes_with": each.comes_with,
                "source": each.protection.source and asdict(each.protection.source),
            }
            for each in comparison.protections
        ],
    }
