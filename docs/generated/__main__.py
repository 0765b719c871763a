"""Writes every generated file; tests compare them with what is made here."""

from __future__ import annotations

from pathlib import Path

from docs.generated.json_schemas import json_schemas
from docs.generated.schemas import census_schema, config_schema, schema_text
from docs.generated.specification_page import specification_page

PROJECT = Path(__file__).parents[2]


def generated_files() -> dict[Path, str]:
    """The text of each generated file."""
    printed = PROJECT / "docs" / "schemas"
    schemas = PROJECT / "src" / "safetab" / "model" / "specification"
    return {
        PROJECT / "docs" / "specification.md": specification_page(),
        schemas / "census.schema.json": schema_text(census_schema()),
        schemas / "config.schema.json": schema_text(config_schema()),
        **{printed / name: schema_text(schema) for name, schema in json_schemas().items()},
    }


if __name__ == "__main__":
    for path, text in generated_files().items():
        path.write_text(text, encoding="utf-8")
