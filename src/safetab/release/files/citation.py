"""Whose numbers a release holds, and how to cite them, as its documents and pages say it."""

from __future__ import annotations

import datetime
import re

from safetab.core.guarantees.plan_json import JsonObject
from safetab.core.privacy.output_status import OutputStatus
from safetab.model.census.census import Census
from safetab.model.products.record import RecordLayout
from safetab.model.specification.reading import Publication

NOT_NAMED = "The publisher is not named."
"""The words of pages if nobody has said whose numbers these are."""


def title_of(publication: Publication | None, census: Census, record: RecordLayout) -> str:
    """The headline of a release.

    That of households says so, because the people of their census have the same title.
    """
    title = census.words.title if publication is None else publication.title
    return (
        f"{title}: {record.nouns}"
        if record.holds_people and record.nouns not in title.lower()
        else title
    )


def agency_and_year(publication: Publication | None) -> str:
    """Whose numbers these are, in a line below the headline."""
    return (
        NOT_NAMED
        if publication is None
        else ", ".join(filter(None, (publication.agency, publication.year)))
    )


def known_facts(publication: Publication | None) -> dict[str, str]:
    """The known facts on whose numbers these are, by their names."""
    if publication is None:
        return {}
    facts = {
        "Published by": publication.agency,
        "Year": publication.year,
        "Source": publication.source,
    }
    facts |= {
        "Contact": publication.contact,
        "Address": publication.url,
        "Licence": publication.licence,
    }
    return {name: text for name, text in facts.items() if text}


def about_lines(publication: Publication | None) -> list[str]:
    """Whose numbers these are, a line for each fact that is known."""
    return [f"{name}: {text}" for name, text in known_facts(publication).items()]


def citation(
    publication: Publication | None, title: str, status: OutputStatus, date: datetime.date
) -> str:
    """The citation of a release, without its address.

    It is as its publisher asks, or by agency, year, title and date. What is not for release says so
    either way.
    """
    if publication is not None and publication.cite:
        return (
            publication.cite
            if status.is_for_release
            else f"{publication.cite} Not for release ({status.value})."
        )
    day = f"{date.day} {date:%B} {date.year}"
    released = {
        OutputStatus.FOR_RELEASE: f"Released {day}.",
        OutputStatus.OFFICIAL: f"Read by safetab {day}.",
    }
    made = released.get(status, f"Not for release ({status.value}), made {day}.")
    if publication is None:
        return f"{title}. {NOT_NAMED} {made}"
    year = f" ({publication.year})" if publication.year else ""
    return f"{publication.agency}{year}: {title}. {made}"


def citation_with_address(
    publication: Publication, title: str, status: OutputStatus, date: datetime.date
) -> str:
    """The citation of a release, with its address if that is known."""
    cited = citation(publication, title, status, date)
    return cited if publication.url in cited else f"{cited} {publication.url}"


PACKAGE_KEYS = ("contributors", "sources", "licenses", "homepage")


def as_data_package(publication: Publication) -> JsonObject:
    """Whose numbers these are, in the words of a Data Package."""
    return {
        "contributors": [
            {
                "title": publication.agency,
                "roles": ["publisher"],
                **_reached_at(publication.contact),
            }
        ],
        **({"sources": [{"title": publication.source}]} if publication.source else {}),
        **({"licenses": [{"name": publication.licence}]} if publication.licence else {}),
        **({"homepage": publication.url} if publication.url else {}),
    }


def _reached_at(contact: str) -> JsonObject:
    """A contact as a Data Package has it: an email address or one on the web, and nothing else."""
    if contact.startswith(("https://", "http://")):
        return {"path": contact}
    return {"email": contact} if re.fullmatch(r"[^\s@]+@[^\s@]+", contact) else {}
