"""A release as a static web site: the work of `safetab site`.

The facts that the site's pages need are here too.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetab.apps.website import data_files
from safetab.apps.website.boundaries import Shapes, read_boundaries, write_maps
from safetab.apps.website.earlier import EARLIER_NAMES, EarlierRelease, LevelTotals, open_earlier
from safetab.apps.website.level_facts import absent_at, is_selected, noise_of_level
from safetab.apps.website.level_rows import MeasuredTable, MeasuredTables, lines_shown, read_level
from safetab.apps.website.linked_site import LinkedSite, linked_facts
from safetab.apps.website.meanings import meanings
from safetab.core.guarantees.guarantee import protected_sentence
from safetab.core.privacy.output_status import OutputStatus, gravest
from safetab.foundation.failures import refusals_as_run_failed
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.foundation.templates import page_script, template
from safetab.model.census.area_levels import AreaLevel
from safetab.model.census.census import Census, Words, a_or_an
from safetab.model.products.product import Product, Selector, Shape
from safetab.release.estimates.noisy_number import reason_of, withheld_because
from safetab.release.estimates.tables import percent
from safetab.release.files import release_folder
from safetab.release.files.checks.signatures import checked_signature
from safetab.release.files.citation import agency_and_year, citation, known_facts, title_of
from safetab.release.files.documents import ReleaseFacts
from safetab.release.files.group_statuses import NOT_IN_FILES, NOT_TABULATED
from safetab.release.files.made_of import MADE_FILES, write_made_of
from safetab.release.files.numbers.level_numbers import RULES
from safetab.release.files.numbers.number_files import WITHHELD
from safetab.release.files.release_universe import Universe
from safetab.release.outputs.manifest import NOT_FOR_RELEASE_FILE, write_not_for_release
from safetab.release.outputs.output_folder import (
    NamesLike,
    always_named,
    output_findings,
    whole_output,
)

_JsonObject = dict[str, object]
_Indices = Mapping[str, object]
_KnownShapes = list[tuple[Shape, bool]]
_Begins = dict[str, list[list[int]]]


def _site_facts(
    universe: Universe,
    facts: ReleaseFacts,
    tables: MeasuredTables,
    indices: _Indices,
    status: OutputStatus,
) -> _JsonObject:
    """All facts of a site. `indices` give the areas and groups with which the files begin."""
    product, confidence = universe.product, facts.options.confidence
    title = title_of(facts.publication, universe.census, product.record)
    # all shapes that groups can have, then those of groups whose table is not known;
    # each with whether it is known
    shapes = [(shape, True) for shape in product.shapes]
    shapes += dict.fromkeys((one.shape, False) for one in tables.tables if not one.is_known)
    line = (
        status.line
        if status is facts.status
        else f"{status.line} This is the status of the earlier release."
    )
    if any(not one.is_known for one in tables.tables):
        line += (
            " Where the files don't say which table a group got, its margin of error is the"
            " largest that it can have."
        )
    return {
        "product": {
            "name": product.name,
            "noun": product.record.noun,
            "nouns": product.record.nouns,
            "protected": product.record.protected,
            "counts": product.counts,
            "leftOut": _left_out(universe),
            "families": [{"name": one.name, "detail": one.detail} for one in product.families],
        },
        "status": {
            "value": status.value,
            "line": line,
            "forRelease": status.is_for_release,
            "protects": facts.status is not OutputStatus.NO_PROTECTION,
        },
        "isSpecified": universe.specification is not None,
        "publication": {
            "agencyAndYear": agency_and_year(facts.publication),
            "facts": list(known_facts(facts.publication).items()),
            "url": "" if facts.publication is None else facts.publication.url,
            "citation": citation(facts.publication, title, facts.status, facts.date),
        },
        "meanings": meanings(universe.census, product.record, percent(confidence)),
        "protected": "" if universe.specification is None else protected_sentence(product),
        "isRead": facts.origin is not None,
        "date": facts.date.isoformat(),
        "version": facts.version,
        "confidence": float(confidence),
        "percent": percent(confidence),
        "shapes": [_shape(*one, product) for one in shapes],
        "tables": [_table(one, universe, tables, shapes) for one in tables.tables],
        "noises": [
            noise_of_level(level, universe, confidence) for level in range(len(universe.levels))
        ],
        "selected": tables.selected_as_json(),
        "geographies": [_geography(one, universe, facts) for one in universe.entities],
        "rules": _why_withheld(universe.census.words),
        "reasons": [reason_of(why, None, product, NOT_TABULATED) for why in universe.reasons],
        "tiles": universe.census.tiles,
        "words": {**_words(universe.census, product.record.noun), "title": title},
        "isCopied": facts.options.coterminous is not None,
        **data_files.census_facts(universe),
        **indices,
    }


_ONLY_ABOVE_ANY = (
    "the count of those with only the answers of a group can come out above that of those with any"
    " of them"
)


def _left_out(universe: Universe) -> str:
    """Which groups are not shown, as the beginning of a sentence."""
    if universe.product.selector is Selector.PUBLISHED_TOTALS:
        return "Only groups with a published total of people are counted, "
    is_staged = universe.product.selector is Selector.NOISY_STAGE_1
    return (
        "Small totals are not shown below a threshold, "
        if is_staged and universe.census.suppresses
        else ""
    )


def _words(census: Census, noun: str) -> _JsonObject:
    """The pages' words for things of the census whose records have this noun."""
    words = census.words
    of_pairs = [(only.ends[0], any_.ends[0]) for only, any_ in census.only_and_any if only.ends]
    above = [
        f"a group {only} can come out larger than the same group {any_}" for only, any_ in of_pairs
    ]
    above += [_ONLY_ABOVE_ANY] if census.only_and_any and not of_pairs else []
    return {
        "group": words.group,
        "groups": words.some_groups,
        "reach": words.reach,
        "areas": words.typed_areas,
        "tried": words.tried_areas,
        "sameArea": words.same_area,
        "smallest": words.smallest_areas,
        "above": f"Each group has its own random noise, so {' and '.join(above)}." if above else "",
        "overlap": _overlap(census, noun),
        "openKind": next((census.group_kinds.index(any_) for _, any_ in census.only_and_any), 0),
    }


