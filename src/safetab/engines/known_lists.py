"""What person records are judged by: as much of the public lists as could be read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from safetab.config.config_file import product_asked_for, read_config, reader_asked_for
from safetab.config.run_config import ReaderKind
from safetab.planning.given_geography import read_given_geography, states_asked_for
from safetab.planning.planner import PublicFiles
from safetab.products.record import RecordLayout
from safetab.readers.public_lists import read_codes

if TYPE_CHECKING:
    from safetab.readers.cef.geography import BlockOids

_EVERY_CODE = frozenset(str(code) for code in range(1000, 10_000))


@dataclass(frozen=True, slots=True, eq=False)
class KnownLists:
    """The codes that there may be, the states of the passes that run, and the blocks of these states, rising.

    Where a list can't be read, every code that it could have is one, and no state is known: then only the form of
    codes and blocks is judged.
    """

    record: RecordLayout
    codes: Collection[str]
    states: tuple[int, ...]
    blocks: NDArray[np.int64]
    reader: ReaderKind = ReaderKind.CSV
    oids: BlockOids | None = None  # of a CEF, if they could be read

    @classmethod
    def of_files(cls, files: PublicFiles) -> Self:
        passes = files.config.passes
        states = tuple(int(state) for which in passes for state in files.config.states_of(which))
        blocks = np.concatenate([files.geography_of_pass[which].block for which in passes])
        return cls(files.config.product.record, files.lists.code_names, states, np.sort(blocks, kind="stable"))

    @classmethod
    def readable(cls, parameters: Path, data: Path, geography_folder: Path | None) -> Self:
        """Reads again what a run that can't begin could read, and leaves out what is wrong."""
        record, reader = product_asked_for(parameters).record, reader_asked_for(parameters, data)
        codes, config = read_codes(parameters).value or _EVERY_CODE, read_config(parameters).value
        given = None if geography_folder is None else read_given_geography(geography_folder, reader, config).value
        states = () if config is None else states_asked_for(config)
        if config is None or given is None:  # the form of a block is judged without states; a CEF has files by state
            kept = states if reader is ReaderKind.CEF else ()
            return cls(record, codes, tuple(map(int, kept)), np.empty(0, dtype=np.int64), reader)
        blocks = given.geography.of_states(states).block
        return cls(record, codes, tuple(map(int, states)), blocks, reader, given.oids)
