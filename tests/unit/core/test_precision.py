"""Interval arithmetic has one working precision in the whole process, so threads take turns."""

from fractions import Fraction
from pathlib import Path
from threading import Event, Thread

import pytest
from flint import ctx

import safetab
from tests.inside import DiscreteGaussian, extra_precision, working_precision

SOURCE = Path(safetab.__file__).parent


@pytest.mark.parametrize("others", [working_precision, extra_precision])
def test_a_thread_waits_until_another_needs_its_precision_no_more(others):
    found = []
    is_inside = Event()

    def other():
        with others(700):
            found.append(ctx.prec)
            is_inside.set()

    before = ctx.prec
    thread = Thread(target=other)
    with working_precision(160):
        thread.start()
        assert not is_inside.wait(0.2)
        with working_precision(90):  # its own thread goes on
            assert ctx.prec == 90
        assert ctx.prec == 160
    thread.join(10)
    assert found == [700 if others is working_precision else before + 700]
    assert ctx.prec == before


def test_threads_that_ask_for_different_precisions_get_what_one_gets():
    noise = [DiscreteGaussian(Fraction(sigma_squared, 7)) for sigma_squared in range(1, 200)]
    alone = [_numbers(one) for one in noise]
    found = {}

    def again(number):
        found[number] = [_numbers(one) for one in noise]

    threads = [Thread(target=again, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == dict.fromkeys(range(4), alone)


def _numbers(noise):
    balls = (noise.variance(90), noise.probability(3, 160))
    return [part.man_exp() for ball in balls for part in (ball.mid(), ball.rad())]


def test_precision_is_set_nowhere_else():
    setting = ("ctx.workprec", "ctx.extraprec", "ctx.workdps", "ctx.extradps", "ctx.prec = ", "ctx.dps = ")
    found = {path.name for path in SOURCE.rglob("*.py") if any(one in path.read_text() for one in setting)}
    assert found == {"noise_distribution.py"}
