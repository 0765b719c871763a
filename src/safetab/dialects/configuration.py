"""Reads the configuration of a parameters folder in the dialect of the folder."""

from __future__ import annotations

import os
from pathlib import Path

from safetab.config.run_config import CONFIG_FILE, ReaderKind, RunConfig
from safetab.dialects.bureau.config_file import READER_KEY, parse_config, readable_keys
from safetab.dialects.specified_files import compile_folder
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput, Severity
from safetab.products.all_products import PRODUCTS, product_of_keys
from safetab.products.product import Product
from safetab.readers.record_files import record_file_names
from safetab.specification.reading import is_specification
from safetab.specification.values import SPECIFICATION_FILE


def read_config(parameters: Path, data: Path | None = None) -> Checked[RunConfig]:
    """The configuration of a parameters directory, and every finding about it.

    Where its keys name no product, the records in DATA do.
    """
    if is_specification(parameters):
        read = compile_folder(parameters)
        return Checked(None if read.value is None else read.value.config, read.findings)
    return read_config_at(parameters / CONFIG_FILE, product_of_records(data))


def read_config_at(path: Path, otherwise: Product = PRODUCTS[0]) -> Checked[RunConfig]:
    """The configuration in this file, and every finding about it."""
    try:
        return parse_config(read_text(path), otherwise)
    except UnreadableFile as problem:
        findings = FindingsOf(path.name)
        findings.error("", str(problem))
        return Checked(None, findings.findings)


def config_of_text(text: str) -> Checked[RunConfig]:
    """The configuration in the text of such a file, and every finding about it."""
    return parse_config(text)


def require_not_swapped(parameters: Path, data: Path, command: str = "") -> None:
    """Raise InvalidInput if DATA holds the configuration, and PARAMETERS, though it exists, does not.

    The message ends with the command in the right order, if it is given.
    """
    if _configuration_in(parameters) is None and os.path.exists(parameters):  # noqa: PTH110 - never raises
        found = _configuration_in(data)
        if found is not None:
            problem = f"PARAMETERS and DATA look swapped: {found} is in {data}, not in {parameters}."
            finding = Finding(Severity.ERROR, "the command", "", problem)
            raise InvalidInput([finding], f"Type: {command}" if command else "Give PARAMETERS first, then DATA.")


def require_not_data(parameters: Path) -> None:
    """Raise InvalidInput if PARAMETERS holds records, and no configuration."""
    if _configuration_in(parameters) is None and os.path.isdir(parameters):  # noqa: PTH112 - never raises
        held = {name.partition(".")[0] for name in os.listdir(parameters)}  # noqa: PTH208 - names alone
        records = [product.record.table for product in PRODUCTS if product.record.table in held]
        if records:
            problem = f"{parameters} looks like DATA: it has {records[0]}. Give the directory of {CONFIG_FILE}."
            raise InvalidInput.about("the command", problem, "PARAMETERS")


def _configuration_in(folder: Path) -> str | None:
    """The name of the file that makes a folder a parameters directory, if it holds one."""
    files = (SPECIFICATION_FILE, CONFIG_FILE)
    return next((name for name in files if os.path.isfile(folder / name)), None)  # noqa: PTH113 - never raises


def records_of_another_product(product: Product, data: Path, configuration: str) -> tuple[Finding, ...]:
    """An error if DATA holds no records for a product, but those of another one."""
    findings, asked = FindingsOf(configuration), product.record
    if record_file_names(data, asked).value is None:
        for other in PRODUCTS:
            if record_file_names(data, other.record).value is not None:
                if configuration == SPECIFICATION_FILE:
                    has = f"{data} has the {other.record.table} of {other.name}"
                    findings.error("", f"describes other records: {has}. Give the DATA of this census.")
                    break
                holds = f"the records in {data} are {other.record.nouns} ({other.name})"
                advice = f"Did you mean the {configuration} of {other.name}, or another DATA?"
                findings.error("", f"this is for {asked.nouns} ({product.name}), but {holds}. {advice}")
    return findings.findings


def product_of_records(data: Path | None) -> Product:
    """The product whose records DATA holds; the first if it holds none."""
    if data is not None:
        for product in PRODUCTS:
            if record_file_names(data, product.record).value is not None:
                return product
    return PRODUCTS[0]


def product_asked_for(parameters: Path, data: Path | None = None) -> Product:
    """The product of a configuration, whatever else is wrong with it; if no key names one, that of the records."""
    if is_specification(parameters):
        config = read_config(parameters).value
        return PRODUCTS[0] if config is None else config.product
    return product_of_keys(readable_keys(parameters), product_of_records(data))


def reader_asked_for(parameters: Path, data: Path) -> ReaderKind:
    """The reader of a configuration, whatever else is wrong with it.

    If it can't be determined, the form of DATA decides.
    """
    given = readable_keys(parameters).get(READER_KEY)
    if isinstance(given, str) and given in {reader.value for reader in ReaderKind}:
        return ReaderKind(given)
    return ReaderKind.CEF if os.path.isfile(data) else ReaderKind.CSV  # noqa: PTH113 - never raises
