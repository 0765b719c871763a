"""Linear and integer programs: the only module that imports OR-Tools.

It does so only when a program is made. Both kinds of program have unknowns with bounds and costs,
and rows: sums of unknowns times whole coefficients, each within a range. The cheapest solution is
asked for. The same program always gives the same solution: one worker, one seed, and limits that
count work, not time on the clock.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safetab.apps.compare.tables.exact_tables import Int64s

# for each row and unknown, in one iteration: rough, but the same on every machine
_SECONDS_OF_A_STEP = 1e-7


def is_available() -> bool:
    """Whether OR-Tools, the extra `safetab[compare]`, is installed."""
    return find_spec("ortools") is not None


class LinearProgram:
    """A linear program, solved by the simplex method (GLOP).

    Bounds and costs are cheap to change.
    """

    def __init__(self) -> None:
        with warnings.catch_warnings():  # types made by SWIG are deprecated from Python 3.12 on
            warnings.simplefilter("ignore", DeprecationWarning)
            from ortools.linear_solver import pywraplp  # noqa: PLC0415
        self._solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        self._unknowns: list[Any] = []
        self.seconds = 0.0
        """The work done so far, in seconds of a typical processor."""

    def add_unknown(self, low: float, high: float, cost: float = 0) -> int:
        """The position of a new unknown."""
        self._unknowns.append(self._solver.NumVar(low, high, ""))
        self.set_cost(len(self._unknowns) - 1, cost)
        return len(self._unknowns) - 1

    def add_row(
        self, unknowns: Iterable[int], coefficients: Iterable[int], low: float, high: float
    ) -> None:
        """Require low <= the sum of coefficients times unknowns <= high."""
        row = self._solver.Constraint(low, high)
        for unknown, coefficient in zip(unknowns, coefficients, strict=True):
            row.SetCoefficient(self._unknowns[unknown], coefficient)

    def set_bounds(self, unknown: int, low: float, high: float) -> None:
        """Give an unknown other bounds."""
        self._unknowns[unknown].SetBounds(low, high)

    def set_cost(self, unknown: int, cost: float) -> None:
        """Give an unknown another cost."""
        self._solver.Objective().SetCoefficient(self._unknowns[unknown], cost)

    def solution(self) -> NDArray[np.float64] | None:
        """The values of all unknowns in the cheapest solution, or None without one."""
        is_found = self._solver.Solve() == self._solver.OPTIMAL
        size = self._solver.NumVariables() + self._solver.NumConstraints()
        self.seconds += _SECONDS_OF_A_STEP * (self._solver.iterations() + 10) * size
        return (
            np.array([unknown.solution_value() for unknown in self._unknowns]) if is_found else None
        )


class _Answer(NamedTuple):
    """The solver's answer to an integer program."""

    values: Int64s | None  # of all unknowns, or None if no solution was found
    # False: the limit came first; without values there may be a solution all the same
    is_finished: bool
    seconds: float  # of work, as the solver counts it


class IntegerProgram:
    """A program in whole numbers, solved by CP-SAT. Rows may be added between questions."""

    def __init__(self) -> None:
        from ortools.sat.python import cp_model  # noqa: PLC0415

        self._library: Any = cp_model
        self._model: Any = cp_model.CpModel()
        self._unknowns: list[Any] = []
        self._costs: list[int] = []

    def add_unknown(self, low: int, high: int, cost: int = 0, holes: Sequence[int] = ()) -> int:
        """The position of a new unknown, which has none of the values `holes`."""
        domain = self._library.Domain(low, high)
        if holes:
            domain = domain.intersection_with(self._library.Domain.from_values(holes).complement())
        if domain.is_empty():
            self._model.add_bool_or()  # nothing fits
            domain = self._library.Domain(0, 0)
        self._unknowns.append(self._model.new_int_var_from_domain(domain, ""))
        self._costs.append(cost)
        return len(self._unknowns) - 1

    def add_row(
        self, unknowns: Iterable[int], coefficients: Iterable[int], low: int, high: int
    ) -> None:
        """Require low <= the sum of coefficients times unknowns <= high."""
        terms = [self._unknowns[unknown] for unknown in unknowns]
        total = self._library.LinearExpr.weighted_sum(terms, list(coefficients))
        self._model.add_linear_constraint(total, low, high)

    def set_bounds(self, unknown: int, low: int, high: int) -> None:
        """Give an unknown other bounds."""
        domain = self._model.proto.variables[unknown].domain
        domain.clear()
        domain.extend([low, high])

    def set_cost(self, unknown: int, cost: int) -> None:
        """Give an unknown another cost."""
        self._costs[unknown] = cost

    def solution(self, limit: float) -> _Answer:
        """A cheapest solution; with the limit reached, the cheapest that was found."""
        if any(self._costs):
            self._model.minimize(self._library.LinearExpr.weighted_sum(self._unknowns, self._costs))
        solver = self._library.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        # long preparation doesn't pay for many small questions
        solver.parameters.cp_model_probing_level = 0
        solver.parameters.symmetry_level = 0
        solver.parameters.max_presolve_iterations = 1
        solver.parameters.max_deterministic_time = max(limit, 0.0)
        status = solver.status_name(solver.solve(self._model))
        is_found, is_finished = (
            status in {"OPTIMAL", "FEASIBLE"},
            status in {"OPTIMAL", "INFEASIBLE"},
        )
        values = (
            np.array([solver.value(one) for one in self._unknowns], dtype=np.int64)
            if is_found
            else None
        )
        return _Answer(values, is_finished, solver.response_proto.deterministic_time)
