"""What the page says, by what chooses a group's table: a noisy first stage with suppression, or published totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

from safetab.products.product import Product, Selector


@dataclass(frozen=True, slots=True)
class PageWords:
    """The paragraphs that depend on how tables are chosen."""

    levels: str
    errors: str
    tables: str
    coverage: str
    about: str


_BY_NOISY_STAGE_1 = PageWords(
    levels="Every group of every level, over all runs. Nation and states publish all groups; below, small totals"
    " are suppressed. “Published, but empty” is the share of published groups in which there is nobody.",
    errors="The mean distance of a published total from the truth, by the true size of its group. It grows in"
    " steps: a larger group gets a finer table, and its total is the sum of more noisy cells. At the left,"
    " small groups below state level are published only if their noise is large, so their error is large.",
    tables="A first noisy total decides how fine a group's table is; upright lines are the thresholds. Near a"
    " threshold chance decides, and the last plot looks at that closely, for all thresholds together."
    " Where the shares of small groups don't add up to 100%, the rest is suppressed.",
    coverage="Readers see published totals alone. Below state level a lone total is published only above a"
    " threshold, so a small group appears only if its noise was large, and then its margin of error, which"
    " describes noise and not selection, rarely holds the truth. The release gives such a total a"
    " selection-aware interval as well, which promises to hold the true size for at least 95% of published"
    " totals, whatever that size is. Any other total is given itself plus and minus its margin of error.",
    about="The same counting, noise, table choice, suppression and rules as a run's; the exact counts were taken"
    " once. Groups that are never published count as suppressed. Copies of groups that a level does not"
    " tabulate are left out. accuracy.csv beside this page has every number of it, by kind of iteration"
    " too, and accuracy.json the whole configuration.",
)
_BY_PUBLISHED_TOTALS = PageWords(
    levels="Every group that has a published total of people, over all runs: no other group is measured, and every"
    " one that is measured is published. “Published, but empty” is the share of groups in which there are no"
    " {nouns}.",
    errors="The mean distance of a total from the truth, by the true size of its group, in {nouns}. It grows in steps:"
    " a group with a larger published total of people gets a finer table, and its total is the sum of more noisy"
    " cells. No number is left out for its noise, so small groups have the same error as any other with their table.",
    tables="A published total of people decides how fine a group's table is, in every run alike. Thresholds are in"
    " people; sizes and errors of this report are in {nouns}.",
    coverage="Every measured number is published, whatever its noise, and the totals that choose tables are"
    " independent of that noise. So numbers are unbiased, and a margin of error holds as often as it says.",
    about="The same counting, noise, table choice and rules as a run's; the exact counts were taken once. Groups"
    " without a published total of people are not counted here. Copies of groups that a level does not tabulate are"
    " left out. accuracy.csv beside this page has every number of it, by kind of iteration too, and accuracy.json the"
    " whole configuration.",
)
_WORDS: Mapping[Selector, PageWords] = MappingProxyType(
    {Selector.NOISY_STAGE_1: _BY_NOISY_STAGE_1, Selector.PUBLISHED_TOTALS: _BY_PUBLISHED_TOTALS}
)


def words_of(product: Product) -> PageWords:
    texts = asdict(_WORDS[product.selector])
    return PageWords(**{name: text.replace("{nouns}", product.record.nouns) for name, text in texts.items()})


def unit_of(product: Product) -> str:
    """What numbers count, after a number: persons, households."""
    return f"{product.record.noun}s"