def _overlap(census: Census, noun: str) -> str:
    """Which groups overlap: if a record has one answer, only those of different levels."""
    if len(census.classifications) > 1 or not census.classifications[0].has_one_answer:
        return f"Groups overlap, since {a_or_an(noun)} can be in several. "
    return "Groups of different levels overlap. " if census.tabulated_group_levels[1:] else ""


def _why_withheld(words: Words) -> list[list[str]]:
    """Reasons why a number is withheld, by the numbers that rows have for them.

    Each is a name, its meaning, the status, and the reason in a sentence.
    """
    meanings = {one.value: one.explained(words) for one in RULES}
    rules = [
        [name, meaning, WITHHELD, f"{withheld_because(name).removesuffix('.')}: {meaning}."]
        for name, meaning in meanings.items()
    ]
    unknown = withheld_because(None)
    not_given = "It is not in the files that were read. This does not mean zero."
    return [*rules, ["X", unknown, WITHHELD, unknown], ["", not_given, NOT_IN_FILES, not_given]]


def _shape(shape: Shape, is_known: bool, product: Product) -> _JsonObject:
    """A shape with its lines.

    A line has its name alone, its name in the table, its first cell, its cells, whether it is the
    total, and its table id. `divisions` are what its cells are by: of each part the stub, the words
    and, of a range, both ends.
    """
    question = product.line_question
    divisions = question.divisions_of(shape) if is_known else ()
    family = product.family_of_label[shape.label]
    return {
        "family": product.families.index(family),
        "words": shape.words if is_known else "a total; its table is not known",
        "title": shape.title,
        "lines": [
            [
                question.name_of(line),
                line.stub,
                line.first_cell,
                line.cells,
                int(line.is_total),
                line.table_id,
            ]
            for line in lines_shown(shape, is_known=is_known)
        ],
        "divisions": [
            {
                "name": one.name,
                "plural": one.plural,
                "unit": one.unit,
                "parts": [[part.stub, part.words, *part.ends] for part in one.parts],
            }
            for one in divisions
        ],
    }


