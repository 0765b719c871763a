"""The states as people write and draw them: abbreviations, and a place on a grid of tiles."""

from __future__ import annotations

from typing import NamedTuple


class State(NamedTuple):
    """Its FIPS code, its abbreviation, and its tile: column and row."""

    code: str
    abbreviation: str
    column: int
    row: int


STATES = (
    State("01", "AL", 7, 6), State("02", "AK", 0, 0), State("04", "AZ", 2, 5), State("05", "AR", 5, 5),
    State("06", "CA", 1, 4), State("08", "CO", 3, 4), State("09", "CT", 10, 3), State("10", "DE", 10, 4),
    State("11", "DC", 9, 5), State("12", "FL", 9, 7), State("13", "GA", 8, 6), State("15", "HI", 0, 7),
    State("16", "ID", 2, 2), State("17", "IL", 6, 2), State("18", "IN", 6, 3), State("19", "IA", 5, 3),
    State("20", "KS", 4, 5), State("21", "KY", 6, 4), State("22", "LA", 5, 6), State("23", "ME", 11, 0),
    State("24", "MD", 9, 4), State("25", "MA", 10, 2), State("26", "MI", 7, 2), State("27", "MN", 5, 2),
    State("28", "MS", 6, 6), State("29", "MO", 5, 4), State("30", "MT", 3, 2), State("31", "NE", 4, 4),
    State("32", "NV", 2, 3), State("33", "NH", 11, 1), State("34", "NJ", 9, 3), State("35", "NM", 3, 5),
    State("36", "NY", 9, 2), State("37", "NC", 7, 5), State("38", "ND", 4, 2), State("39", "OH", 7, 3),
    State("40", "OK", 4, 6), State("41", "OR", 1, 3), State("42", "PA", 8, 3), State("44", "RI", 11, 3),
    State("45", "SC", 8, 5), State("46", "SD", 4, 3), State("47", "TN", 6, 5), State("48", "TX", 4, 7),
    State("49", "UT", 2, 4), State("50", "VT", 10, 1), State("51", "VA", 8, 4), State("53", "WA", 1, 2),
    State("54", "WV", 7, 4), State("55", "WI", 6, 1), State("56", "WY", 3, 3), State("72", "PR", 11, 7),
)  # fmt: skip
