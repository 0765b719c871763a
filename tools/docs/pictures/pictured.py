"""What is pictured: pages of a browser, and what a terminal shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Picture:
    """A page from one of its elements down to another. A narrower window makes larger letters.

    `page` lies in build/. `button` is pressed first.
    """

    name: str
    page: str
    first: str
    last: str
    window_pixels: int
    button: str = ""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Commands and all that they print, in a folder where `demo` and `nz` are.

    `before` is done unseen. `--quiet` leaves out progress, which would say how fast this machine
    is. `exit_code` is that of the last command.
    """

    name: str
    shown: tuple[str, ...]
    before: tuple[str, ...] = ()
    exit_code: int = 0


PAGES = (
    Picture("nz", "nz/site/index.html#/area/region/03/331", "body", "table.bars", 1120),
    Picture("site", "demo/site/index.html#/area/COUNTY/44007/1167", "body", "table.pyramid", 1120),
    Picture(
        "sums",
        "demo/site/index.html#/area/COUNTY/44007/1167",
        ".adding",
        ".adding",
        1120,
        "Under 18 years",
    ),
    Picture("map", "demo/site/index.html#/group/1002/county", "figure.map", "figure.map", 1120),
    Picture(
        "households",
        "demo/site-households/index.html#/area/COUNTY/44007/1167",
        ".crumbs",
        "table.bars",
        1120,
    ),
    Picture("report", "demo/output/report.html", "header", "header ol, header ul", 1120),
    Picture("compare", "compare/compare.html", "#committee-title", "#committee table", 1300),
    Picture("explorer", "demo/explorer.html", "header", "#opening", 1400),
    Picture("cluster", "../docs/pictures/cluster.html", "main", "main", 760),
)

DOMINICAN = '"Providence County, RI" Dominican'
RUN = "safetab run -q --spend-log people.log"
# One number is 900 greater, and then the checksums agree with it.
ALTER = """python -c '
import pyarrow as pa, pyarrow.parquet as pq
file = "altered/release/numbers/geography_level=COUNTY/detailed-sex-by-age.parquet"
table = pq.read_table(file, partitioning=None)
rows = table.to_pylist()
for row in rows:
    if [row[name] for name in ("region_id", "iteration_name", "table_id")] == \
["44007", "Dominican", "T01001"]:
        row["count"] += 900
        row["unclamped_count"] += 900
pq.write_table(pa.Table.from_pylist(rows, table.schema), file, store_schema=False)
'"""
SUMS_AGAIN = "cd altered/release && sha256sum $(cut -c 67- SHA256SUMS) > new && mv new SHA256SUMS"
SYNTHESIZE = (
    "safetab synthesize cef --us --people 20000 --states 2 --counties 6 --tracts 12"
    " --iterations 300 --format cef"
)

TERMINALS = (
    Terminal("selftest", ("safetab audit --selftest",)),
    Terminal(
        "spend",
        ("safetab spend people.log",),
        (
            f"{RUN} demo/parameters demo/data first --dataset census-2020 --spend-limit 10",
            f"{RUN} demo/parameters demo/data second --dataset census-2020",
            f"{RUN} nz/parameters nz/data third --dataset census-2023",
        ),
    ),
    Terminal(
        "verify",
        (f"safetab show altered {DOMINICAN}", "safetab verify altered"),
        ("cp -r demo/output altered", ALTER, SUMS_AGAIN),
        exit_code=1,
    ),
    Terminal(
        "tune",
        ("safetab tune margins 5", "safetab tune threshold county-detailed 23 --relative 0.1"),
    ),
    Terminal(
        "official",
        (
            "safetab official census/T0*.csv new --parameters demo/parameters --complete",
            f"safetab show new {DOMINICAN}",
        ),
        ("safetab export demo/output census --form census",),
    ),
    Terminal(
        "cef",
        ("cat cef/data/reader.ini", "safetab validate cef/parameters cef/data/reader.ini --quiet"),
        (SYNTHESIZE, "sed -i 5d cef/data/CEF20_UNIT_06.txt", "sed -i 9d cef/data/CEF20_PER_48.txt"),
        exit_code=1,
    ),
    Terminal(
        "json",
        (
            f"safetab show demo/output {DOMINICAN} --json \\\n"
            "    | jq '.numbers[0] | {estimate, margin_of_error, interval}'",
            "safetab show demo/output county Dominican --json \\\n"
            "    | jq -r '.numbers[] | [.region_id, .estimate, .margin_of_error] | @csv'",
        ),
    ),
    Terminal(
        "csv",
        (
            "safetab export demo/output csv",
            "head -n 6 csv/numbers/USA.csv | cut -d , -f 3,6,12,13,16,17",
        ),
    ),
)
