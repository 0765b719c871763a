"""A world with pairs of groups, alone and in combination, and with names that would like to be markup."""

import re
from collections import defaultdict

from tests.brute_force import entities_of, rows_of
from tests.worlds.people import no_budgets_but, write_random_world

NASTY = "<script>alert('1')</script> \"quoted\" & 'more' \u05e9\u05dc\u05d5\u05dd"
UNNAMED = "44007000100"
"""A tract that the file of names leaves out."""


def write_paired_world(folder, seed):
    """Noise so wide that many numbers are negative."""
    world = write_random_world(
        folder, seed, people=300, budget=0.05, allow_negative_counts=True, zero_suppression_chance=0.3,
        privacy_defn="zcdp", state_filter_us=["44"],
        **no_budgets_but("1_usa", "2_usa", "1_state", "2_state", "1_county", "2_county", "2_tract", "2_pr_state", "2_pr_tract"),
    )  # fmt: skip
    make_pairs(world)
    blocks = [row for row in rows_of(world.data / "GRF-C.txt") if row["TABBLKST"] in {"44", "72"}]
    entities = {one for row in blocks for one in entities_of(row, row["PLACEFP"], row["AIANNHCE"]).items()}
    named = [f"{level}|{region}|{NASTY}" for level, region in sorted(entities) if region != UNNAMED]
    (world.data / "geography-names.txt").write_text(
        "\n".join(["REGION_TYPE|REGION_ID|NAME", *named, "STATE|99|nowhere"]) + "\n"
    )
    lists = world.parameters / "race-characteristic-iterations.txt"
    lists.write_text(re.sub(r"\|group \d+\|", lambda _: f"|{NASTY}|", lists.read_text()))
    return world


def make_pairs(world):
    """Each alone iteration gets the codes of an in-combination one of its level and lists."""
    race_file = world.parameters / "race-characteristic-iterations.txt"
    codes_file = world.parameters / "race-and-ethnicity-code-to-iteration.txt"
    race, codes = rows_of(race_file), defaultdict[str, list[str]](list)
    for pair in rows_of(codes_file):
        codes[pair["ITERATION_CODE"]].append(pair["RACE_ETH_CODE"])
    kinds = defaultdict[tuple[str, ...], dict[str, list[str]]](lambda: {"True": [], "False": []})
    for row in race:
        kinds[row["LEVEL"], row["DETAILED_ONLY"], row["COARSE_ONLY"]][row["ALONE"]].append(row["ITERATION_CODE"])
    for of in kinds.values():
        for alone in of["True"]:
            del codes[alone]
        codes |= {alone: codes[partner] for alone, partner in zip(of["True"], of["False"], strict=False)}
    lines = [f"{iteration}|{code}" for iteration, inside in codes.items() for code in sorted(inside)]
    codes_file.write_text("\n".join(["ITERATION_CODE|RACE_ETH_CODE", *lines]) + "\n")
    kept = ["|".join(row.values()) for row in race if row["ITERATION_CODE"] in codes]
    race_file.write_text("\n".join(["|".join(race[0]), *kept]) + "\n")