def _table(
    table: MeasuredTable, universe: Universe, tables: MeasuredTables, shapes: _KnownShapes
) -> _JsonObject:
    """A table with its margins of error by number of cells.

    If the shape is not known, `least` is the margin of error of a lone total.
    """
    return {
        "level": table.level,
        "geography": list(universe.entities).index(universe.levels[table.level].geography),
        "shape": shapes.index((table.shape, table.is_known)),
        "stage": table.stage.name,
        "margins": {line.cells: tables.margin(table, line.cells) for line in table.lines},
        "least": None if table.is_known else tables.margin(table, 1),
        "isSelected": is_selected(table, universe),
    }


def _geography(geography: AreaLevel, universe: Universe, facts: ReleaseFacts) -> _JsonObject:
    """A geography level: its words, the levels around it, and why a group may be absent there."""
    kind = geography.kind
    return {
        **data_files.area_facts(geography, universe),
        "noun": kind.long_noun or kind.noun,
        "nouns": kind.long_nouns or kind.nouns,
        "tab": kind.tab or kind.long_nouns or kind.nouns,
        "reasons": data_files.reasons_of_geography(geography, universe),
        "absent": absent_at(geography, universe, facts),
    }


_FACTS = "facts"
FACTS_FILE = f"{data_files.DATA_FOLDER}/{_FACTS}.js"
_SCRIPT_FOLDERS = ("numbers", "drawing", "search", "views")
_PAGES = ("index.html", "site.css")
_SCRIPT = "site.js"
_TITLE, _HOME, _WHOSE = "{{title}}", "{{home}}", "{{whose}}"
_LONGEST_HOME = 50  # letters; a longer title is shown on the first view alone
_PARTS = r"(areas|totals|names|shapes)/[A-Za-z0-9_-]+/\d+|groups/\d+"
_DATA = rf"{data_files.DATA_FOLDER}/({_FACTS}|{_PARTS}|{EARLIER_NAMES})\.js"
_OTHER_FILES = [re.escape(name) for name in (*_PAGES, _SCRIPT, NOT_FOR_RELEASE_FILE, *MADE_FILES)]
_EARLIER_SITE = always_named(FACTS_FILE, NamesLike("|".join((_DATA, *_OTHER_FILES))))


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """A summary of the site that was written."""

    status: OutputStatus
    numbers: int
    files: int
    bytes_in_all: int
    bytes_of_largest: int
    shapes_without_area: int | None = None  # shapes of the boundary file that match no area


def write_site(
    release: Path,
    folder: Path,
    boundaries: Path | None = None,
    earlier: Path | None = None,
    *,
    linked: LinkedSite | None = None,
    overwrite: bool = False,
) -> SiteSummary:
    """Write the site of a release, completely or not at all.

    The same release gives the same bytes. Numbers are compared with those of `earlier`, and link to
    the site of another product of the same census. Reads published numbers and public lists only.
    Raises InvalidInput if a file is at fault, the folder can't be used, or the releases don't fit
    together.
    """
    opened = release_folder.open_release_folder(release)
    before = None if earlier is None else open_earlier(earlier, opened)
    folders = [opened] if before is None else [opened, before.opened]
    for one in folders:
        one.refuse_inside(folder)
    inputs = [*(one.path for one in folders), *([] if boundaries is None else [boundaries])]
    inputs += [] if linked is None else [linked.release]
    statuses = [one.facts.status for one in folders]
    status = gravest(one for one in statuses if not one.is_for_release) or opened.facts.status
    refused = output_findings(folder, inputs, overwrite=overwrite, earlier=_EARLIER_SITE)
    if refused:
        raise InvalidInput(refused)
    signature = _signature_facts(opened)
    other = None if linked is None else linked_facts(opened, folder, linked)
    shapes, without_area = (
        ({}, None) if boundaries is None else read_boundaries(boundaries, opened.universe)
    )
    with refusals_as_run_failed(folder), whole_output(folder, overwrite=overwrite) as site:
        write_not_for_release(site, status)
        more = signature if other is None else signature | {"linked": other}
        numbers = _write_data(opened, site, shapes, before, status, more)
        _write_pages(opened, site)
        (site / _SCRIPT).write_text(site_script(), encoding="utf-8")
        write_made_of(site, opened.path)
        sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    return SiteSummary(status, numbers, len(sizes), sum(sizes), max(sizes), without_area)


