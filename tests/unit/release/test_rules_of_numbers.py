"""The rules of a release on a few numbers that a person can compare."""

from types import SimpleNamespace

import numpy as np

from tests.inside import NO_RULE, RULES, Numbers, NumbersOfLevel, ReleaseIndex, ReleaseOptions, ReleaseRule

PARTNERS = np.array([1, -1, -1])  # of three iterations: the second is the partner of the first, and the third has none
MEANINGS = np.array([0, 1])  # of two kinds of numbers: a total, and a line of a table


def numbers_of(rows):
    """From the entity, the iteration, the kind and the count of each row."""
    entity, iteration, kind, count = rows.T
    fields = dict.fromkeys(Numbers.__dataclass_fields__, np.zeros(len(rows), dtype=np.int64))
    own = {"indices": entity * len(PARTNERS) + iteration, "kinds": kind, "counts": count}
    return Numbers(**fields | own | {"rules": np.full(len(rows), NO_RULE)})


def test_a_number_is_above_its_partner_only_in_the_same_area_and_for_the_same_line():
    # entity, iteration, kind, count; whether it is above its partner
    rows = np.fromstring(
        """
        0 0 0 5 0   0 0 1 9 1   0 1 0 7 0   0 1 1 8 0   0 2 0 99 0
        1 0 0 8 1   1 1 0 7 0
        2 0 0 7 0   2 0 1 50 0  2 1 0 7 0
        3 0 0 50 0  3 2 0 1 0
        4 1 0 60 0  4 2 0 9 0
        """,
        int,
        sep=" ",
    ).reshape(-1, 5)
    universe = SimpleNamespace(partner_positions=lambda _: PARTNERS)
    level = SimpleNamespace(index=ReleaseIndex(5, len(PARTNERS)))
    options = ReleaseOptions(rules=(ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER,))
    of_level = NumbersOfLevel(universe, level, SimpleNamespace(meanings=MEANINGS), options)
    numbers = numbers_of(rows[:, :4])
    is_above = rows[:, 4].astype(bool).tolist()
    assert of_level.is_above_partner(numbers).tolist() == is_above
    withheld = RULES.index(ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER)
    after = of_level._after_rules(numbers)
    assert after.rules.tolist() == [withheld if above else NO_RULE for above in is_above]
    assert after.is_withheld.tolist() == is_above
