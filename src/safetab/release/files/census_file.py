"""census.json: the specification of a release's census.

It opens the release without any other file. Releases without it are of the census that is meant
where no file names another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from safetab.foundation.findings import FindingsOf
from safetab.foundation.parquet_facts import opened_parquet
from safetab.model.census.area_levels import TextIds
from safetab.model.census.census import Census
from safetab.model.census_value import PublicFacts, census_of, passes_of
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.products.all_products import product_named
from safetab.model.products.product import Product
from safetab.model.products.record import record_layout_of
from safetab.model.products.specified import product_of
from safetab.model.specification.reading import specification_of_keys
from safetab.model.specification.values import Specification
from safetab.model.specification.writing import keys_of
from safetab.release.outputs.manifest import write_json

CENSUS_FILE = "universe/census.json"
ENTITIES_FILE = "universe/entities.parquet"


@dataclass(frozen=True, slots=True)
class ReleasedCensus:
    """A release's census and product, and the specification that they come from, if any."""

    census: Census
    product: Product
    specification: Specification | None = None


def write_census(release: Path, specification: Specification, census: Census) -> None:
    """Write census.json.

    It has the keys of the specification, and what its public files say of levels and groups.
    """
    document = {
        "specification": keys_of(specification),
        "parents": {
            kind.name: kind.parent.name for kind in census.kinds if kind.parent is not None
        },
        "part": census.part.name if census.part in census.kinds else None,
        "group_kinds": [kind.name for kind in census.group_kinds],
    }
    write_json(release / CENSUS_FILE, document)


def read_census(release: Path, product: str | None) -> ReleasedCensus:
    """The census of a release whose product has this name.

    Raises KeyError, ValueError or an Arrow error if a file is damaged.
    """
    path = release / CENSUS_FILE
    if not path.is_file():
        return ReleasedCensus(DEFAULT_CENSUS, product_named(product))
    document = json.loads(path.read_text(encoding="utf-8"))
    specification = specification_of_keys(document["specification"], FindingsOf(CENSUS_FILE))
    if specification is None:
        raise ValueError(CENSUS_FILE)
    ids, (parents, part) = (
        _ids_of_levels(release, specification),
        (document["parents"], document["part"]),
    )
    census = census_of(
        specification, PublicFacts(ids, parents, part, frozenset(document["group_kinds"]))
    )
    made = product_of(specification, record_layout_of(specification, {}, ()))
    return ReleasedCensus(census, made, specification)


def _ids_of_levels(release: Path, specification: Specification) -> dict[str, TextIds]:
    """The ids of areas by the name of their level, from the entities of all passes."""
    with opened_parquet(release / ENTITIES_FILE) as file:
        listed = file.read(columns=["geography_level", "region_id"])
    ids: dict[str, set[str]] = {level.name: set() for level in specification.areas.levels}
    level_of = {
        label: level for one in passes_of(specification) for level, label in one.levels.items()
    }
    for label, region in zip(*(column.to_pylist() for column in listed.columns), strict=True):
        ids[level_of[label]].add(region)
    return {name: TextIds(tuple(sorted(texts, key=str.encode))) for name, texts in ids.items()}
