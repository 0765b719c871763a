"""The JSON Schemas and the page about specifications are made from the declared keys, and say what the reader does."""

import json
import re
import tomllib

import pytest

from tests.conftest import SHARED, SMALL_EXAMPLE
from tests.inside import SPECIFICATION, FindingsOf, Reading, compile_folder
from tests.lint.texts import text_of
from tests.unit.model.test_specification_reading import BROKEN
from tests.worlds.specified.small_text import SMALL
from tools.docs.generated.__main__ import generated_files
from tools.docs.generated.schemas import census_schema, config_schema
from tools.docs.generated.specification_page import EXAMPLE, tables_of

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
KEYS = [(path, key) for path, table in tables_of("", SPECIFICATION) for key in table.keys]
KNOWN = set(
    str.split("""$schema title description type enum anyOf properties required additionalProperties items minItems maxItems uniqueItems
    propertyNames pattern maxLength minimum maximum exclusiveMinimum exclusiveMaximum""")
)


def is_of(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def faults(value, schema, where=""):  # noqa: C901 - one branch for each word
    """What a schema says is wrong with a value, for the words of JSON Schema that ours have."""
    if isinstance(schema, bool):
        return [] if schema else [f"{where}: unknown"]
    assert set(schema) <= KNOWN
    found = []
    types = schema.get("type", [])
    if types and not any(is_of(value, name) for name in ([types] if isinstance(types, str) else types)):
        return [f"{where}: type"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: enum")
    if "anyOf" in schema and all(faults(value, each) for each in schema["anyOf"]):
        found.append(f"{where}: anyOf")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        found += [f"{where}.{key}: missing" for key in schema.get("required", ()) if key not in value]
        for key, each in value.items():
            found += faults(each, properties.get(key, schema.get("additionalProperties", True)), f"{where}.{key}")
            found += faults(key, schema.get("propertyNames", True), f"{where}.{key}")
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{where}: number of items")
        for each in value:
            found += faults(each, schema.get("items", True), f"{where}[]")
    elif isinstance(value, str):
        if not re.search(schema.get("pattern", ""), value) or len(value) > schema.get("maxLength", len(value)):
            found.append(f"{where}: text")
    elif not isinstance(value, bool) and (
        not schema.get("minimum", value) <= value <= schema.get("maximum", value)
        or value <= schema.get("exclusiveMinimum", value - 1)
        or value >= schema.get("exclusiveMaximum", value + 1)
    ):
        found.append(f"{where}: range")
    return found


@pytest.mark.parametrize("path", generated_files(), ids=lambda path: path.name)
def test_a_generated_file_is_what_would_be_generated(path):
    assert path.read_text() == generated_files()[path], "run `python -m tools.docs.generated`"


@pytest.mark.parametrize("key", [key for _, key in KEYS], ids=[f"{path}.{key.name}" for path, key in KEYS])
def test_every_key_has_a_meaning_and_an_example_that_is_right(key):
    assert re.fullmatch(r"[A-Z].*\.", key.meaning)
    if key.example.startswith("["):  # a section
        return
    findings = FindingsOf("example")
    assert key.kind.read(tomllib.loads(key.example)[key.name], key.name, Reading(findings)) is not None
    assert findings.findings == ()


def test_the_page_has_every_key():
    page = text_of("docs/specification.md")
    assert len(KEYS) > 100
    assert all(f"| `{key.name}` | " in page for _, key in KEYS)


def test_the_whole_specification_of_the_page_is_right(tmp_path):
    assert f"```toml\n{EXAMPLE}```" in text_of("docs/specification.md")
    headers = dict(re.findall(r'^file +=.*"(\w+\.csv)" +# ([\w,]+)$', EXAMPLE, re.MULTILINE))
    rows = {"areas.csv": "01,N,The North\n02,S,The South\n", "languages.csv": "cy,Welsh\nga,Irish\n"}
    for name, header in headers.items():
        (tmp_path / name).write_text(f"{header}\n{rows[name]}")
    (tmp_path / "census.toml").write_text(EXAMPLE)
    compiled = compile_folder(tmp_path)
    assert (compiled.value is not None, compiled.findings) == (True, ())
    assert faults(tomllib.loads(EXAMPLE), census_schema()) == []


def test_the_schema_accepts_what_the_reader_accepts():
    assert faults(tomllib.loads(SMALL), census_schema()) == []


@pytest.mark.needs_2020_files
def test_the_schema_accepts_the_designed_specifications():
    files = sorted(SHARED.glob("census/*/census.toml"))
    if not files:
        pytest.skip("the designed specifications are not there")
    for path in files:
        assert faults(tomllib.loads(path.read_text()), census_schema()) == [], path


@pytest.mark.parametrize(
    "name",
    str.split(
        "version, unknown key, missing key, a number for a text, product name, path, backslash, separator, type of a field, "
        "name of a level, gaps, members, words, definition, stage 1, budget of 0, threshold",
        ", ",
    ),
)
def test_the_schema_refuses_what_has_the_wrong_form(name):
    right, wrong, _ = BROKEN[name]
    assert faults(tomllib.loads(SMALL.replace(right, wrong, 1)), census_schema()) != []


def test_the_schema_accepts_the_examples_of_config_json():
    files = [*SHARED.glob("cases/*/parameters/config.json"), *SHARED.glob("households/*/*/config.json")]
    files += [*SHARED.glob("spec-2020/config.json"), SMALL_EXAMPLE / "parameters" / "config.json"]
    for path in files:
        config = json.loads(path.read_text())
        assert faults(config, config_schema()) == [], path
        assert faults({**config, "max_race_codes": 9}, config_schema()) != []
        assert faults({key: config[key] for key in config if key != "run_us"}, config_schema()) != []
