"""What the report says of numbers that were not made here but read from published files."""

from __future__ import annotations

from safetab.release.origin import Origin

KICKER = "Report on numbers that were read from files"
ABOUT = "Counts of {nouns} from files that were given, and the noise that they have. Read on "
RULES = "Which rules were applied, the files don't tell; what they withhold is shown as withheld."


def origin_notes(origin: Origin | None) -> list[str]:
    """What a reader of the page must know before the counts of groups."""
    if origin is None:
        return []
    notes = [
        "The numbers are those of the files; margins follow from the parameters that were given with them. Where the"
        " files don't tell which table a group got, it is counted here under the finest one, with the greatest margin"
        " of error that it can have: least_margin_of_error in the data tells which groups these are."
    ]
    if not origin.is_complete:
        notes.append(
            "The files that were read need not be whole tables. A group that is not in them may be published elsewhere:"
            " shares of possible groups are shares of what these files could hold."
        )
    return notes
