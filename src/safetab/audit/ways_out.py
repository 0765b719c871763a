"""Equal noisy numbers, equal bytes: on every way out, and for thousands of records.

Other records are always more records: a group that is empty in the first world alone is asked for its noise in the
second one, and has it there as it would have had it here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from safetab.audit.audited_product import AuditedProduct, People, Way
from safetab.audit.audited_runs import WAYS, Setting, audited_run, different_files
from safetab.audit.published_check import PUBLISHED, published_check
from safetab.audit.verdicts import Verdict, verdict
from safetab.privacy.addressed_bits import KEY_BYTES

WAYS_OUT, SCALE = "equal numbers on every way out", "thousands of records, equal numbers"


def way_checks(
    audited: AuditedProduct, folder: Path, chosen: Sequence[Way], key: bytes | None = None
) -> Iterator[Verdict]:
    for number, way in enumerate(chosen):
        few, many = audited.population, audited.several_more
        yield from _replayed(f"{WAYS_OUT}: {way.name}", folder / str(number), few, many, _setting(audited, way, key))


def scale_checks(audited: AuditedProduct, folder: Path, key: bytes | None = None) -> Iterator[Verdict]:
    """Two thirds of the records are removed at once, and the rows are shuffled."""
    return _replayed(SCALE, folder, audited.few, audited.many, _setting(audited, WAYS[3], key))


def _setting(audited: AuditedProduct, way: Way, key: bytes | None) -> Setting:
    return Setting(audited, key or os.urandom(KEY_BYTES), way)


def _replayed(name: str, folder: Path, few: People, many: People, setting: Setting) -> Iterator[Verdict]:
    """Whether the way can be seen from outside; and whether what it published is what the rules say."""
    one = audited_run(folder / "few", few, setting)
    other = audited_run(folder / "many", many, replace(setting, replayed=one.record))
    faults = different_files(one.released, other.released)
    seen = f"{len(one.released)} files, {len(few):,} and {len(many):,} {setting.audited.product.record.nouns}"
    yield verdict(name, faults, seen, could_find=bool(one.released))
    found = published_check(one, folder / "few" / "out", setting.key)
    yield replace(found, check=f"{PUBLISHED}: {setting.way.name}")
