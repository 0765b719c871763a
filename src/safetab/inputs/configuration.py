"""Reads the configuration of a parameters folder in the dialect of the folder."""

from __future__ import annotations

import os
from pathlib import Path

from safetab.core.guarantees.losses import JointLoss
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import (
    NOT_UTF_8_PATH,
    UnreadableFile,
    is_utf8_path,
    read_text,
    whole_path,
)
from safetab.foundation.findings import (
    Checked,
    Finding,
    FindingsOf,
    InvalidInput,
    Severity,
    require_none,
)
from safetab.inputs.bureau.config_file import READER_KEY, parse_config, readable_keys
from safetab.inputs.bureau.public_lists import paths_of_lists
from safetab.inputs.records.record_files import record_file_names
from safetab.inputs.specified_files import compile_folder
from safetab.model.config.run_config import CONFIG_FILE, ReaderKind, RunConfig
from safetab.model.products.all_products import PRODUCTS, product_of_keys
from safetab.model.products.product import Product
from safetab.model.specification.reading import is_specification
from safetab.model.specification.values import SPECIFICATION_FILE


def read_config(parameters: Path, data: Path | None = None) -> Checked[RunConfig]:
    """The configuration of a parameters directory, and every finding about it.

    Where its keys name no product, the records in DATA do.
    """
    if is_specification(parameters):
        read = compile_folder(parameters)
        return Checked(None if read.value is None else read.value.config, read.findings)
    return read_config_at(parameters / CONFIG_FILE, _product_of_records(data))


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


def require_parameters(parameters: Path, data: Path | None = None, command: str = "") -> None:
    """Raise InvalidInput if PARAMETERS is no folder of a census, and say what it is instead.

    It is DATA if the two are swapped. The message about swapped folders ends with the command in
    the right order, if it is given.
    """
    found = None if data is None or _configuration_in(parameters) else _configuration_in(data)
    if found is not None and os.path.exists(parameters):  # noqa: PTH110 - never raises
        problem = f"PARAMETERS and DATA look swapped: {found} is in {data}, not in {parameters}."
        finding = Finding(Severity.ERROR, "the command", "", problem)
        raise InvalidInput(
            [finding], f"Type: {command}" if command else "Give PARAMETERS first, then DATA."
        )
    require_none(parameters_findings(parameters))


def parameters_findings(folder: Path) -> tuple[Finding, ...]:
    """Findings about PARAMETERS: it isn't a folder, or it has neither a configuration nor lists."""
    findings = FindingsOf(str(folder))
    if not is_utf8_path(whole_path(folder)):
        findings.error("", NOT_UTF_8_PATH)
    if findings.has_errors or _configuration_in(folder) is not None:
        return findings.findings
    try:
        # Only names are needed.
        names = {name.lower(): name for name in sorted(os.listdir(folder))}  # noqa: PTH208
    except FileNotFoundError:
        findings.error("", "does not exist.")
        return findings.findings
    except NotADirectoryError:
        findings.error("", "is a file: give its folder.")
        return findings.findings
    except OSError as error:  # a name too long, a folder that may not be read
        raise_if_the_machine_failed(error)
        findings.error("", f"can't be read: {error.strerror}.")
        return findings.findings
    stems = {name.partition(".")[0] for name in names.values()}
    records = [product.record.table for product in PRODUCTS if product.record.table in stems]
    if records:
        problem = (
            f"{folder} looks like DATA: it has {records[0]}. Give the directory of {CONFIG_FILE}."
        )
        return (Finding(Severity.ERROR, "the command", "PARAMETERS", problem),)
    if not any(path.name in names.values() for path in paths_of_lists(folder)):
        alike = [names[file] for file in (SPECIFICATION_FILE, CONFIG_FILE) if file in names]
        there = f" There is {alike[0]}: names are in small letters." if alike else ""
        findings.error("", f"has neither {SPECIFICATION_FILE} nor {CONFIG_FILE}.{there}")
    return findings.findings


def _configuration_in(folder: Path) -> str | None:
    """The name of the file that makes a folder a parameters directory, if it holds one."""
    files = (SPECIFICATION_FILE, CONFIG_FILE)
    # os.path.isfile never raises.
    return next((name for name in files if os.path.isfile(folder / name)), None)  # noqa: PTH113


def records_of_another_product(
    product: Product, data: Path, configuration: str
) -> tuple[Finding, ...]:
    """An error if DATA holds no records for a product, but those of another one."""
    findings, asked = FindingsOf(configuration), product.record
    if record_file_names(data, asked).value is None:
        for other in PRODUCTS:
            if record_file_names(data, other.record).value is not None:
                if configuration == SPECIFICATION_FILE:
                    has = f"{data} has the {other.record.table} of {other.name}"
                    findings.error(
                        "", f"describes other records: {has}. Give the DATA of this census."
                    )
                    break
                holds = f"the records in {data} are {other.record.nouns} ({other.name})"
                advice = f"Did you mean the {configuration} of {other.name}, or another DATA?"
                findings.error(
                    "", f"this is for {asked.nouns} ({product.name}), but {holds}. {advice}"
                )
    return findings.findings


def _product_of_records(data: Path | None) -> Product:
    """The product whose records DATA holds; the first if it holds none."""
    if data is not None:
        for product in PRODUCTS:
            if record_file_names(data, product.record).value is not None:
                return product
    return PRODUCTS[0]


def product_asked_for(parameters: Path, data: Path | None = None) -> Product:
    """The product of a configuration, whatever else is wrong with it.

    If no key names a product, it is that of the records.
    """
    if is_specification(parameters):
        config = read_config(parameters).value
        return PRODUCTS[0] if config is None else config.product
    return product_of_keys(readable_keys(parameters), _product_of_records(data))


def reader_asked_for(parameters: Path, data: Path) -> ReaderKind:
    """The reader of a configuration, whatever else is wrong with it.

    If it can't be determined, the form of DATA decides.
    """
    given = readable_keys(parameters).get(READER_KEY)
    if isinstance(given, str) and given in {reader.value for reader in ReaderKind}:
        return ReaderKind(given)
    return ReaderKind.CEF if os.path.isfile(data) else ReaderKind.CSV  # noqa: PTH113 - never raises


def joint_loss(config: RunConfig, other_parameters: Path) -> Checked[JointLoss]:
    """The joint loss with another directory's configuration.

    It comes with findings instead if the two don't add up.
    """
    read = read_config(other_parameters)
    if read.value is None:
        return Checked(None, read.findings)
    persons, households = sorted(
        (config, read.value), key=lambda each: each.product.record.holds_people
    )
    problem = None
    if config.product is read.value.product:
        problem = (
            f"is for {config.product.name} too. Two runs of one product are added up by"
            " --spend-log."
        )
    elif config.privacy_definition is not read.value.privacy_definition:
        problem = "has another privacy_defn. Losses of two definitions don't add up to one."
    if problem is not None:
        return Checked(
            None,
            (*read.findings, Finding(Severity.ERROR, str(other_parameters), "--with", problem)),
        )
    return Checked(JointLoss(persons, households), read.findings)
