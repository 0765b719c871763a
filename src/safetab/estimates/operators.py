"""`a + b`, `a - b` and `a / b` of numbers with noise: the exact functions behind the usual signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from safetab.foundation.findings import Finding, InvalidInput, Severity

if TYPE_CHECKING:
    from safetab.estimates.difference import Difference
    from safetab.estimates.estimate import Estimate
    from safetab.estimates.ratio import Ratio

_LONGEST_NAME = 200
_DIFFERENCE = (
    "a difference can be added up or subtracted if it comes first, as in (a - b) + c, and is not divided: the growth"
    " (a - b) / b is a / b less 1."
)


class Operators:
    """What an estimate does with the usual signs. Noise that both sides share is counted as shared.

    The other side is a number of the same release; an absence is refused with its reason, since it is not zero.
    """

    def __add__(self, other: object) -> Estimate:
        return added(self, other)

    def __radd__(self, other: object) -> Estimate:
        """So that Python's own `sum` works, which begins with 0."""
        return _estimate(self) if is_start_of_sum(other) else added(other, self)

    def __sub__(self, other: object) -> Difference:
        return subtracted(self, other)

    def __rsub__(self, other: object) -> Difference:
        return subtracted(other, self)

    def __truediv__(self, other: object) -> Ratio:
        return divided(self, other)

    def __rtruediv__(self, other: object) -> Ratio:
        return divided(other, self)


def is_start_of_sum(number: object) -> bool:
    return isinstance(number, int) and number == 0


def added(a: object, b: object) -> Estimate:
    """The sum, with who is counted more than once and who is missing in its notes."""
    from safetab.estimates.sums import sum_notes, sum_of_estimates

    parts = _of_one_release(_estimate(a), _estimate(b))
    absent = tuple({id(one): one for part in parts for one in part.absent}.values())
    notes = sum_notes(parts[0].universe, parts, absent)
    what = f"{parts[0].what} + {parts[1].what}"
    if len(what) > _LONGEST_NAME:
        what = f"the sum of {sum(len(part.counted) for part in parts):,} numbers"
    return sum_of_estimates(parts, what, notes, absent)


def subtracted(a: object, b: object) -> Difference:
    from safetab.estimates.difference import Difference

    return Difference(*_of_one_release(_estimate(a), _estimate(b)))


def divided(a: object, b: object) -> Ratio:
    from safetab.estimates.ratio import Ratio

    return Ratio(*_of_one_release(_estimate(a), _estimate(b)))


def _estimate(number: object) -> Estimate:
    from safetab.estimates.difference import Difference
    from safetab.estimates.estimate import Estimate
    from safetab.estimates.reading.absence import Absence

    if isinstance(number, Estimate):
        return number
    if isinstance(number, Absence):
        raise _refusal(number.what, f"has no number ({number.status}). {number.reason}")
    if isinstance(number, Difference):
        raise TypeError(_DIFFERENCE)
    raise TypeError(
        f"numbers of a release are added, subtracted and divided among each other; one side is of type"
        f" {type(number).__name__}. For plain arithmetic take `value`, which has no margin of error."
    )


def _of_one_release(a: Estimate, b: Estimate) -> tuple[Estimate, Estimate]:
    """Two releases can be made of the same measurements, so that nothing is known of the noise that they share."""
    if len({measured.release for one in (a, b) for measured in one.form.weights}) > 1:
        raise _refusal(b.what, "is of another release. Ask one release for all numbers.")
    return a, b


def _refusal(what: str, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, "the release", what, message)])