def _signature_facts(opened: release_folder.ReleaseFolder) -> _JsonObject:
    """Who signed the release, if anybody did. Raises InvalidInput if the signature is wrong."""
    findings = FindingsOf(str(opened.path))
    signed = checked_signature(opened.path, None, None, opened.facts.status, findings)
    findings.require_no_errors()
    return (
        {}
        if signed is None
        else {"signature": {"fingerprint": signed.fingerprint, "date": signed.date}}
    )


def _write_pages(opened: release_folder.ReleaseFolder, site: Path) -> None:
    """Write the page and its style, with the title of the release and whose numbers it holds."""
    title = title_of(
        opened.facts.publication, opened.universe.census, opened.universe.product.record
    )
    is_long = len(title) > _LONGEST_HOME and opened.universe.specification is not None
    texts = {_TITLE: title, _HOME: opened.universe.product.name if is_long else title}
    texts[_WHOSE] = agency_and_year(opened.facts.publication)
    for name in _PAGES:
        page = template(f"site/{name}")
        for mark, text in texts.items():
            page = page.replace(mark, html.escape(text))
        (site / name).write_text(page, encoding="utf-8", newline="")


def site_script() -> str:
    """The scripts of the site as one. views/start.js comes last, because it starts the page."""
    return page_script("site", _SCRIPT_FOLDERS)


def _write_data(
    opened: release_folder.ReleaseFolder,
    site: Path,
    shapes: Shapes,
    earlier: EarlierRelease | None,
    status: OutputStatus,
    more: _JsonObject,
) -> int:
    """Write all data files, level by level.

    Returns how many numbers they hold, without earlier ones. `more` are further facts of the site.
    """
    universe = opened.universe
    tables = MeasuredTables(universe, opened.facts.options.confidence)
    areas: _Begins = {}  # the areas with which files of tables begin
    totals: _Begins = {}  # the groups with which files of totals begin
    numbers = 0
    for position, geography in enumerate(universe.entities):
        for iterations in universe.census.tabulated_group_levels:
            name = f"{position}-{iterations.number}"
            families = []
            for number, family in enumerate(universe.product.families):
                rows = read_level(opened, universe.level_of(geography, iterations, family), tables)
                if rows is not None:
                    areas[f"{name}-{number}"] = data_files.write_areas(
                        site, f"areas/{name}-{number}", rows, universe
                    )
                    numbers += rows.numbers
                    families.append(rows)
            found = data_files.totals_of(families, tables)
            if families:
                totals[name] = data_files.write_totals(
                    site, f"totals/{name}", found, geography, universe
                )
            if earlier is not None:
                earlier.write_level(site, name, LevelTotals(geography, iterations, found, tables))
    indices: dict[str, object] = {
        "areas": areas,
        "totals": totals,
        "names": [
            data_files.write_area_names(site, geography, universe)
            for geography in universe.entities
        ],
        "groupFiles": data_files.write_group_names(site, universe),
        **write_maps(site, universe, shapes),
    }
    facts = _site_facts(universe, opened.facts, tables, indices, status) | more
    if earlier is not None:
        facts["earlier"] = earlier.write_facts(site)
    data_files.write_data(site, _FACTS, facts)
    return numbers
