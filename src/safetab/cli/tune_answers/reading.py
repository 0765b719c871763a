"""Reads the words of a question: levels, tables and numbers.

Reports everything wrong together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from safetab.cli.tune_answers.answer import name, unit_of
from safetab.core.algorithm.level_design import CONFIDENCE
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.inputs.tuning.tuned_level import TunedLevel
from safetab.inputs.tuning.tuning import Tuning
from safetab.model.census.area_levels import Pass
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.config.run_config import RunConfig, budget_key, threshold_key
from safetab.model.known_census import examples
from safetab.model.products.product import LineKind, Shape
from safetab.release.files.release_options import confidence_of

_NUMBER = re.compile(r"[0-9]{0,18}(\.[0-9]{1,18})?(e-?[0-9]{1,2})?", re.IGNORECASE)
_MOST_MARGIN = 10**9
_TOTAL, _CELL = "total", "cell"


class QuestionReader:
    """Reads the arguments of one question and collects findings; `end` raises them.

    Every method returns a usable value even for a wrong argument, so that reading goes on.
    """

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        self._levels = tuning.config.census.levels
        self._level_of = {
            _plain(text): level
            for level in self._levels
            for text in _spellings(level, tuning.config)
        }
        self._findings = FindingsOf("the question")
        self._families = tuning.by_family()  # those that the question may mean

    def of_family(self, text: str | None, *hints: str) -> Tuning:
        """The tuning of one table family.

        It is the family with this name; without a name, the one with a table or a config key among
        the hints that no other family has.
        """
        families = self._tuning.by_family()
        if text is not None:
            meant = [each for each in families if _plain(each.family.name) == _plain(text)]
        elif len(families) == 1:
            meant = list(families)
        else:
            hinted = {_plain(hint) for hint in hints}
            counts = Counter(name for each in families for name in _names(each))
            meant = [
                each
                for each in families
                if any(counts[name] == 1 for name in hinted & _names(each))
            ]
        if len(meant) != 1:
            names = " or ".join(_plain(each.family.name) for each in families)
            product = self._tuning.config.product.name
            why = (
                f"needed, since {product} has several"
                if text is None
                else f'{product} has no "{text}"'
            )
            self._findings.error("--family", f"{why}. Give {names}.")
        self._tuning = meant[0] if meant else families[0]
        self._families = (self._tuning,) if len(meant) == 1 else families
        return self._tuning

    def end(self, drawn: TunedLevel | None = None) -> None:
        """Raise InvalidInput, with every finding, if an argument was wrong.

        Raises it too if the noise of the level `drawn` can't be drawn.
        """
        self._findings.require_no_errors()
        if drawn is not None and not drawn.design.can_be_drawn:
            raise no_answer("the noise of this level can't be drawn.")

    def level(self, text: str, where: str = "LEVEL") -> TunedLevel:
        """The level with this name; it may have no budget."""
        level = self._level_of.get(_plain(text))
        if level is None:
            self._findings.error(
                where, f'there is no level "{text}". The levels are {_listed(self._levels)}.'
            )
        return self._tuning.level(level or self._levels[0])

    def tabulated_level(self, text: str) -> TunedLevel:
        """The level with this name, which the configuration must tabulate."""
        known = len(self._findings.findings)
        tuned = self.level(text)
        if len(self._findings.findings) > known or tuned.facts.level in self._tuning.levels:
            return tuned
        level = tuned.facts.level
        pass_runs = level.geography.tabulation_pass in self._tuning.config.passes
        why = (
            f"its budget {_budget_key(level, self._tuning)} is 0"
            if pass_runs
            else "its pass doesn't run"
        )
        if self._tuning.config.specification is not None:
            why = "no entry of privacy.levels names it"
        tabulated = _listed(self._tuning.levels)
        self._findings.error(
            "LEVEL", f"{_spelled(level)} is not tabulated: {why}. Tabulated are {tabulated}."
        )
        return next(iter(self._tuning.levels.values()))

    def adaptive_level(self, text: str) -> TunedLevel:
        """The level with this name, which must have groups that can get more than a total."""
        tuned = self.tabulated_level(text)
        if not tuned.iterations.adaptive or not tuned.stability:
            self._findings.error(
                "LEVEL",
                f"{_spelled(tuned.facts.level)} has no group that can get more than a total.",
            )
        return tuned

    def shape(self, text: str) -> Shape:
        """The table shape with this label, id or number of divisions, or the lone total."""
        shapes = [shape for each in self._families for shape in each.family.shapes]
        shape_of = {each: shape for shape in shapes for each in _spellings_of(shape)}
        shape = shape_of.get(_plain(text))
        if shape is None:
            *sizes, last = dict.fromkeys(
                str(shape.divisions) for shape in shapes if shape.divisions
            )
            choice = f"{', '.join(sizes)} or {last}" if sizes else last
            others = f"{_TOTAL}; or an id, such as {shapes[-1].table_id}"
            which = f"Give {choice}: how many {self._tuning.family.divided_into} it has; {others}."
            self._findings.error("TABLE", f'there is no table "{text}". {which}')
        return shape or shapes[-1]

    def kind(self, text: str, shape: Shape) -> LineKind:
        """The kind of line with this name, such as cell, sex or total.

        The only cell of a lone total is its total.
        """
        kinds = {_plain(kind.short): kind for kind in shape.kinds}
        if not shape.divisions and _plain(text) == _CELL:
            return shape.kinds[0]
        if _plain(text) not in kinds:
            self._findings.error("--number", f'must be one of {", ".join(kinds)}, not "{text}".')
        return kinds.get(_plain(text), shape.kinds[0])

    def tabulation_pass(self, text: str | None) -> Pass:
        """The pass with this name, which must be one that runs; without a name, the first."""
        running = {each.name: each for each in self._tuning.config.passes}
        if text is not None and text not in running:
            self._findings.error(
                "--pass", f'must be {" or ".join(running)}, a pass that runs, not "{text}".'
            )
        return running.get(text or "", self._tuning.config.passes[0])

    def positive(self, text: str, where: str, example: str, below: int | None = None) -> Fraction:
        """An exact number above 0, and below the limit if one is given."""
        is_number = text.strip(".") and _NUMBER.fullmatch(text) and text[0] not in "eE"
        value = Fraction(text) if is_number else Fraction(0)
        if value > 0 and (below is None or value < below):
            return value
        limit = "" if below is None else f" and below {below}"
        self._findings.error(
            where, f'"{text}" is not a decimal number above 0{limit}, e.g. {example}.'
        )
        return Fraction(1, 2)

    def margin(self, text: str) -> int:
        """A margin of error in whole persons or households."""
        if not text.isdecimal() or len(text) > 10 or int(text) > _MOST_MARGIN:
            unit = unit_of(self._tuning.config)
            self._findings.error(
                "MARGIN", f'must be a whole number of {unit}, at least 0, e.g. 11, not "{text}".'
            )
            return 1
        return int(text)

    def sizes(self, given: Iterable[int]) -> tuple[int, ...]:
        """Sizes of groups, sorted and each once."""
        sizes = tuple(sorted(set(given)))
        if sizes and not 0 <= sizes[0] <= sizes[-1] <= _MOST_MARGIN:
            self._findings.error(
                "--size", f"must lie between 0 and {_MOST_MARGIN:,} {unit_of(self._tuning.config)}."
            )
        return sizes

    def confidence(self, text: str) -> Fraction:
        """A confidence between 0 and 1."""
        return confidence_of(text, self._findings)

    def proportion(self, text: str) -> tuple[PopulationGroupLevel, Fraction]:
        """The level and the number in a text such as LEVEL=11."""
        level, equals, number = text.rpartition("=")
        if not equals:
            example = (
                examples.LEVEL
                if self._tuning.config.specification is None
                else _spelled(self._levels[0])
            )
            self._findings.error("--proportion", f'"{text}" is not like {example}=11.')
            return self._levels[0], CONFIDENCE
        return self.level(level, "--proportion").facts.level, self.positive(
            number, "--proportion", "11"
        )


def no_answer(message: str) -> InvalidInput:
    """The error for a question that has no answer, with its reason."""
    return InvalidInput.about("the question", message)


def _spelled(level: PopulationGroupLevel) -> str:
    """Such as county-detailed, or sa2, level 3."""
    named = name(level)
    return named if "," in named else named.replace(" ", "-").lower()


def _listed(levels: Iterable[PopulationGroupLevel]) -> str:
    names = list(map(_spelled, levels))
    return (
        "; ".join(f'"{each}"' for each in names)
        if any("," in each for each in names)
        else ", ".join(names)
    )


def _plain(text: str) -> str:
    return re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")


def _budget_key(level: PopulationGroupLevel, tuning: Tuning) -> str:
    return budget_key(tuning.config.product, tuning.family, level)


def _spellings_of(shape: Shape) -> tuple[str, ...]:
    return _plain(shape.label), _plain(shape.table_id), str(shape.divisions or _TOTAL)


def _names(tuning: Tuning) -> set[str]:
    shapes = {text for shape in tuning.family.shapes for text in _spellings_of(shape)}
    return shapes | {_plain(_budget_key(level, tuning)) for level in tuning.config.census.levels}


def _spellings(level: PopulationGroupLevel, config: RunConfig) -> Iterable[str]:
    """The level's names here, in config.json and in the paper."""
    yield _spelled(level)
    if config.specification is not None:  # whose names of levels may be numbers
        return
    yield threshold_key(level)
    yield from (budget_key(config.product, each.family, level) for each in config.families)
    if level.geography.kind.is_whole:
        yield f"{level.geography.kind.name}-{level.iterations.name}"
