"""A release's entry for the public registry of deployments of differential privacy, as YAML.

The template has what holds for every release, and says ADD: where no release tells. Texts are
spelled as in JSON.
"""

from __future__ import annotations

import json
import re
import string
from fractions import Fraction
from pathlib import Path

import numpy as np

from safetab.core.guarantees.plan_json import exact
from safetab.core.privacy.reference import loss_number
from safetab.foundation.templates import template
from safetab.model.census.census import capitalized
from safetab.model.products.product import Selector
from safetab.release.files.checksums import damage_as_invalid_input
from safetab.release.files.citation import title_of
from safetab.release.files.documents import PRIVACY_FILE, absence_in_words
from safetab.release.files.release_folder import open_release_folder
from safetab.release.files.release_universe import ReleaseLevel

_EPSILONS = "{unbounded_epsilon} at delta {delta:g} (bounded: {bounded_epsilon}), rounded up"


class _AsInJson(string.Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        return json.dumps(format(value, format_spec), ensure_ascii=False)[1:-1]


def registry_entry(release: Path) -> str:
    """The entry of a release as YAML.

    Raises InvalidInput if there is no release, or no privacy.json in it.
    """
    folder = open_release_folder(release)
    universe, facts, about = folder.universe, folder.facts, folder.facts.publication
    title, symbol = (
        title_of(about, universe.census, universe.product.record),
        universe.definition.budget_symbol,
    )
    agency, year, url = ("", "", "") if about is None else (about.agency, about.year, about.url)
    text = template("registry/entry.yaml")
    if universe.product.selector is not Selector.PUBLISHED_TOTALS:
        text = "".join(line for line in text.splitlines(keepends=True) if "{totals}" not in line)
    with damage_as_invalid_input(folder.path / PRIVACY_FILE):
        privacy = json.loads((folder.path / PRIVACY_FILE).read_text(encoding="utf-8"))
        loss = privacy["loss"]["whole_run"]
        number = loss_number(Fraction(loss[f"unbounded_{symbol}"]))
        entry = _AsInJson().format(
            text, universe=universe, facts=facts, privacy=privacy, symbol=symbol,
            slug="-".join(re.findall(r"[a-z0-9]+", f"{title} {agency} {year}".lower())),
            name="ADD: the name of the data product" if about is None else title,
            curator=agency or "ADD: who publishes it",
            agency=agency or "the publisher",
            address=url or "ADD: where the release is published",
            passes=", ".join(each.title for each in universe.passes),
            variant=capitalized(universe.definition.full_name).replace(
                "differential privacy", "DP"
            ),
            totals="yes, from another release, whose loss adds to this one",
            # YAML may take an exponent for a text.
            number=np.format_float_positional(number, trim="-"),
            unbounded=loss[f"unbounded_{symbol}"],
            bounded=loss[f"bounded_{symbol}"],
            epsilons=_EPSILONS.format(**loss) if "delta" in loss
            else "the same epsilon, with delta 0",
            composition=capitalized(privacy["composition"]),
            levels="; ".join(_budget_in_words(one) for one in universe.levels if one.design.stages),
            absent=absence_in_words(universe.product),
            rules="; ".join(rule.explained(universe.census.words) for rule in facts.options.rules)
            or "none",
            copies="made; each names the area that was measured" if facts.options.coterminous
            else "none",
        )  # fmt: skip
    return (
        entry
        if facts.status.is_for_release
        else f"# {facts.status.line} Don't register it.\n{entry}"
    )


def _budget_in_words(level: ReleaseLevel) -> str:
    product = level.design.product
    of_family = f" {level.family.name}" if product.has_several_families else ""
    return f"{level.level}{of_family} {exact(level.design.budget)}"
