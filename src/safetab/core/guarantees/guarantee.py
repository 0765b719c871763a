"""The guarantee of a run in sentences.

They say what it protects, what it takes to be public, and who reaches the stability of a level. The
products of the default census keep their own words: none of this is said for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from safetab.core.algorithm.run_plan import LevelPlan, RunPlan
from safetab.foundation.files import sha256_of
from safetab.model.census.census import Census, capitalized
from safetab.model.census.groups import iteration_map_of
from safetab.model.census.sensitivity import groups_reached, reaching_record
from safetab.model.config.run_config import RunConfig
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.products.product import Product
from safetab.model.products.record import RecordLayout

TAKEN_TO_BE_PUBLIC = (
    "Taken to be public. If one of these was made from the records, the guarantee does not hold."
)


def is_specified(census: Census) -> bool:
    """Whether outputs say what a run protects and takes to be public."""
    return census != DEFAULT_CENSUS


def protected_sentence(product: Product) -> str:
    """The sentence on what is protected: a record, or a unit with all its records.

    Proof: docs/privacy.md#units.
    """
    record = product.record
    if record.unit is None:
        return (
            f"What is protected is one {record.noun}: one record."
            " Somebody with several records is protected less."
        )
    most = record.unit.most_records
    records = f"one {record.noun}" if most == 1 else f"up to {most:,} {record.nouns}"
    return f"What is protected is one {record.unit.name}, with {records}."


def guarantee_as_json(config: RunConfig) -> dict[str, object]:
    """The facts of the guarantee: what is protected, and what the hashes of public files are of."""
    if not is_specified(config.census):
        return {}
    return {
        "protected": protected_sentence(config.product),
        "about_public_files": TAKEN_TO_BE_PUBLIC,
    }


def neighbours_in_words(product: Product) -> tuple[str, str]:
    """The difference of neighbours: what is added or removed, and what is changed."""
    record = product.record
    if record.unit is None:
        return f"the record of one {record.noun} is added or removed", "it changes"
    return f"all records of one {record.unit.name} are added or removed", "they change"


def hashes_of_public_files(plan: RunPlan) -> dict[str, str]:
    """The SHA-256 of every file that the plan was made from, by name."""
    return {name: sha256_of(path) for name, path in sorted(plan.public_files.items())}


def stabilities_in_words(plan: RunPlan) -> Iterator[str]:
    """For each stability, the levels that have it and a record that reaches it."""
    levels: dict[tuple[str, int], list[LevelPlan]] = {}
    for level in plan.levels:
        grain = plan.config.census.grain_of(level.level.geography.kind)
        levels.setdefault((level.level.iterations.name, grain), []).append(level)
    for (name, _), alike in levels.items():
        titles = ", ".join(dict.fromkeys(level.level.geography.title for level in alike))
        where = f" ({titles})" if len(plan.config.census.grains) > 1 else ""
        if alike[0].design.stability:
            yield f"{capitalized(name)}{where}: {_stability_in_words(plan, alike[0])}"


def _is_allowed(record: RecordLayout, answers: Sequence[Sequence[str]]) -> bool:
    """Whether a record may surely give these answers, by its fields' rules and `where`.

    It may never give them in a column of areas.
    """
    for codes, given in zip((record.several, record.single), answers, strict=True):
        texts = given if codes.separator is None else [codes.separator.join(given)]
        for column, text in zip(codes.columns, texts, strict=False):
            field = record.fields.get(column)
            value = text if field is None else field.value_of(text)
            if (
                value is None
                or value not in record.where.get(column, [value])
                or column in record.area.columns
            ):
                return False
    return True


def _stability_in_words(plan: RunPlan, level: LevelPlan) -> str:
    """The stability of a level, with a record that reaches it, or with the best record found."""
    areas, groups = level.level.geography.kind, level.level.iterations
    most, slots = plan.config.most_answers, plan.config.census.classifications
    codes = iteration_map_of(
        plan.lists, groups, areas, most_answers=most, classifications=slots
    ).classifications
    answers = reaching_record(codes)
    said = dict.fromkeys(code for each in answers for code in each)
    example = f"with the code{'' if len(said) == 1 else 's'} {', '.join(said)}"
    stability, reached = level.design.stability, groups_reached(codes, answers)
    at_most = (
        f"one {plan.config.product.record.noun} is in at most {stability} of the groups of an area"
        " (stability)"
    )
    if not _is_allowed(plan.config.product.record, answers):
        return f"{at_most}; the rules of the fields, or the areas, may forbid one {example}."
    if level.design.sensitivity.is_exact or reached == stability:
        return f"{at_most}, and in exactly {stability} {example}, for example."
    return f"{at_most}, and in {reached} {example}, the largest number found."
