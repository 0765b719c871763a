"""The public lists by which records are judged, whether or not a run can begin."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from safetab.inputs.configuration import product_asked_for, read_config, reader_asked_for
from safetab.inputs.planner import PublicFiles
from safetab.inputs.public_files import read_codes, read_given_geography
from safetab.model.config.run_config import ReaderKind, RunConfig
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.products.record import ListedAreas, RecordLayout

if TYPE_CHECKING:
    from safetab.inputs.own_records import OwnIds

_EVERY_CODE = frozenset(str(code) for code in range(1000, 10_000))


@dataclass(frozen=True, slots=True, eq=False)
class KnownLists:
    """The lists by which records are judged.

    The valid codes, the parts of the passes that run, their smallest areas, rising, and all parts
    that there are. If a list can't be read, every code that it could hold is accepted and no part
    runs; then only the form of codes, the form of areas and the part are judged.
    """

    record: RecordLayout
    codes: Collection[str]
    parts: Mapping[int, str]  # their ids by number
    areas: NDArray[np.int64]
    parts_there: frozenset[int]  # asked for or not
    reader: ReaderKind = ReaderKind.CSV
    oids: OwnIds | None = None  # of a CEF, if they could be read

    @classmethod
    def of_files(cls, files: PublicFiles) -> Self:
        """The lists of a run whose public files are right."""
        areas = np.concatenate(
            [files.geography_of_pass[which].smallest for which in files.config.passes]
        )
        is_listed = isinstance(files.config.product.record.area, ListedAreas)
        parts = {} if is_listed else _parts_by_number(files.config)
        parts_there = files.config.census.parts_there
        areas = np.sort(areas, kind="stable")
        return cls(files.config.product.record, files.lists.code_names, parts, areas, parts_there)

    @classmethod
    def readable(cls, parameters: Path, data: Path, geography_folder: Path | None) -> Self:
        """The lists that can be read although the run can't begin, without what is wrong."""
        record = product_asked_for(parameters, data).record
        reader = reader_asked_for(parameters, data)
        codes = read_codes(parameters).value or _EVERY_CODE
        config = read_config(parameters, data).value
        given = (
            None
            if geography_folder is None
            else read_given_geography(geography_folder, reader, config).value
        )
        parts = {} if config is None else _parts_by_number(config)
        there = DEFAULT_CENSUS.parts_there
        # A CEF has files by part; areas of other records are judged by their form alone.
        if config is None or given is None:
            nowhere = np.empty(0, dtype=np.int64)
            return cls(
                record, codes, parts if reader is ReaderKind.CEF else {}, nowhere, there, reader
            )
        return cls(
            record,
            codes,
            parts,
            given.geography.of_parts(parts).smallest,
            there,
            reader,
            given.oids,
        )


def _parts_by_number(config: RunConfig) -> Mapping[int, str]:
    return {config.census.part.ids.number(part): part for part in config.parts_asked_for}
