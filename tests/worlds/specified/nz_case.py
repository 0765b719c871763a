"""A census as large as the New Zealand-shaped case: 912 areas and 90 ethnic groups are 82,080 totals.

Lists and people are made up. The groups are those of a total-response classification: 6 of level 1
and 21 of level 2, each by any and by only, and 36 of level 3 by any: 2 * 6 + 2 * 21 + 36 = 90. The
areas are 1 nation, 16 regions, 67 authorities that cross regions, and 828 small areas.
"""

from random import Random

from tests.worlds.specified.small_world import nz_keys, write_specification
from tests.worlds.specified.toml_text import csv_of

REGIONS, AUTHORITIES, SMALL_AREAS = 16, 67, 828
OF_LEVEL_1 = (3, 1, 8, 5, 3, 1)  # how many groups of level 2 each of level 1 has
TOTALS = 82_080
ANSWERS = 6


def full_keys():
    """The specification: six answers, three levels of groups, four tables."""
    keys = nz_keys()
    answers = [f"ETH{place}" for place in range(1, ANSWERS + 1)]
    keys["records"]["fields"][4:] = [{"name": name, "type": "string"} for name in answers]
    keys["classifications"]["ethnicity"]["columns"] = answers
    del keys["areas"]["levels"][2]["nowhere"]
    level_1, level_2 = keys["groups"]["levels"]
    level_2["members"] = ["any", "only"]
    level_3 = level_2 | {"name": "level 3", "title": "Level 3", "column": "level3", "names": "level3_name"}
    keys["groups"]["levels"] = [level_1, level_2, level_3 | {"members": ["any"]}]
    keys["privacy"]["levels"][0]["groups"] = ["level 1", "level 2", "level 3"]
    return keys


def write_nz_case(folder, keys, people=2500):
    """The case for these keys, or for none if census.toml is written by the caller."""
    random = Random(912)
    codes = list(_codes())
    areas = list(_areas(random))
    names = "code,name,level1,level1_name,level2,level2_name,level3,level3_name"
    texts = {
        "ethnicity.csv": csv_of(names, codes),
        "areas.csv": csv_of("SA1,SA2,SA2_NAME,TA,TA_NAME,REGC,REGC_NAME", areas),
    }
    rows = [_person(random, areas, [code[0] for code in codes]) for _ in range(people)]
    header = ",".join(["SA1,RESIDENT,AGE,GENDER", *(f"ETH{place}" for place in range(1, ANSWERS + 1))])
    return write_specification(folder, keys or full_keys(), csv_of(header, rows), texts)


def _codes():
    """Two codes for each of the 36 groups of level 3, and two that are in no group."""
    extra = 36 - sum(OF_LEVEL_1)  # the first groups of level 2 are divided, the others are not
    for one, inside in enumerate(OF_LEVEL_1, start=1):
        for two in range(inside):
            for three in range(2 if extra > 0 else 1):
                for four in ("11", "12"):
                    level_2 = f"{one}{two}"
                    yield [
                        f"{level_2}{three}{four}",
                        f"Code {level_2}{three}{four}",
                        str(one),
                        f"Group {one}",
                        level_2,
                        f"Group {level_2}",
                        f"{level_2}{three}",
                        f"Group {level_2}",  # names repeat across levels
                    ]
            extra -= 1
    yield ["94444", "Don't know", *[""] * 6]
    yield ["99999", "Not stated", *[""] * 6]


def _areas(random):
    """Two smallest areas for each small area."""
    for number in range(2 * SMALL_AREAS):
        small = number // 2
        region = small % REGIONS
        authority = number if number < AUTHORITIES else random.randrange(AUTHORITIES)
        ids = [f"{7000000 + number}", f"{100100 + small}", f"Small area {small}"]
        yield [*ids, f"{authority:03d}", f"Authority {authority}", f"{region:02d}", f"Region {region}"]


def _person(random, areas, codes):
    answers = [random.choice(codes) for _ in range(random.choice([1, 1, 1, 2, 3, ANSWERS]))]
    resident = "1" if random.random() < 0.9 else "0"
    age, gender = str(random.randrange(121)), random.choice("123")
    area = random.choice(areas[: len(areas) // 20] if random.random() < 0.5 else areas)[0]
    return [area, resident, age, gender, *answers, *[""] * (ANSWERS - len(answers))]
