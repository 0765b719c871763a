"""The table of formats. Whatever reads a table takes a further one from here."""

from __future__ import annotations

from pathlib import Path

from safetab.inputs.readers.forms.parquet import ParquetForm
from safetab.inputs.readers.forms.table_form import TableForm
from safetab.inputs.readers.forms.text import TextForm

TEXT = TextForm(".txt")
GZIPPED_TEXT = TextForm(".txt.gz")
PARQUET = ParquetForm(".parquet")

TABLE_FORMS: tuple[TableForm, ...] = (TEXT, GZIPPED_TEXT, PARQUET)
"""The forms that every table may have."""
FORMS_AND_CSV = (*TABLE_FORMS, TextForm(".csv"), TextForm(".csv.gz"))
"""The forms that records of a specification may have."""


def form_of(path: Path) -> TableForm:
    """The form of a file whose name has a known ending."""
    return next(form for form in FORMS_AND_CSV if path.name.endswith(form.ending))
