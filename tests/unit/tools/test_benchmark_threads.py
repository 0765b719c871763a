"""Amdahl's law, as docs/benchmarks.md predicts by it."""

import pytest

from tools.benchmarks.threads import Amdahl


@pytest.mark.parametrize(
    ("alone", "two", "serial_share", "sixteen"),
    [(100.0, 50.0, 0.0, 6.25), (100.0, 100.0, 1.0, 100.0), (100.0, 60.0, 0.2, 25.0), (100.0, 130.0, 1.0, 100.0)],
)
def test_the_serial_share_follows_from_one_and_two_threads(alone, two, serial_share, sixteen):
    law = Amdahl.of(alone, two, 2)
    assert law.serial_share == pytest.approx(serial_share)
    assert law.seconds(16) == pytest.approx(sixteen)
