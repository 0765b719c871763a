"""The demo census: a parameters directory and a data directory, whole and ready to run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from safetab.census.geography_levels import TabulationPass
from safetab.synthetic.blocks import demo_blocks
from safetab.synthetic.data_files import write_geography, write_people
from safetab.synthetic.demo_lists import demo_public_lists
from safetab.synthetic.demo_states import STATES
from safetab.synthetic.parameter_files import write_parameters
from safetab.synthetic.people import Census

FEWEST_PEOPLE = 1_000


def write_demo_census(out: Path, people: int = 200_000, seed: int = 2020) -> None:
    """Writes `out/parameters` and `out/data`; the same people and seed give the same bytes.

    Neither folder may exist: the marker for made-up people must never come to lie beside real ones. Fewer than
    FEWEST_PEOPLE are refused, since a state or Puerto Rico could be left without anyone.
    """
    if people < FEWEST_PEOPLE:
        raise ValueError(f"{people} people are too few for six states. Ask for {FEWEST_PEOPLE} or more.")
    parameters, data = out / "parameters", out / "data"
    for folder in (parameters, data):
        if folder.exists():
            raise FileExistsError(f"{folder} exists. Give a directory without it.")
    for folder in (parameters, data):
        folder.mkdir(parents=True)
    us_states = [state.code for state in STATES if state.tabulation_pass is TabulationPass.US]
    write_parameters(parameters, demo_public_lists(), us_states)
    random = np.random.Generator(np.random.PCG64(seed))
    blocks = demo_blocks(people, random)
    write_geography(data, blocks)
    write_people(data, blocks, Census(blocks, random).batches(people))
