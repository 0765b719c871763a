"""Writes every generated file; tests compare them with what is made here."""

from __future__ import annotations

from pathlib import Path

from tools import PROJECT
from tools.docs.generated import quoted_contract
from tools.docs.generated.json_schemas import json_schemas
from tools.docs.generated.schemas import census_schema, config_schema, schema_text
from tools.docs.generated.specification_page import specification_page


def generated_files() -> dict[Path, str]:
    """The text of each generated file."""
    printed = PROJECT / "docs" / "schemas"
    schemas = PROJECT / "src" / "safetab" / "model" / "specification"
    return {
        PROJECT / "docs" / "specification.md": specification_page(),
        quoted_contract.PAGE: quoted_contract.quoting_page(),
        schemas / "census.schema.json": schema_text(census_schema()),
        schemas / "config.schema.json": schema_text(config_schema()),
        **{printed / name: schema_text(schema) for name, schema in json_schemas().items()},
    }


if __name__ == "__main__":
    for path, text in generated_files().items():
        path.write_text(text, encoding="utf-8")
