"""JSON Schemas of the documents that commands print with --json, one for each command."""

from __future__ import annotations

from safetab.cli.settings import flag_of
from safetab.runs.declared_options import SETTINGS
from tools.docs.generated.schemas import DRAFT, Schema

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
CHANCE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TRUTH: Schema = {"type": "boolean"}
EXACT: Schema = {"type": "string", "pattern": r"^-?\d+([.]\d+|/\d+)?$"}
OPTIONAL = "?"
"""The end of the name of a key that is not always there."""
PATTERN = "^"
"""The start of a pattern for names that depend on the census."""
ENDS = (0, 1, 2, 3)


def listed(items: Schema, **more: object) -> Schema:
    """A list of such values."""
    return {"type": "array", "items": items, **more}


def by_name(values: Schema) -> Schema:
    """An object with such values under names that depend on the census."""
    return {"type": "object", "additionalProperties": values}


def one_of(*values: str) -> Schema:
    """One of these texts."""
    return {"enum": list(values)}


def or_null(schema: Schema) -> Schema:
    """Such a value, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def exactly(**keys: Schema) -> Schema:
    """An object with these keys and no others."""
    named = {
        name.removesuffix(OPTIONAL): schema
        for name, schema in keys.items()
        if not name.startswith(PATTERN)
    }
    patterns = {name: schema for name, schema in keys.items() if name.startswith(PATTERN)}
    schema = {
        "type": "object",
        "properties": named,
        "required": required(keys),
        "additionalProperties": False,
    }
    return schema | ({"patternProperties": patterns} if patterns else {})


def required(keys: dict[str, Schema]) -> list[str]:
    """The names of the keys that are always there."""
    return [name for name in keys if not name.endswith(OPTIONAL) and not name.startswith(PATTERN)]


STATUS_KEYS = {
    "status": one_of("for release", "synthetic", "test key", "no protection", "official"),
    "status_sentence": TEXT,
    "for_release": TRUTH,
}
WRITTEN = {"written": listed(TEXT, minItems=1)}
ROWS = {"rows": by_name(COUNT)}
FINDING = exactly(
    severity=one_of("error", "warning"),
    file=TEXT,
    where=TEXT,
    rule=or_null(TEXT),
    rows=or_null(COUNT),
    message=TEXT,
)


def loss() -> Schema:
    """A privacy loss: rho with epsilons under zCDP, epsilon alone under pure DP."""
    by_delta = by_name(NUMBER)
    epsilons = {
        "delta": NUMBER,
        "unbounded_epsilon": NUMBER,
        "bounded_epsilon": NUMBER,
        "unbounded_epsilon_by_delta": by_delta,
        "bounded_epsilon_by_delta": by_delta,
    }
    zcdp = exactly(unbounded_rho=EXACT, bounded_rho=EXACT, **epsilons)
    return {"anyOf": [zcdp, exactly(unbounded_epsilon=EXACT, bounded_epsilon=EXACT)]}


def number() -> Schema:
    """A published number, or a sum of some, with its precision."""
    precision = {
        "estimate": NUMBER,
        "margin_of_error": NUMBER,
        "interval": listed(NUMBER, minItems=2, maxItems=2),
        "confidence": EXACT,
        "holds_confidence": TRUTH,
        "variance": NUMBER,
    }
    label = {"type": ["string", "integer"]}
    return exactly(
        **COUNTED,
        table=TEXT,
        lines=listed(exactly(line=COUNT, labels=by_name(label)), minItems=1),
        published=or_null(WHOLE),
        **precision,
        combined=or_null(exactly(**precision)),
        notes=listed(TEXT),
    )


COUNTED = {
    "what": TEXT,
    "geography_level": TEXT,
    "region_id": TEXT,
    "region_name": TEXT,
    "iteration_code": TEXT,
    "iteration_name": TEXT,
    "iteration_level": TEXT,
}
ABSENCE = exactly(
    **COUNTED,
    status=one_of(
        "suppressed", "withheld", "no published total", "not in the files", "not tabulated"
    ),
    reason=TEXT,
    at_most=or_null(WHOLE),
    confidence=EXACT,
    hint=or_null(TEXT),
    instead=listed(number()),
)
GROUP = exactly(
    geography_level=TEXT,
    region_id=TEXT,
    region_name=TEXT,
    iteration_code=TEXT,
    iteration_name=TEXT,
    status=one_of(
        "published",
        "copied",
        "withheld",
        "suppressed",
        "no published total",
        "not in the files",
        "not tabulated",
    ),
    table=or_null(TEXT),
    reason=or_null(TEXT),
    donor_geography_level=or_null(TEXT),
    donor_region_id=or_null(TEXT),
    **{"family?": TEXT},
)
VERDICT = exactly(
    part=TEXT,
    claim=TEXT,
    check=TEXT,
    result=one_of("passed", "failed", "not shown"),
    faults=listed(TEXT),
    seen=TEXT,
    would_have_found=TEXT,
)
AUDIT = {
    "version?": TEXT,
    "date?": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
    "form?": one_of("quick", "full"),
    "summary?": exactly(checks=COUNT, passed=COUNT, failed=COUNT, not_shown=COUNT),
    "conclusion?": TEXT,
    "verdicts?": listed(VERDICT),
}
NOISE_CHECKS = listed(exactly(check=TEXT, is_right=TRUTH, p_value=CHANCE), minItems=1)
LEVEL_NAME = {"geography_level": TEXT, "iteration_level": TEXT}
MOST_ANSWERS = {"max_race_codes?": COUNT, "^use[.]": COUNT}
BY_SYMBOL = by_name(or_null(EXACT))


def plan() -> Schema:
    """What `plan` answers."""
    zcdp = exactly(budget=EXACT, mechanism=TEXT, sigma_squared=EXACT, sigma=NUMBER)
    pure = exactly(budget=EXACT, mechanism=TEXT, scale_exact=EXACT, scale=NUMBER)
    level = exactly(
        **{"pass": TEXT},
        **LEVEL_NAME,
        **{"family?": TEXT, "groups_with_a_published_total?": COUNT},
        entities=COUNT,
        iterations=COUNT,
        adaptive_iterations=COUNT,
        total_only_iterations=COUNT,
        groups=COUNT,
        stability=COUNT,
        budget=EXACT,
        thresholds=listed(WHOLE),
        stages=by_name({"anyOf": [zcdp, pure]}),
        suppression_threshold=or_null(WHOLE),
        margins_of_error=by_name({"anyOf": [or_null(COUNT), by_name(COUNT)]}),
        if_all_groups_are_empty=by_name(or_null(NUMBER)),
    )
    levels = listed(exactly(**LEVEL_NAME))
    setting = exactly(value={"type": ["string", "integer", "null"]}, **{"from": TEXT})
    joint = {"type": "object", "properties": {"change": TEXT}, "required": ["change"]}
    of_pass = exactly(
        **{"rho?": EXACT, "epsilon?": {"type": ["string", "number"]}, "delta?": NUMBER}
    )
    reference = {
        "type": "object",
        "properties": {"name": TEXT},
        "required": ["name", "unbounded_rho", "bounded_rho"],
    }
    return {
        "product": TEXT,
        "protected?": TEXT,
        "about_public_files?": TEXT,
        "stability?": listed(TEXT),
        "public_files?": by_name({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
        "privacy_definition": TEXT,
        **MOST_ANSWERS,
        "stage_1_fraction": EXACT,
        "zero_suppression_chance": EXACT,
        "confidence": EXACT,
        "levels": listed(level),
        "levels_left_out": levels,
        "levels_without_protection": levels,
        "no_protection": or_null(TEXT),
        "groups": COUNT,
        "loss": by_name(loss()),
        "loss_of_2020?": loss(),
        "loss_of_reference?": reference,
        "privacy_warnings": listed(TEXT),
        "settings": exactly(**{flag_of(name): setting for name in SETTINGS}),
        "joint_loss?": listed({**joint, "additionalProperties": of_pass}),
    }


def spend() -> Schema:
    """What `spend` answers."""
    account = exactly(
        datasets=listed(TEXT),
        **{"pass": TEXT},
        definitions=listed(TEXT),
        spent=BY_SYMBOL,
        limit=BY_SYMBOL,
        limit_set_utc=by_name(TEXT),
        left=BY_SYMBOL,
        runs=COUNT,
    )
    return {"accounts?": listed(account), "in_doubt?": COUNT, "written?": listed(TEXT)}


def tune() -> dict[str, Schema]:
    """What each question of `tune` answers."""
    named = {"level": TEXT, "family?": TEXT}
    concerns = {
        "concerns": listed(exactly(**{"level": or_null(TEXT), "family?": TEXT, "text": TEXT}))
    }
    paper = {"stability": COUNT, "stage_1_fraction": EXACT}
    margins = by_name({"anyOf": [or_null(COUNT), by_name(COUNT)]})
    moe = exactly(
        level=TEXT,
        target_margin=COUNT,
        exact_margin=COUNT,
        least_total_rho=EXACT,
        saving=NUMBER,
        **{
            f"{kind}_{share}_rho": EXACT
            for kind in ("unbounded", "bounded")
            for share in ("step_2", "total")
        },
    )
    level = exactly(
        **named,
        groups=COUNT,
        stability=COUNT,
        budget=EXACT,
        share=NUMBER,
        thresholds=listed(WHOLE),
        margins_of_error=by_name(margins),
        **{"sigma?": by_name(TEXT), "scale?": by_name(TEXT)},
        **{"suppression_threshold?": or_null(WHOLE), "empty_groups_published?": or_null(NUMBER)},
    )
    cost = exactly(
        unbounded=EXACT,
        bounded=EXACT,
        **{"delta?": NUMBER, "unbounded_epsilon?": NUMBER, "bounded_epsilon?": NUMBER},
    )
    compared = exactly(
        **named, margin=COUNT, gaussian_rho=EXACT, geometric_epsilon=EXACT, geometric_rho=NUMBER
    )
    changed = exactly(
        **MOST_ANSWERS, stability=COUNT, margin=COUNT, margin_change=NUMBER, deviation_change=NUMBER
    )
    size = exactly(size=COUNT, suppressed=CHANCE, tables=by_name(CHANCE), bias=or_null(NUMBER))
    total = exactly(first=COUNT, last=or_null(COUNT), table=TEXT, margins_of_error=margins)
    answers: dict[str, Schema] = {
        "table-moe": {"confidence": EXACT, **paper, "rows": listed(moe)},
        "table-thresholds": {
            "zero_suppression_chance": EXACT,
            **paper,
            "rows": listed(exactly(rho=EXACT, threshold=COUNT)),
        },
        "levels": {
            "privacy_definition": TEXT,
            **MOST_ANSWERS,
            "product?": TEXT,
            "unit?": TEXT,
            "threshold_unit?": TEXT,
            "levels": listed(level),
            "groups": COUNT,
            "empty_groups_published?": or_null(NUMBER),
            "loss": by_name(cost),
        },
        "budget": {
            **named,
            "asked_margin": COUNT,
            "confidence": EXACT,
            "unit": TEXT,
            "least_budget": EXACT,
            "margin": COUNT,
            "paper_budget": or_null(NUMBER),
            "saving": or_null(NUMBER),
            "budget_now": EXACT,
        },
        "threshold": {
            **named,
            "table": TEXT,
            "number": TEXT,
            "confidence": EXACT,
            "margin": COUNT,
            "relative_margin": EXACT,
            "size": COUNT,
            "threshold_now": or_null(COUNT),
            "unit?": TEXT,
            "threshold_unit?": TEXT,
            "cautious_threshold?": or_null(COUNT),
            "suppression_threshold?": or_null(COUNT),
            "relative_margin_now?": or_null(NUMBER),
            "people_per_record_at_threshold_now?": or_null(NUMBER),
        },
        "margins": {
            "pass": TEXT,
            "confidence": EXACT,
            "unit": TEXT,
            "total": EXACT,
            "spent": EXACT,
            "left": EXACT,
            "levels": listed(exactly(**named, margin=COUNT, budget=EXACT)),
        },
        "noise": {
            "delta": EXACT,
            "confidence": EXACT,
            "gaussian_rho": EXACT,
            "gaussian_epsilon": EXACT,
            "geometric_epsilon_pure": EXACT,
            "geometric_epsilon_by_zcdp": EXACT,
            "levels": listed(compared),
        },
        "codes": {**named, "budget": EXACT, "confidence": EXACT, "codes": listed(changed)},
        "curve": {
            **named,
            "suppression_threshold?": or_null(WHOLE),
            "sizes?": listed(size),
            "unit?": TEXT,
            "threshold_unit?": TEXT,
            "totals?": listed(total),
        },
    }
    return {f"tune {question}": answer | concerns for question, answer in answers.items()}


def answers() -> dict[str, Schema]:
    """The keys that each command adds to those of every document."""
    cost = {
        "protected": TEXT,
        "privacy_definition": TEXT,
        "loss": by_name(loss()),
        "privacy_warnings": listed(TEXT),
    }
    remarks = ("groups_of_unknown_tables", "withheld", "copied_groups", "differing_groups")
    left_out = {"left_out": by_name(COUNT), "not_tabulated": by_name(COUNT)}
    compared = {"protections?": listed(TEXT), "not_finished?": listed(TEXT), "text?": TEXT}
    answer = {
        "answer": one_of("number", "absence", "table", "list"),
        "numbers": listed(number()),
        "absent": listed(ABSENCE),
        "withheld": listed(TEXT),
        "notes": listed(TEXT),
    }
    row = {
        "kind": one_of("choice", "loss", "level", "area", "group", "code", "key"),
        "where": TEXT,
        "what": TEXT,
    }
    changes = listed(exactly(**row, before=or_null(TEXT), after=or_null(TEXT)))
    verified = {
        "status": STATUS_KEYS["status"],
        "for_release": TRUTH,
        "numbers": COUNT,
        "has_measurements": TRUTH,
        "signed_by": or_null(TEXT),
        "signed_on": or_null(TEXT),
        "key_was_given": TRUTH,
        "covers_output": TRUTH,
    }
    site = {"numbers": COUNT, "files": COUNT, "bytes": COUNT, "shapes_without_area": or_null(COUNT)}
    return {
        "demo": {**WRITTEN, "pages": listed(TEXT)},
        "new": WRITTEN,
        "synthesize": {**WRITTEN, "people": COUNT},
        "validate": {},
        "plan": plan(),
        "run": {**WRITTEN, **ROWS, **cost, **STATUS_KEYS},
        "spend": spend(),
        "cef convert": {**WRITTEN, "persons": COUNT, "households": COUNT},
        "cef blocks": WRITTEN,
        "show": {**STATUS_KEYS, "product": TEXT, **answer},
        "status": {
            "groups?": listed(GROUP),
            **STATUS_KEYS,
            "written?": listed(TEXT),
            "rows?": by_name(COUNT),
        },
        "report": {**WRITTEN, **STATUS_KEYS},
        "site": {**WRITTEN, **site, **STATUS_KEYS},
        "export": {**WRITTEN, **ROWS, **STATUS_KEYS},
        "rerelease": {**WRITTEN, **ROWS, **STATUS_KEYS},
        "official": {**WRITTEN, **ROWS, **dict.fromkeys(remarks, COUNT), **left_out, **STATUS_KEYS},
        "explore": WRITTEN,
        "accuracy": {**WRITTEN, **ROWS, "is_synthetic": TRUTH},
        "compare": {"written?": listed(TEXT), **compared},
        "lists": {"codes": COUNT, "iterations": COUNT, "pairs": COUNT, "written": listed(TEXT)},
        "diff": {
            "before": TEXT,
            "after": TEXT,
            "is_equal": TRUTH,
            "areas_compared": TRUTH,
            "differences": changes,
        },
        "docs": {"page": TEXT, "anchor": TEXT},
        "sign": {
            "fingerprint": TEXT,
            "written?": listed(TEXT),
            **{f"{key}?": STATUS_KEYS[key] for key in STATUS_KEYS},
        },
        "verify": verified,
        "registry": {"entry": TEXT, "to_add": COUNT, "written?": listed(TEXT)},
        "audit": AUDIT | {"checks?": NOISE_CHECKS},
        **tune(),
    }


EITHER = {
    "audit": (("version", "date", "form", "summary", "conclusion", "verdicts"), ("checks",)),
    "status": (("groups",), ("written", "rows")),
    "compare": (("written", "protections", "not_finished"), ("text",)),
    "sign": (tuple(STATUS_KEYS), ("written",)),
    "spend": (("accounts",), ("in_doubt",), ("written",)),
    "tune curve": (("suppression_threshold", "sizes"), ("unit", "threshold_unit", "totals")),
}
"""Sets of keys, of which a document of the command has one."""
EVEN_IF_IT_FAILS = {
    "audit": {key.removesuffix(OPTIONAL) for key in AUDIT} | {"checks"},
    "status": {"groups"},
}
"""Keys that a document can have although the command failed.

