"""A product from a specification: its tables, what people ask of them, and sentences on them."""

from __future__ import annotations

from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.attributes import Attribute
from safetab.model.products.line_questions import QuestionByAttributes, joined
from safetab.model.products.product import Product, PublishedReference, Selector, TableFamily
from safetab.model.products.record import RecordLayout
from safetab.model.products.tables import Tables, family_of
from safetab.model.specification.values import Specification

_SELECTORS = {
    "stage 1": Selector.NOISY_STAGE_1,
    "published totals": Selector.PUBLISHED_TOTALS,
    "none": Selector.NONE,
}
_MOST_NAMED = 6  # lines, in a sentence


def product_of(spec: Specification, record: RecordLayout, *own: Attribute) -> Product:
    """The product that a specification describes.

    It has the record's layout that was compiled from the specification. It has a plain CSV file for
    each family. `own` are attributes of which it speaks in its own way. Raises ValueError with a
    sentence if tables can't be made as they are described.
    """
    attributes = {field.called: Attribute(field) for field in spec.divided}
    tables = Tables(spec, attributes | {attribute.name: attribute for attribute in own})
    columns = [column.name.lower() for column in tables.columns]
    if len(set(columns)) < len(columns):
        raise ValueError(
            "tables: two attributes would have columns of one name. Give one another `attribute`."
        )
    families = tuple(family_of(tables, number) for number in range(len(spec.tables)))
    selector = _SELECTORS[spec.privacy.selector]
    return Product(
        number=spec.about.noise,
        name=spec.about.name,
        source=spec.about.source or spec.about.title,
        record=record,
        families=families,
        selector=selector,
        label_columns=tables.columns,
        files=tables.files,
        line_question=QuestionByAttributes(tables),
        reference=_reference(spec),
        counts=_counts(spec, selector),
        adding_up=_adding_up(spec, families),
        totals_table=spec.privacy.totals if selector is Selector.PUBLISHED_TOTALS else None,
    )


def _reference(spec: Specification) -> PublishedReference | None:
    """The loss to compare with. A pure epsilon counts as rho = epsilon squared / 2 at most."""
    given = spec.about.reference
    if given is None:
        return None
    unit = PrivacyDefinition.spelled(spec.privacy.definition).unit
    return PublishedReference(given.name, unit.rho_of(given.loss))


def _counts(spec: Specification, selector: Selector) -> str:
    """One sentence on what a release says about an area and a group."""
    divided = [
        family.crossed or (family.of or "",) for family in spec.tables if len(family.shapes) > 1
    ]
    whole = f"how many {spec.about.records} there are, in all"
    if not divided:
        return whole
    finer = " and ".join(f"by {joined(names, 'and')}" for names in divided)
    return f"{whole}, and {'' if selector is Selector.NONE else 'for larger groups '}{finer}"


def _adding_up(spec: Specification, families: tuple[TableFamily, ...]) -> str:
    """Cautions for adding up numbers, in sentences."""
    lines = (
        line
        for family in families
        for shape in family.finer
        for line in shape.lines
        if line.cells > 1
    )
    stubs = list(dict.fromkeys(line.stub for line in lines))
    named = ", ".join(stubs if len(stubs) <= _MOST_NAMED else [*stubs[:_MOST_NAMED], ".."])
    sentences = (
        [f"Don't add a table's total to its parts: lines that hold others ({named}) are rows too."]
        if stubs
        else []
    )
    for family, given in zip(families, spec.tables, strict=True):
        if given.repeat_total:
            total = family.total.table_id
            table = f"that in the first line of a {family.file_word} table"
            sentences.append(f"The total in {total} and {table} are one number, not two.")
    if len(families) > 1:
        totals = joined([f"of {family.name}" for family in families], "and")
        sentences.append(
            f"The totals {totals} count the same {spec.about.records}, each with noise of its own:"
            " they differ, and safetab's open_release gives their best mean."
        )
    return " ".join(sentences)
