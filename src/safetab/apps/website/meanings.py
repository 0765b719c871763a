"""Meanings of words on the pages of a site: kinds of groups, margins, and no number."""

from __future__ import annotations

from safetab.model.census.census import Census, a_or_an, capitalized
from safetab.model.census.groups import GroupKind, Members
from safetab.model.products.record import RecordLayout

_JsonObject = dict[str, object]


def meanings(census: Census, record: RecordLayout, percent: str) -> _JsonObject:
    """A sentence for each word, of a census with these records.

    `kinds` has three texts for each kind of group: who is in a group of this kind, the same for a
    list of all kinds, and a note for a choice between kinds.
    """
    sentences = {kind: _sentence(kind, census, record) for kind in census.group_kinds}
    return {
        "kinds": [
            [sentence, _listed(kind, sentence), _note(kind, sentence, record)]
            for kind, sentence in sentences.items()
        ],
        "margin": (
            f"“± 75” means that random noise moved the number by at most 75, {percent} of the time."
        ),
        "noNumber": "“No number” means that no count is published. It does not mean zero.",
    }


def _sentence(kind: GroupKind, census: Census, record: RecordLayout) -> str:
    """Who is in a group of this kind; empty if it goes without saying."""
    others = [each.name for each in census.classifications if each != kind.classification]
    if kind.classification.has_one_answer and others:
        answer = f"{_whose(record)}{kind.classification.name} answer"
        return f"Only the {answer} counts for this group, not the {' and '.join(others)} answers."
    if kind.classification.has_one_answer or len(census.group_kinds) == 1:
        return ""
    if kind.ends:
        return (
            f"“{capitalized(kind.ends[0])}” means that {_which_answers(kind, record)} is in this"
            " group."
        )
    return (
        f"{capitalized(a_or_an(record.noun))} is in this group if {_which_answers(kind, record)}"
        " is in it."
    )


def _listed(kind: GroupKind, sentence: str) -> str:
    """The sentence behind the kind's title, unless it names the kind itself."""
    if sentence[:1] in "“":
        return sentence
    return f"{kind.title}: {sentence[:1].lower()}{sentence[1:]}".replace(
        "this group", "such a group"
    )


def _note(kind: GroupKind, sentence: str, record: RecordLayout) -> str:
    """Who is in a group of this kind, in a few words; empty if its name is enough."""
    return (
        ""
        if kind.classification.has_one_answer or not sentence
        else f"{_which_answers(kind, record)} is in it"
    )


def _which_answers(kind: GroupKind, record: RecordLayout) -> str:
    answers = (
        f"{'every' if kind.members is Members.ONLY else 'at least one'} {kind.classification.name}"
        " answer"
    )
    return f"{answers} of the householder" if record.holds_people else answers


def _whose(record: RecordLayout) -> str:
    return "householder's " if record.holds_people else ""