They hold failed checks, and rows before a damaged place.
"""


def json_schemas() -> dict[str, Schema]:
    """The schema of each command's document, by the name of its file."""
    return {
        f"{command.replace(' ', '-')}.schema.json": document_schema(command, keys)
        for command, keys in answers().items()
    }


def document_schema(command: str, keys: dict[str, Schema]) -> Schema:
    """The whole document: what all have, and the answer if the command ends with 0."""
    about: dict[str, Schema] = {
        "format": {"const": 1},
        "safetab_version": TEXT,
        "command": {"const": command},
        "exit_code": {"enum": list(ENDS)},
        "failure": or_null(TEXT),
        "advice": or_null(TEXT),
        "findings": listed(FINDING),
    }
    optional = {
        name if name.startswith(PATTERN) else f"{name.removesuffix(OPTIONAL)}{OPTIONAL}": name
        for name in keys
    }
    document = exactly(**about, **{key: keys[name] for key, name in optional.items()})
    done: Schema = {"required": required(keys)}
    if command in EITHER:
        sets = EITHER[command]
        done["oneOf"] = [
            {
                "required": list(these),
                "properties": {key: False for other in sets if other != these for key in other},
            }
            for these in sets
        ]
    absent = {
        name.removesuffix(OPTIONAL) for name in keys if not name.startswith(PATTERN)
    } - EVEN_IF_IT_FAILS.get(command, set())
    has_error = {"contains": {"properties": {"severity": {"const": "error"}}}}
    return {
        "$schema": DRAFT,
        "title": f"safetab {command} --json",
        **document,
        "allOf": [
            when({"exit_code": {"const": 0}, "failure": {"type": "null"}}, done),
            when(
                {"exit_code": {"enum": [1, 2, 3]}},
                {"properties": dict.fromkeys(sorted(absent), False)},
            ),
            when({"exit_code": {"enum": [1, 2]}}, {"properties": {"findings": has_error}}),
            when({"exit_code": {"const": 3}}, {"properties": {"failure": TEXT}}),
        ],
    }


def when(keys: Schema, then: Schema) -> Schema:
    """What must hold if keys have such values."""
    return {"if": {"properties": keys}, "then": then}
