"""A comparison for tests of the page. Every number in it is made up; none is a result of any protection."""

from ast import literal_eval
from dataclasses import replace
from functools import cache

import pyarrow as pa

from tests.cases import cases_of, values_of
from tests.counted_census import parsed
from tests.inside import (
    MERGED,
    SIZE_CLASSES,
    Claims,
    Compared,
    ComparedCensus,
    Comparison,
    Control,
    Exposure,
    ShownNumber,
    Source,
    WorkedExample,
)

GUARANTEE = (
    "one person added or removed: rho = 4.944 (epsilon = 25.4 at delta = 1e-10), membership at most 0.91; one record"
    " changed: at most twice that rho, membership at most 1.00"
)
CLASSES = *SIZE_CLASSES[:9], *MERGED
STARTS = {name: 1 if name == "all" else int(name.split()[0].replace(",", "")) for name in CLASSES}
UNIQUES, RANKED = 2048, 500

# spec, name, agency, years; error by size, least size published, proven, named claims and right, ranked, membership,
# false zeros, false non-zeros, tables not additive; what is assumed
MADE_UP = {
    spec: (name, agency, years, *(None if one == "-" else literal_eval(one) for one in numbers.split()), tuple(assumed))
    for spec, name, agency, years, numbers, *assumed in cases_of(
        """
        area:people=40+round-random:base=5 | Statistics Canada, random rounding | Statistics Canada | 1971 on | 1.7 1 0 16 16 318 0.53 0.4 0.0 0.67
        cell-key:D=2,V=0.9 | Cell key, variance 0.9 | Eurostat, recommendation | 2021 | 0.7 1 38 370 368 490 0.9 0.13 0.0 0.81 | Countries keep their tables secret: D and V are an example of the method's package.
        cell-key:D=5,V=3,js=2 | Cell key, variance 3 | Eurostat, recommendation | 2021 | 1.4 1 0 25 25 356 0.61 0.33 0.0 0.9 | D, V and js are an example of the method's package.
        none | Nothing | No agency | never | 0.0 1 2048 2048 2048 500 1.0 0.0 0.0 0.0
        round-random:base=3,fixed=yes | Stats NZ, random rounding | Stats NZ | 1981 on | 0.9 1 31 68 68 411 0.76 0.28 0.0 0.62
        round:rule=10-5 | 10-5 rule | Office for National Statistics | 2021 on | 1.2 10 22 108 105 470 1.0 0.0 0.0 0.4
        safetab | SafeTab-P, given parameters | U.S. Census Bureau | 2020 | 4.5 20 - 0 0 83 0.1 0.0 0.0 0.0
        suppress:below=10,secondary=lp | Suppression of 1 to 9 | several agencies | 1960s on | 0.0 10 0 282 250 432 1.0 0.0 0.0 0.0 | The limit of 10.
        suppress:below=3,secondary=lp | Suppression of 1 and 2 | several agencies | 1960s on | 0.0 3 0 518 452 441 1.0 0.0 0.0 0.0 | The limit of 3.
        swap:rate=0.05+threshold:people=100 | Swapping, tables from 100 people on | U.S. Census Bureau | 2010 | 3.4 100 - 345 286 397 - 0.03 0.04 0.0 | The rate and the matching variables, which are secret.
        """
    )
}


FACTS = """
Numbers | made up for a test; they are not results
Area under attack | Example County, 99,018 people, 25 tracts
Tables | as released
Draws of each random protection | 10
Seed | 1
Proven by | propagation and CP-SAT
Alone by block, sex and age | 49.2 % of people
Versions | safetab, numpy 2.3, ortools 9.15
"""
SAME_IN_ALL_ROWS = literal_eval(
    """{
    "kind": "all", "groups": 100, "people": 1000, "asked": 200, "tables": 50, "runs": 10, "areas": 10,
    "false_zeros_share": None, "false_nonzeros_share": None, "tables_not_additive_share": None,
    "interval_holding_share": 0.957,
    }"""
)


def sample_comparison():
    """A comparison with ten protections, a sweep, examples and controls."""
    return Comparison(
        census=ComparedCensus(
            1_002_345, "people", "population groups",
            "the total of every group, and its table by sex and age where its true size gives it one",
            "Example County", "tracts", whole="the nation and states", larger_left="the nation and the state", spent_on_left="86%",
        ),
        protections=tuple(compared(spec) for spec in MADE_UP),
        is_sweep=False,
        baseline=Exposure(
            UNIQUES, None, Claims(0, 0), {"100": Claims(100, 19), "500 or uniques": Claims(RANKED, 69)}, Claims(0, 0),
            None, None, small_groups=45,
        ),
        controls=CONTROLS,
        examples=EXAMPLES,
        shown=tuple(shown_number(number) for number in range(10)),
        shown_area="Tract 12, Example County",
        facts=dict(cases_of(FACTS)),
        not_finished=("Suppression of 1 and 2: the solver reached its limit of 60 s in 2 of 152 groups.",),
    )  # fmt: skip


