"""What all suites of faults have in common: numbered cases, each made of its seed and number alone.

A suite has a `name`, and `cases`: how many of them the table of docs/testing-faults.md asks for. `prepare(folder)` is called
once, in the process that all cases are forked from; `findings(number, rng, folder)` gives what is wrong with one case, which
may use the empty folder as it likes.
"""

import random

from tests.faults.commands import HUNG


def generator(suite, seed, number):
    return random.Random(f"{suite} {seed} {number}")


def wrong_ending(ending, *codes):
    """What no command may do, whatever it was given."""
    found = []
    if ending.code == HUNG:
        found.append("it hung")
    elif ending.code not in codes:
        found.append(f"exit code {ending.code}: {ending.words[-300:]}")
    if "Traceback" in ending.stderr + ending.stdout:
        found.append(f"a traceback: {ending.words[-300:]}")
    if "error of the program itself" in ending.words:
        found.append(f"an error of the program itself: {ending.words[-300:]}")
    return found
