"""A foreign census with awkward texts, measured without any record and released.

Ids have spaces, accents, commas and quotes, labels have spaces, and names of groups repeat in two
levels. Counts are made up by index.
"""

import datetime
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.inside import (
    RELEASE_FOLDER,
    USUAL_SIZES,
    AddressedBits,
    ExactCounts,
    Ledger,
    OutputChecks,
    OutputStatus,
    PassFiles,
    PublicFiles,
    ReleaseFacts,
    ReleaseFolder,
    ReleaseOptions,
    RunFacts,
    Universe,
    hashes_of,
    plan_of,
    read_public_files,
    readme_examples,
    safetab,
    steps_as_json,
    universe_of_run,
    write_checksums,
    write_manifest,
    write_not_for_release,
    write_privacy,
    write_readme,
    write_release,
    write_release_log,
)
from tests.worlds.specified.small_world import write_specification

SPECIFICATION = """census = 1

[about]
name = "Languages of Atlantis"
title = "Languages of Atlantis, a made-up census"
agency = "The Office of Nowhere"
year = "2031"
source = "a test"
contact = "office@nowhere.example"
url = "https://nowhere.example"
licence = "CC0"
record = "islander"
records = "islanders"
group = "language"
groups = "languages"

[records]
file = "islanders"
fields = [
  { name = "cell", type = "string" },
  { name = "age", type = "integer", unit_name = "years", constraints = { minimum = 0, maximum = 99 } },
  { name = "kind", attribute = "gender", type = "string", categories = [
    { value = "a", label = "female" }, { value = "b", label = "male" }, { value = "c", label = "another gender" }] },
  { name = "l1", type = "string" }, { name = "l2", type = "string" },
]

[areas]
file = "areas.csv"
key = ["cell"]
levels = [
  { name = "whole", whole = "Atlantis, all", noun = "realm", title = "Atlantis" },
  { name = "isle", id = ["isle"], names = "isle_name", noun = "isle", nouns = "isles" },
  { name = "market town", id = ["town"], names = "town_name", noun = "town", nouns = "towns", nowhere = "-" },
]

[[areas.passes]]
name = "main"
title = "Main isles"
where = { side = "m" }
levels = { whole = "whole", isle = "isle", "market town" = "market town" }
[[areas.passes]]
name = "far off"
title = "Far isles"
where = { side = "f" }
levels = { isle = "far isle", "market town" = "far market-town" }

[classifications.language]
file = "languages.csv"
columns = ["l1", "l2"]
required = false
gaps = "skipped"

[groups]
levels = [
  { name = "family", title = "Family", of = "language", column = "family", names = "family_name", members = ["any", "only"] },
  { name = "tongue-tip", title = "Language", of = "language", column = "code", names = "name", members = ["any"], code_prefix = "x " },
]

[[tables]]
name = "gender and age"
detail = "gender by age"
shapes = [
  { id = "A1", label = "total", title = "Islanders" },
  { id = "A2", label = "gender", title = "Gender", by = ["gender"] },
  { id = "A3", label = "gender_age", title = "Gender by age", by = ["gender", "age"], breaks = { age = [0, 18, 65] } },
]
[[tables]]
name = "age"
detail = "age"
shapes = [
  { id = "B1", label = "age_total", title = "Islanders" },
  { id = "B2", label = "age_2", title = "Age", by = ["age"], breaks = { age = [0, 50] } },
]

[privacy]
definition = "zcdp"
selector = "stage 1"
stage_1 = 0.1
suppress = { chance = 0.9, areas = ["market town"] }
[[privacy.levels]]
tables = "gender and age"
groups = ["family", "tongue-tip"]
areas = ["whole", "isle", "market town", "far isle", "far market-town"]
budget = 0.3
thresholds = [100, 1000]
[[privacy.levels]]
tables = "age"
groups = "family"
areas = ["whole", "isle", "far isle"]
budget = 0.2
thresholds = [200]
"""
AREAS = '''cell,isle,isle_name,town,town_name,side
1,Île du Nord,Île du Nord,"a,b",Port “One”,m
2,Île du Nord,Île du Nord,"say ""x""",Saint Elmo,m
3,Île du Nord,Île du Nord,-,,m
4,01,Lone Isle,zé 9,Lone Town,m
5,=1+1,Formula,a|b,Pipe,m
6,日本,Sunrise,Z,Zed,f
7,日本,Sunrise,é,Accent,f
'''
LANGUAGES = """code,name,family,family_name
10,Elvish,e f,Elvish
20,High Elvish,e f,Elvish
β,Orcish,o,Orcish
"""
DATE = datetime.date(2031, 1, 2)


def write_atlantis(folder, text=SPECIFICATION, **files):
    """The specification, the lists that it names, and no record."""
    lists = {"areas": AREAS, "languages": LANGUAGES} | files
    return write_specification(folder, text, None, {f"{name}.csv": each for name, each in lists.items()})


class MadeUpCounts:
    """Counts that follow from the index of a group, other ones for each level of groups; all in the first cell."""

    _SIZES = np.array([[5_000, 7, 0, 300], [0, 300, 0, 5_000]])

    def totals(self, level):
        indices = np.arange(level.universe.size)
        return ExactCounts(indices, self._of(level, indices).reshape(-1, 1))

    def cells(self, level, groups_of):
        found = {}
        for shape, indices in groups_of.items():
            counts = np.zeros((len(indices), shape.cells), dtype=np.int64)
            counts[:, 0] = self._of(level, indices)
            found[shape] = ExactCounts(indices, counts)
        return found

    def _of(self, level, indices):
        return self._SIZES[level.level.iterations.number, indices % 4]


@dataclass(frozen=True)
class ReleasedWorld:
    """An output and what it was made from."""

    out: Path
    files: PublicFiles
    universe: Universe


def released(folder, options=None, text=SPECIFICATION):
    """Measure the made-up counts, write the whole output into a folder, and check it."""
    options = options or ReleaseOptions()
    world, out = write_atlantis(folder, text), folder / "out"
    out.mkdir()
    files = read_public_files(*world).require()
    plan = plan_of(files).require()
    ledger = Ledger(plan.config.budgets, AddressedBits(bytes(range(32))))
    rows = {}
    for each in plan.config.passes:
        written = PassFiles(out, each, plan.config, USUAL_SIZES.measurements)
        for measured in safetab(plan.levels_of(each), MadeUpCounts(), ledger, USUAL_SIZES, 1):
            for measurements in measured:
                written.write(measurements)
        written.close()
        rows |= written.rows
    universe = universe_of_run(plan, files.geography_of_pass, files.names)
    facts = ReleaseFacts("0", DATE, OutputStatus.SYNTHETIC, options, publication=files.publication)
    write_not_for_release(out, facts.status)
    checks = OutputChecks(out, universe, options)
    with checks.of_tables_beside():
        rows |= write_release(out, universe, facts, files.geography_of_pass)
    with checks.of_numbers_beside():
        release = out / RELEASE_FOLDER
        write_privacy(release, plan, universe, facts)
        write_readme(release, universe, facts, readme_examples(ReleaseFolder(release, facts, universe)))
        write_checksums(release)
        run = RunFacts(plan, ledger.events, DATE, facts.status, release_steps=steps_as_json(options, universe.census))
        write_release_log(out, run, rows)
        write_manifest(out, run, hashes_of(files.paths), rows)
    checks.of_remaining_files()
    return ReleasedWorld(out, files, universe)
