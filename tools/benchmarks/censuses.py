"""Synthetic censuses to run: made once, and found again by what they are."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from safetab.foundation.findings import VERSION
from tools import PROJECT
from tools.benchmarks.commands import measured_safetab

LISTS_OF_2020 = PROJECT.parent / "shared" / "spec-2020"
THREADS = 2


@dataclass(frozen=True, slots=True)
class Census:
    """What `safetab synthesize` is asked for.

    Without iterations: the lists of 2020 where they are, else its own.
    """

    people: int
    tracts: int | None = None
    iterations: int | None = None
    form: str = "parquet"

    @property
    def has_lists_of_2020(self) -> bool:
        return self.iterations is None and LISTS_OF_2020.is_dir()

    def made_in(self, folder: Path) -> Path:
        """The folder of the census, which is made if it isn't there.

        It appears whole or not at all.
        """
        out = folder / self._name
        if not out.exists():
            folder.mkdir(parents=True, exist_ok=True)
            print(f"making {out.name}", flush=True)
            measured_safetab(
                "synthesize", out, "--people", self.people, "--threads", THREADS, *self._options
            )
        return out

    @property
    def _name(self) -> str:
        numbers = {"tracts": self.tracts, "iterations": self.iterations}
        given = [f"{number}-{name}" for name, number in numbers.items() if number is not None]
        lists = ["lists-of-2020"] if self.has_lists_of_2020 else []
        return "-".join([f"census-{VERSION}", f"{self.people}-people", *given, *lists, self.form])

    @property
    def _options(self) -> list[str | Path | int]:
        options: list[str | Path | int] = ["--us", "--format", self.form]
        if self.tracts is not None:
            options += ["--tracts", self.tracts]
        if self.iterations is not None:
            options += ["--iterations", self.iterations]
        if self.has_lists_of_2020:
            options += ["--parameters", LISTS_OF_2020]
        return options


def parameters_without_noise(census: Path) -> Path:
    """The parameters of a census with budgets so large that the noise vanishes."""
    parameters = census.parent / f"{census.name}-without-noise"
    shutil.rmtree(parameters, ignore_errors=True)
    shutil.copytree(census / "parameters", parameters)
    config = json.loads((parameters / "config.json").read_text())
    for key, budget in config.items():
        if key.startswith("privacy_budget_p_level") and budget:
            config[key] = 10**9
    (parameters / "config.json").write_text(json.dumps(config))
    return parameters