@cache
def compared(spec):
    name, agency, years, error, least, proven, named, right, ranked, membership, zeros, nonzeros, gaps, assumed = (
        MADE_UP[spec]
    )
    is_safetab = spec == "safetab"
    source = Source(agency, years, f"{name}, a document of {years}", ("The method and its steps.",), assumed)
    exposure = Exposure(
        UNIQUES,
        None if proven is None else Claims(proven, proven),
        Claims(named, right),
        {"100": Claims(100, min(ranked, 100)), "500 or uniques": Claims(RANKED, ranked)},
        Claims(40, 38),
        membership,
        0.91 if is_safetab else None,
        {0: 0.06} if is_safetab else {1: 0.3, 10: 0.5, 90: 0.8} if error else {},
        (12, 31),
        1.01,
    )
    return Compared(
        replace(parsed(spec), name=name, source=source),
        utility_of(spec, error, least, {"false_zeros_share": zeros, "false_nonzeros_share": nonzeros, "tables_not_additive_share": gaps}),
        exposure,
        GUARANTEE if is_safetab else "none stated",
        ("an interval for 95%",) if is_safetab else ("the largest error, 4",) if "round" in spec or "cell" in spec else ("exact", "a mark where withheld"),
    )  # fmt: skip


def utility_of(spec, error, least, shares):
    """Rows of two levels, whose means are the made-up numbers."""
    rows = []
    for level in "County", "Tract":
        for name in CLASSES:
            for sort in "total", "cell":
                if name == "0" and sort == "cell":
                    continue
                published = (
                    1.0 if STARTS[name] >= least else 0.92 if name == "all" else 0.7 if name == "10 to 99" else 0.0
                )
                has_numbers = published > 0
                growth = 1.0 + (STARTS[name] ** 0.5 / 10 if "swap" in spec else 0.0)
                rows.append(SAME_IN_ALL_ROWS | {
                    "protection": spec, "level": level, "size_class": name, "sort": sort,
                    "published_groups_share": published, "published_people_share": min(1.0, published + 0.07),
                    "numbers": 1000 if has_numbers else 0, "mean_absolute_error": error * growth if has_numbers else None,
                    "true_zeros": 100 if name == "0" else 40, "areas_not_additive_share": 0.25 if error else 0.0,
                    "bias": 6.0 if level == "Tract" else 0.5, **shares,
                })  # fmt: skip
    return pa.Table.from_pylist(rows)


CONTROLS = tuple(
    Control(name, said, True)
    for name, said in cases_of(
        """
        Strength to zero | With every family at its least strength, 1,701 to 2,048 of 2,048 uniques were named.
        Equal footing | The same prior, starts and moves for all; 0 states outside a window.
        Enumeration | On 36 small worlds the largest difference of a chance was 0.008.
        """
    )
)
EXAMPLES = tuple(
    WorkedExample(*one)
    for one in values_of(
        """
        "proven" | "cell-key:D=2,V=0.9" | "Samoan, Tract 12" | (("women of 18 to 44", "1"), ("men of 18 to 44", "1"), ("both", "0")) | ("A published 1 is a true count from 1 to 3, since zero stays zero.", "A published 0 is a true count from 0 to 2.", "The sum of two counts of 1 at least is 2 at most, so both are 1.") | "1 woman and 1 man."
        "named" | "suppress:below=3,secondary=lp" | "Welsh, Tract 12" | (("women of 65 and over", "withheld"), ("all women", "14")) | ("The cell is 1 or 2, since zeros are shown.", "Of the sets of counts that fit, 97 % have 1.") | "1 woman."
        "differencing" | "none" | "Irish" | (("the tract", "212"), ("its part in the town", "210")) | ("212 - 210 = 2.",) | "2 people."
        """
    )
)
GROUPS = "Samoan Tongan Fijian Irish Welsh Dominican Navajo Cherokee Japanese Korean"


SIZES = literal_eval("[1, 2, 4, 7, 12, 23, 48, 120, 640, 1811]")


def shown_number(number):
    truth = SIZES[number]
    printed = {
        spec: f"{truth:,}" if not row[3] else f"{round(truth + row[3] * (-1) ** number):,}"
        for spec, row in MADE_UP.items()
    }
    printed |= {spec: "withheld" for spec, row in MADE_UP.items() if truth < row[4]}
    return ShownNumber(GROUPS.split()[number], truth, printed)
