"""Small synthetic censuses, made in a second or two."""

from __future__ import annotations

from pathlib import Path

from tests.inside import CensusRequest, NoProgress, SizeRequest, write_census


def write_small_census(folder: Path, people: int = 20_000, tracts: int = 40) -> Path:
    """Two states and Puerto Rico, with lists of their own."""
    request = CensusRequest(SizeRequest(people, states=2, counties=6, tracts=tracts), iterations=120)
    folder.mkdir()
    write_census(folder, request.checked().require(), NoProgress())
    return folder
