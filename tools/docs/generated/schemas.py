"""JSON Schemas of census.toml and config.json, with which editors complete and check."""

from __future__ import annotations

import json
from typing import Any

from safetab.inputs.bureau.config_file import READER_KEY
from safetab.model.config.run_config import ReaderKind, budget_key, measured_levels, threshold_key
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import PRODUCTS, as_shipped
from safetab.model.products.product import Product
from safetab.model.specification.kinds import (
    MOST_PATTERN,
    Boolean,
    Kind,
    ListOf,
    MapOf,
    Number,
    Pattern,
    Table,
    Text,
    Value,
    Whole,
)
from safetab.model.specification.values import INHERITED, SPECIFICATION
from safetab.model.us.states import US_STATES
from safetab.model.us.us_census import US

Schema = dict[str, Any]
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_IN_ANOTHER_FILE = ("privacy", *INHERITED)


def schema_text(schema: Schema) -> str:
    """The text of a schema file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def census_schema() -> Schema:
    """The schema of census.toml."""
    schema = schema_of(SPECIFICATION)
    schema["required"] = [key for key in schema["required"] if key not in _IN_ANOTHER_FILE]
    lent = {"anyOf": [{"required": ["like"]}, {"required": list(INHERITED)}]}
    return {
        "$schema": DRAFT,
        "title": "census.toml: the specification of a census",
        **schema,
        **lent,
    }


def schema_of(kind: Kind) -> Schema:  # noqa: C901, PLR0911 - one case for each kind
    """The schema of one kind of value."""
    match kind:
        case Text(choices=choices) if choices:
            return {"enum": list(choices)}
        case Text(pattern=pattern, most=most):
            return {"type": "string", "pattern": f"^(?:{pattern})$", "maxLength": most}
        case Pattern():
            return {"type": "string", "maxLength": MOST_PATTERN}
        case Whole(low=low, high=high):
            return {"type": "integer", "minimum": low, "maximum": high}
        case Number(above=above, at_least=least, below=below):
            bounds = {"exclusiveMinimum": above, "minimum": least, "exclusiveMaximum": below}
            return {"type": "number"} | {
                name: bound for name, bound in bounds.items() if bound is not None
            }
        case Boolean():
            return {"type": "boolean"}
        case Value():
            return {"type": ["string", "integer", "boolean"]}
        case ListOf(of=of, or_one=or_one, may_be_empty=may_be_empty):
            listed = {"type": "array", "items": schema_of(of), "minItems": 0 if may_be_empty else 1}
            return {"anyOf": [schema_of(of), listed]} if or_one else listed
        case MapOf(of=of, names=names):
            return {
                "type": "object",
                "propertyNames": schema_of(names),
                "additionalProperties": schema_of(of),
            }
        case Table(keys=keys):
            properties = {
                key.name: {**schema_of(key.kind), "description": key.meaning} for key in keys
            }
            required = [key.name for key in keys if key.required]
            return {
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
                "required": required,
            }
    raise TypeError(kind)


def config_schema() -> Schema:
    """The schema of config.json, for either product.

    Unknown keys are warnings, so the schema allows them.
    """
    schema = {"title": "config.json: the parameters of SafeTab-P or SafeTab-H", "type": "object"}
    return {"$schema": DRAFT, **schema, "anyOf": [_config_of(product) for product in PRODUCTS]}


def _config_of(product: Product) -> Schema:
    """The keys of one product."""
    shipped = as_shipped(product)
    boolean = {"type": "boolean"}
    properties: Schema = {
        "privacy_defn": {"enum": [definition.spelling for definition in PrivacyDefinition]},
        "run_us": boolean,
        "run_pr": boolean,
        "max_race_codes": {"type": "integer", "minimum": 1, "maximum": 8},
        "allow_negative_counts": boolean,
        "state_filter_us": {
            "type": "array",
            "items": {"enum": sorted(US_STATES)},
            "uniqueItems": True,
        },
        READER_KEY: {"enum": [reader.value for reader in ReaderKind]},
    }
    for family, level in measured_levels(product, US.levels):
        properties[budget_key(product, family, level)] = {"type": "number", "minimum": 0}
    for family in product.families:
        of_level = {"type": "array", "items": {"type": "integer"}, "minItems": len(family.finer)}
        levels = {
            threshold_key(level): {**of_level, "maxItems": len(family.finer)} for level in US.levels
        }
        properties[shipped.family_keys[family.name].thresholds] = {
            "type": "object",
            "properties": levels,
        }
    if shipped.stage_1_key is not None:
        properties[shipped.stage_1_key] = {
            "type": "number",
            "exclusiveMinimum": 0,
            "exclusiveMaximum": 1,
        }
    required = list(properties)
    if shipped.suppression_key is not None:
        properties[shipped.suppression_key] = {
            "type": "number",
            "minimum": 0,
            "exclusiveMaximum": 1,
        }
    return {"title": product.name, "properties": properties, "required": required}
