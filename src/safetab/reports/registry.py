"""A release's entry for the public registry of deployments of differential privacy, as YAML.

The template has what holds for every release, and says ADD: where no release tells. Texts are spelled as in JSON.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from safetab.census.census import capitalized
from safetab.privacy.calibration import PrivacyDefinition
from safetab.privacy.reference import loss_number
from safetab.products.product import Selector
from safetab.release.checksums import damage_as_invalid_input
from safetab.release.citation import title_of
from safetab.release.documents import PRIVACY_FILE, absence_in_words
from safetab.release.release_folder import ReleaseFolder, open_release_folder

_WORD = re.compile(r"\[([A-Z_]+)\]")
_VARIANTS = {PrivacyDefinition.ZCDP: "Zero-concentrated DP", PrivacyDefinition.PURE_DP: "Pure DP"}


def registry_entry(release: Path) -> str:
    """The entry of a release as YAML. Raises InvalidInput if there is no release, or no privacy.json in it."""
    folder = open_release_folder(release)
    with damage_as_invalid_input(folder.path / PRIVACY_FILE):
        words = _words(folder, json.loads((folder.path / PRIVACY_FILE).read_text(encoding="utf-8")))
    template = (files("safetab.reports") / "registry_template.yaml").read_text(encoding="utf-8")
    entry = _WORD.sub(lambda found: json.dumps(words[found[1]], ensure_ascii=False)[1:-1], template)
    status = folder.facts.status
    return entry if status.is_for_release else f"# {status.line} Don't register it.\n{entry}"


def _words(folder: ReleaseFolder, privacy: dict[str, Any]) -> dict[str, str]:
    """What stands for each word in brackets."""
    universe, options, about = folder.universe, folder.facts.options, folder.facts.publication
    symbol, loss, software = universe.definition.budget_symbol, privacy["loss"]["whole_run"], privacy["software"]
    title = title_of(about, universe.census, universe.product.record)
    agency, year, url = ("", "", "") if about is None else (about.agency, about.year, about.url)
    is_by_totals = universe.product.selector is Selector.PUBLISHED_TOTALS
    epsilons = "{unbounded_epsilon} at delta {delta:g} (bounded: {bounded_epsilon}), rounded up"
    return {
        "SLUG": "-".join(re.findall(r"[a-z0-9]+", f"{title} {agency} {year}".lower())),
        "NAME": title if about is not None else "ADD: the name of the data product",
        "CURATOR": agency or "ADD: who publishes it",
        "AGENCY": agency or "the publisher",
        "ADDRESS": url or "ADD: where the release is published",
        "DATE": folder.facts.date.isoformat(),
        "PASSES": ", ".join(each.title for each in universe.passes),
        "GROUPS": universe.census.words.some_groups,
        "COUNTS": universe.product.counts,
        "NOUNS": universe.product.record.nouns,
        "VARIANT": _VARIANTS[universe.definition],
        "TOTALS": "yes, from another release, whose loss adds to this one" if is_by_totals else "none",
        "UNIT": privacy["unit_of_privacy"],
        "UNBOUNDED": privacy["neighbours"]["unbounded"],
        "BOUNDED": privacy["neighbours"]["bounded"],
        "SYMBOL": symbol,
        # without an exponent, which YAML may take for a text
        "NUMBER": np.format_float_positional(loss_number(Fraction(loss[f"unbounded_{symbol}"])), trim="-"),
        "LOSS": loss[f"unbounded_{symbol}"],
        "BOUNDED_LOSS": loss[f"bounded_{symbol}"],
        "EPSILONS": epsilons.format(**loss) if "delta" in loss else "the same epsilon, with delta 0",
        "COMPOSITION": capitalized(privacy["composition"]),
        "LEVELS": "; ".join(f"{one.level} {one.design.budget}" for one in universe.levels if one.design.stages),
        "ABSENT": absence_in_words(universe.product),
        "RULES": "; ".join(rule.explained(universe.census.words) for rule in options.rules) or "none",
        "COPIES": "none" if options.coterminous is None else "made; each names the area that was measured",
        "MECHANISM": capitalized(privacy["mechanism"]["name"]),
        "PARAMETER": privacy["mechanism"]["parameter"],
        "VERSION": str(software.get("version", folder.facts.version)),
        "ALGORITHM": software["algorithm"],
    }
