"""Random small worlds: lists, geography and people, written as files."""

import random
import re

from tests.inside import CensusRequest, NoProgress, SizeRequest, write_census
from tests.worlds.world import World

EXACT = 10**9  # a budget at which noise is 0
GEOGRAPHIES = ("usa", "state", "county", "tract", "place", "aiannh", "pr_state", "pr_county", "pr_tract", "pr_place")
CODES = [str(1000 + 7 * n) for n in range(9)] + ["8999", "9950"]
PERSON_HEADER = (
    "QAGE|QSEX|HOUSEHOLDER|TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|CENRACE|"
    "QRACE1|QRACE2|QRACE3|QRACE4|QRACE5|QRACE6|QRACE7|QRACE8|QSPAN"
)


_ELSEWHERE = re.compile(r"[\d,]+ records? (?:is|are) in no pass and (?:is|are) counted nowhere\.")


def problems_with(findings):
    """All but the warning that counts the people of a world who are in American Samoa, which no pass has."""
    return tuple(one for one in findings if one.is_error or not _ELSEWHERE.fullmatch(one.message))


def write_random_world(folder, seed, people=60, budget=EXACT, **config):
    """Budgets at which noise is 0 differ from level to level; another budget is that of every level."""
    rng = random.Random(seed)
    world = World.of(folder)
    world.parameters.mkdir(parents=True)
    world.data.mkdir()
    _write_lists(world.parameters, rng)
    blocks = _write_geography(world.data, rng)
    _write_people(world.data, rng, blocks, people)
    (world.data / "SYNTHETIC").write_text("made up\n")
    budgets = {f"privacy_budget_p_level_{n}_{g}": rng.choice([budget, budget, 0]) for g in GEOGRAPHIES for n in (1, 2)}
    budgets |= {"privacy_budget_p_level_2_state": budget, "privacy_budget_p_level_2_pr_state": budget}
    if budget == EXACT:
        budgets = {key: value and value + number for number, (key, value) in enumerate(budgets.items())}
    thresholds = {
        f"({g.upper().replace('_', '-')}, {n})": sorted(rng.choice([0, 1, 2, 3, 5, 8, 13]) for _ in range(3))
        for g in GEOGRAPHIES
        for n in (1, 2)
    }
    values = {
        "max_race_codes": rng.choice([1, 2, 3, 8]),
        "privacy_budget_p_stage_1_fraction": 0.1,
        "thresholds_p": thresholds,
        "zero_suppression_chance": rng.choice([0, 0.3, 0.9, 0.9999]),
        "allow_negative_counts": rng.choice([True, False]),
        "run_us": True,
        "run_pr": True,
        "reader": "csv",
        "state_filter_us": ["01", "44"],
        "privacy_defn": rng.choice(["zcdp", "puredp"]),
    }
    world.write_config(budgets | values | config)
    return world


def no_budgets_but(*kept):
    """For levels other than these, such as 2_state: a run on few levels costs little."""
    levels = [f"{n}_{geography}" for geography in GEOGRAPHIES for n in (1, 2)]
    return {f"privacy_budget_p_level_{level}": 0 for level in levels if level not in kept}


def _write_lists(parameters, rng):
    codes = "".join(f"{code}|code {code}\n" for code in CODES)
    (parameters / "race-and-ethnicity-codes.txt").write_text("RACE_ETH_CODE|RACE_ETH_NAME\n" + codes)
    race, ethnicity, pairs, number = [], [], [], 1000
    for kind in ("True", "False", None):
        for level in (1, 2):
            common = {code: rng.choice(["a", "b", "c", None]) for code in CODES}
            free = [code for code in CODES if common[code] is None]
            lists = {
                ("False", "False"): common,
                ("True", "False"): {code: rng.choice(["t", "u", None]) for code in free},
                ("False", "True"): {code: rng.choice(["s", None]) for code in free},
            }
            for flags, group_of in lists.items():
                for group in sorted({group for group in group_of.values() if group}):
                    number += rng.randint(1, 9)
                    alone = [] if kind is None else [kind]
                    row = "|".join([str(number), f"group {number}", str(level), *alone, *flags])
                    (ethnicity if kind is None else race).append(row)
                    pairs += [f"{number}|{code}" for code in CODES if group_of.get(code) == group]
    header = "ITERATION_CODE|ITERATION_NAME|LEVEL|"
    rng.shuffle(pairs)
    (parameters / "race-characteristic-iterations.txt").write_text(
        "\n".join([header + "ALONE|DETAILED_ONLY|COARSE_ONLY", *race]) + "\n"
    )
    (parameters / "ethnicity-characteristic-iterations.txt").write_text(
        "\n".join([header + "DETAILED_ONLY|COARSE_ONLY", *ethnicity]) + "\n"
    )
    (parameters / "race-and-ethnicity-code-to-iteration.txt").write_text(
        "\n".join(["ITERATION_CODE|RACE_ETH_CODE", *pairs]) + "\n"
    )


def _write_geography(data, rng):
    blocks, rows = [], []
    for state, counties in (("01", ("001", "003")), ("44", ("007",)), ("72", ("031",)), ("60", ("001",))):
        for county in counties:
            for tract in ("000100", "000200"):
                for block in range(1000, 1000 + rng.randint(1, 3)):
                    place = rng.choice(["99999", "00100", "22800"])
                    aiannh = rng.choice(["9999", "9999", "0010", "2430"])
                    blocks.append(f"{state}|{county}|{tract}|{block}")
                    rows.append(f"{blocks[-1]}|{place}|{aiannh}")
    rng.shuffle(rows)
    (data / "GRF-C.txt").write_text("\n".join(["TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|PLACEFP|AIANNHCE", *rows]) + "\n")
    return blocks


def _write_people(data, rng, blocks, people):
    races = [code for code in CODES if code < "9000"]
    needed = [next(block for block in blocks if block.startswith(state)) for state in ("44", "72")]
    rows = []
    for number in range(people):
        block = needed[number] if number < len(needed) else rng.choice(blocks)
        count = rng.choice([1, 1, 1, 2, 3, 8])
        codes = [rng.choice(races) for _ in range(count)] + ["Null"] * (8 - count)
        age = rng.choice([0, 4, 5, 17, 18, 44, 45, 61, 62, 64, 65, 84, 85, 115, rng.randint(0, 115)])
        written_age = rng.choice([str(age), f"{age:03d}"])
        fields = [
            written_age,
            str(rng.randint(1, 2)),
            rng.choice(["True", "False"]),
            block,
            f"{rng.randint(1, 63):02d}",
        ]
        rows.append("|".join([*fields, *codes, rng.choice(CODES)]))
    (data / "person-records.txt").write_text("\n".join([PERSON_HEADER, *rows]) + "\n")


def write_small_census(folder, people=20_000, tracts=40):
    """Two states and Puerto Rico, with lists of their own, as `synthesize` makes them."""
    request = CensusRequest(SizeRequest(people, states=2, counties=6, tracts=tracts), iterations=120)
    folder.mkdir()
    write_census(folder, request.checked().require(), NoProgress())
    return folder
