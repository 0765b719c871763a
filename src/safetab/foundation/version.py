"""The version of this program."""

from __future__ import annotations

VERSION = "0.1.0"
