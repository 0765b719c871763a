"""A census shaped like New Zealand's that a person can count, and ways to change it. Lists are made up."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.worlds.specified.toml_text import toml_of

CODES = """code,name,level1,level1_name,level2,level2_name
11111,New Zealand European,1,European,11,New Zealand European
12411,Polish,1,European,12,Other European
21111,Māori,2,Māori,21,Māori
31111,Samoan,3,Pacific Peoples,31,Samoan
33111,Tongan,3,Pacific Peoples,33,Tongan
94444,Don't know,,,,
99999,Not stated,,,,
"""
AREAS = """SA1,SA2,TA,REGC
7000001,s1,t1,01
7000002,s1,t2,01
7000003,s2,t2,02
7000004,s3,none,02
"""
PEOPLE = """SA1,RESIDENT,AGE,GENDER,ETH1,ETH2,ETH3
7000001,1,34,1,11111,,
7000001,1,+07,2,11111,21111,
7000001,1,70,3,31111,33111,
7000002,1,015,1,12411,11111,12411
7000003,1,64,2,21111,94444,
7000003,0,64,2,21111,,
7000004,1,65,1,31111,11111,21111
7000004,1,0,2,99999,,
"""
GENDERS = [("1", "male"), ("2", "female"), ("3", "another gender")]


def nz_keys() -> dict[str, Any]:
    """The keys of the specification, to be changed freely."""
    level = {"of": "ethnicity", "members": ["any", "only"]}
    return deepcopy(
        {
            "census": 1,
            "about": {
                "name": "Small NZ",
                "title": "Ethnic groups",
                "agency": "example",
                "record": "person",
                "records": "people",
                "group": "ethnic group",
                "groups": "ethnic groups",
            },
            "records": {
                "file": "people",
                "where": {"RESIDENT": "1"},
                "fields": [
                    {"name": "SA1", "type": "string"},
                    {"name": "RESIDENT", "type": "string", "constraints": {"enum": ["0", "1"]}},
                    {
                        "name": "AGE",
                        "attribute": "age",
                        "unit_name": "years",
                        "type": "integer",
                        "constraints": {"minimum": 0, "maximum": 120},
                    },
                    {
                        "name": "GENDER",
                        "attribute": "gender",
                        "type": "string",
                        "categories": [{"value": value, "label": label} for value, label in GENDERS],
                    },
                    *({"name": f"ETH{place}", "type": "string"} for place in (1, 2, 3)),
                ],
            },
            "areas": {
                "file": "areas.csv",
                "key": ["SA1"],
                "levels": [
                    {"name": "nation", "whole": "NZ", "noun": "nation"},
                    {"name": "region", "id": ["REGC"], "noun": "region", "nouns": "regions"},
                    {"name": "ta", "id": ["TA"], "nowhere": "none", "noun": "authority", "nouns": "authorities"},
                    {"name": "sa2", "id": ["SA2"], "noun": "area", "nouns": "areas"},
                ],
            },
            "classifications": {
                "ethnicity": {
                    "file": "ethnicity.csv",
                    "columns": ["ETH1", "ETH2", "ETH3"],
                    "residual": ["94444", "99999"],
                }
            },
            "groups": {
                "levels": [
                    {"name": "level 1", "title": "Level 1", "column": "level1", "names": "level1_name", **level},
                    {
                        "name": "level 2",
                        "title": "Level 2",
                        "column": "level2",
                        "names": "level2_name",
                        "of": "ethnicity",
                        "members": ["any"],
                    },
                ]
            },
            "tables": [
                {
                    "name": "gender and age",
                    "detail": "gender by age",
                    "shapes": [
                        {"id": "E1", "label": "total", "title": "Total"},
                        {
                            "id": "E2",
                            "label": "gender_age",
                            "title": "Gender by age",
                            "by": ["gender", "age"],
                            "breaks": {"age": [0, 15, 65]},
                        },
                    ],
                }
            ],
            "privacy": {
                "definition": "zcdp",
                "selector": "stage 1",
                "stage_1": Decimal("0.1"),
                "suppress": {"chance": Decimal("0.9999"), "areas": ["ta", "sa2"]},
                "levels": [
                    {
                        "groups": ["level 1", "level 2"],
                        "areas": ["nation", "region", "ta", "sa2"],
                        "budget": 1,
                        "thresholds": [300],
                    }
                ],
            },
        }
    )


def write_specification(
    folder: Path, keys: dict[str, Any], people: str = PEOPLE, files: dict[str, str] | None = None
) -> tuple[Path, Path]:
    """The folders of the parameters and of the data."""
    parameters, data = folder / "parameters", folder / "data"
    for each in (parameters, data):
        each.mkdir(parents=True)
    texts = {"census.toml": toml_of(keys), "ethnicity.csv": CODES, "areas.csv": AREAS} | (files or {})
    for name, text in texts.items():
        (parameters / name).write_text(text, encoding="utf-8")
    (data / "people.csv").write_text(people, encoding="utf-8")
    return parameters, data
