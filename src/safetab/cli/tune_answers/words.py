"""What a question says, read: levels, tables, numbers. All that is wrong with it is reported at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from safetab.census.geography_levels import GeographyLevel, TabulationPass
from safetab.census.population_group_levels import POPULATION_GROUP_LEVELS, PopulationGroupLevel
from safetab.cli.tune_answers.answer import unit_of
from safetab.config.config_file import budget_key, threshold_key
from safetab.config.run_config import RunConfig
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.planning.level_design import CONFIDENCE
from safetab.products.product import LineKind, Shape
from safetab.release.release_options import confidence_of
from safetab.tuning.tuned_level import TunedLevel
from safetab.tuning.tuning import Tuning

_NUMBER = re.compile(r"[0-9]{0,18}(\.[0-9]{1,18})?(e-?[0-9]{1,2})?", re.IGNORECASE)
_MOST_MARGIN = 10**9


class Words:
    """Reads the words of one question and remembers what is wrong; `end` raises InvalidInput if anything is."""

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._level_of = {_plain(text): level for level in _LEVELS for text in _spellings(level, tuning.config)}
        self._findings = FindingsOf("the question")
        self._families = tuning.by_family()  # that may be meant

    def of_family(self, text: str | None, *hints: str) -> Tuning:
        """The table family that is meant: by its name, else by a table or a key of config.json that only it has."""
        families = self._tuning.by_family()
        if text is not None:
            meant = [one for one in families if _plain(one.family.name) == _plain(text)]
        elif len(families) == 1:
            meant = list(families)
        else:
            hinted = {_plain(hint) for hint in hints}
            meant = [one for one in families if hinted & _only_of(one, families)]
        if len(meant) != 1:
            names, product = " or ".join(_plain(one.family.name) for one in families), self._tuning.config.product.name
            wrong = f"needed, since {product} has several" if text is None else f'"{text}" is none of {product}'
            self._findings.error("--family", f"{wrong}. Give {names}.")
        self._tuning = meant[0] if meant else families[0]
        self._families = (self._tuning,) if len(meant) == 1 else families
        return self._tuning

    def end(self) -> None:
        if self._findings.has_errors:
            raise InvalidInput(self._findings.findings)

    def level(self, text: str, where: str = "LEVEL") -> TunedLevel:
        """Also one that has no budget yet."""
        level = self._level_of.get(_plain(text))
        if level is None:
            self._findings.error(where, f'"{text}" is no level. The levels are {", ".join(map(spelled, _LEVELS))}.')
            level = _LEVELS[0]
        return self._tuning.level(level)

    def tabulated_level(self, text: str) -> TunedLevel:
        """One that the configuration tabulates."""
        known = len(self._findings.findings)
        tuned = self.level(text)
        if len(self._findings.findings) > known or tuned.facts.level in self._tuning.levels:
            return tuned
        level = tuned.facts.level
        pass_runs = level.geography.tabulation_pass in self._tuning.config.passes
        why = f"its budget {_budget_key(level, self._tuning)} is 0" if pass_runs else "its pass doesn't run"
        tabulated = ", ".join(map(spelled, self._tuning.levels))
        self._findings.error("LEVEL", f"{spelled(level)} is not tabulated: {why}. Tabulated are {tabulated}.")
        return next(iter(self._tuning.levels.values()))

    def adaptive_level(self, text: str) -> TunedLevel:
        """One with groups that get tables as their size allows."""
        tuned = self.tabulated_level(text)
        if not tuned.iterations.adaptive or not tuned.stability:
            table = f"{tuned.family.detail.replace(' ', '-')} table"
            self._findings.error("LEVEL", f"{spelled(tuned.facts.level)} has no group that can get a {table}.")
        return tuned

    def shape(self, text: str) -> Shape:
        """By its label, or by how many ranges it has."""
        family = self._tuning.family
        finer = [shape for one in self._families for shape in one.family.finer]
        by_size = {str(shape.divisions): shape for shape in finer}
        spellings = by_size | {shape.label.lower(): shape for shape in finer}
        shape = spellings.get(text.strip().lower().replace("-", "_"))
        if shape is None:
            *sizes, last = by_size
            choice = f"{', '.join(sizes)} or {last}" if sizes else last
            which = f"Give {choice}: how many {family.divided_into} it has."
            self._findings.error("TABLE", f'"{text}" is no table. {which}')
        return shape or finer[0]

    def kind(self, text: str, shape: Shape) -> LineKind:
        kinds = {_plain(kind.short): kind for kind in shape.kinds}
        if _plain(text) not in kinds:
            self._findings.error("--number", f'"{text}" is none of {", ".join(kinds)}.')
        return kinds.get(_plain(text), shape.kinds[0])

    def tabulation_pass(self, text: str) -> TabulationPass:
        running = {one.value: one for one in self._tuning.config.passes}
        if text not in running:
            self._findings.error("--pass", f'"{text}" is no pass that runs; {" and ".join(running)} would be.')
        return running.get(text, self._tuning.config.passes[0])

    def positive(self, text: str, where: str, example: str, below: int | None = None) -> Fraction:
        """An exact number above 0, and below a limit if there is one."""
        value = _number(text)
        if value is None or value <= 0 or (below is not None and value >= below):
            limit = "" if below is None else f" and below {below}"
            self._findings.error(where, f'"{text}" is not a decimal number above 0{limit}, e.g. {example}.')
            return Fraction(1, 2)
        return value

    @property
    def _unit(self) -> str:
        return unit_of(self._tuning.config)

    def margin(self, text: str) -> int:
        if not text.isdecimal() or len(text) > 10 or int(text) > _MOST_MARGIN:
            self._findings.error("MARGIN", f'"{text}" is not a whole number of {self._unit} from 0 on, e.g. 11.')
            return 1
        return int(text)

    def sizes(self, texts: Iterable[int]) -> tuple[int, ...]:
        sizes = tuple(sorted(set(texts)))
        if sizes and not 0 <= sizes[0] <= sizes[-1] <= _MOST_MARGIN:
            self._findings.error("--size", f"must lie between 0 and {_MOST_MARGIN:,} persons.")
        return sizes

    def confidence(self, text: str) -> Fraction:
        return confidence_of(text, self._findings)

    def proportion(self, text: str) -> tuple[PopulationGroupLevel, Fraction]:
        """What county-detailed=11 means, say."""
        level, equals, number = text.rpartition("=")
        if not equals:
            self._findings.error("--proportion", f'"{text}" is not like county-detailed=11.')
            return _LEVELS[0], CONFIDENCE
        return self.level(level, "--proportion").facts.level, self.positive(number, "--proportion", "11")


def spelled(level: PopulationGroupLevel) -> str:
    return f"{level.geography.label}-{level.iterations.label}".lower()


def _number(text: str) -> Fraction | None:
    return Fraction(text) if text.strip(".") and _NUMBER.fullmatch(text) and text[0] not in "eE" else None


def _plain(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def _budget_key(level: PopulationGroupLevel, tuning: Tuning) -> str:
    return budget_key(tuning.config.product, tuning.family, level)


def _only_of(one: Tuning, families: tuple[Tuning, ...]) -> set[str]:
    """How its tables and budgets are spelled, without what another family spells alike."""
    others = [_names(other) for other in families if other is not one]
    return _names(one).difference(*others)


def _names(tuning: Tuning) -> set[str]:
    shapes = {_plain(text) for shape in tuning.family.finer for text in (shape.label, str(shape.divisions))}
    return shapes | {_plain(_budget_key(level, tuning)) for level in _LEVELS}


def _spellings(level: PopulationGroupLevel, config: RunConfig) -> Iterable[str]:
    """As here, as in config.json, and as in the paper."""
    yield from (spelled(level), threshold_key(level))
    yield from (budget_key(config.product, one.family, level) for one in config.families)
    if level.geography is GeographyLevel.USA:
        yield f"nation-{level.iterations.label}"


_LEVELS = POPULATION_GROUP_LEVELS
