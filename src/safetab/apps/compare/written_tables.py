"""The folder that `safetab compare` writes, and how programs open its tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from safetab.apps.compare.measures.utility import key_of_seed
from safetab.apps.compare.pages import committee_table
from safetab.apps.compare.pages.compare_page import compare_page
from safetab.apps.compare.pages.words import text
from safetab.apps.compare.results import Claims, Compared, Comparison, Exposure
from safetab.apps.compare.world import FACTS_FILE, PAGE_FILE, CompareRequest
from safetab.foundation.findings import VERSION, InvalidInput
from safetab.foundation.parquet_facts import opened_parquet
from safetab.foundation.result_tables import Result
from safetab.foundation.safe_csv import safe_texts
from safetab.release.outputs.output_folder import whole_output

_COLUMNS = ("protection", "measure", "value", "of")
_EXPOSURE = pa.schema(
    zip(_COLUMNS, [pa.string(), pa.string(), pa.float64(), pa.float64()], strict=True)
)


def write_comparison(out: Path, comparison: Comparison, request: CompareRequest) -> None:
    """Write the page and its numbers, for the curator alone."""
    nobody = text("nobody")
    tables = {
        "committee": committee_table.committee_table(comparison),
        "utility": pa.concat_tables([each.utility for each in comparison.protections]),
        "exposure": _exposure_table(comparison.protections, comparison.baseline),
    }
    with whole_output(out, overwrite=request.options.overwrite) as output:
        for name, table in tables.items():
            with (output / f"{name}.csv").open("wb") as file:  # Arrow opens only UTF-8 paths
                pa.csv.write_csv(safe_texts(table), file)
            if name != "committee":
                with (output / f"{name}.parquet").open("wb") as file:
                    named = table.replace_schema_metadata({"safetab": nobody})
                    pa.parquet.write_table(named, file, compression="zstd")
        (output / PAGE_FILE).write_text(compare_page(comparison), encoding="utf-8")
        (output / "README.txt").write_text(text("readme", nobody=nobody), encoding="utf-8")
        facts = json.dumps(_facts(comparison, request), indent=2, ensure_ascii=False)
        (output / FACTS_FILE).write_text(facts + "\n", encoding="utf-8")
        output.chmod(0o700)  # for the curator alone
        for path in output.iterdir():
            path.chmod(0o600)


def _facts(comparison: Comparison, request: CompareRequest) -> dict[str, object]:
    """The facts of the run, as JSON values."""
    return {
        "program": "safetab",
        "version": VERSION,
        "what": "comparison of protections",
        "warning": text("nobody"),
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
                "guarantee": committee_table.stated_guarantee(each),
                "comes_with": "; ".join(each.comes_with),
                "source": each.protection.source and asdict(each.protection.source),
            }
            for each in comparison.protections
        ],
    }


def _exposure_table(compared: Iterable[Compared], baseline: Exposure | None) -> pa.Table:
    """The measures of every protection, then of the baseline.

    `of` is what the value is a part of.
    """
    exposures = [
        *((each.protection.spec, each.exposure) for each in compared),
        ("baseline", baseline),
    ]
    rows = [
        (spec, *row)
        for spec, exposure in exposures
        if exposure is not None
        for row in _measures(exposure)
    ]
    return pa.Table.from_pylist([dict(zip(_COLUMNS, row, strict=True)) for row in rows], _EXPOSURE)


def _measures(exposure: Exposure) -> Iterator[tuple[str, float | None, float | None]]:
    yield "uniques", exposure.uniques, None
    for name in ("proven", "named", "presence"):
        claims: Claims | None = getattr(exposure, name)
        yield (name, None, None) if claims is None else (name, claims.right, claims.claims)
    yield "groups of 1 or 2", exposure.small_groups, None
    for most, ranked in exposure.ranked.items():
        yield f"ranked among {most}", ranked.right, ranked.claims
    yield "membership advantage", exposure.membership, None
    yield "membership bound of the guarantee", exposure.membership_bound, None
    for splits, share in exposure.averaging.items():
        yield f"totals exact after {splits} splits", share, None
    if exposure.differencing is not None:
        slivers, people = exposure.differencing
        yield "people in slivers that follow", people, slivers
    yield "r-hat", exposure.r_hat, None


@dataclass(frozen=True, slots=True, repr=False)
class OpenedComparison(Result):
    """The tables of a comparison; rows of one protection are found by its spec."""

    folder: Path

    @property
    def _title(self) -> str:
        return f"Comparison of protections in {self.folder}"

    def to_arrow(self) -> pa.Table:
        """The committee's table."""
        return self.table()

    def table(self) -> pa.Table:
        """The committee's table."""
        return pa.csv.read_csv(self.folder / "committee.csv")

    def utility(self, protection: str | None = None) -> pa.Table:
        """The losses of users, by level, size class and sort of number.

        They are those of one protection, or of all.
        """
        return self._of("utility", protection)

    def exposure(self, protection: str | None = None) -> pa.Table:
        """People exposed in the area under attack; of one protection, or of all."""
        return self._of("exposure", protection)

    def _of(self, name: str, protection: str | None) -> pa.Table:
        with opened_parquet(self.folder / f"{name}.parquet") as file:
            table = file.read()
        if protection is None:
            return table
        known = table["protection"].unique().to_pylist()
        if protection not in known:
            raise InvalidInput.about(
                "protection", f"{protection!r} was not compared. Compared: {', '.join(known)}."
            )
        return table.filter(pc.equal(table["protection"], protection))


def open_comparison(path: Path) -> OpenedComparison:
    """Open OUT of `safetab compare`. Raises InvalidInput if it is something else."""
    if not (path / FACTS_FILE).is_file():
        raise InvalidInput.about(str(path), f"is not a comparison: it has no {FACTS_FILE}.")
    return OpenedComparison(path)
