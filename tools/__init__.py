"""Programs for those who change safetab: README.md lists them."""

from pathlib import Path

PROJECT = Path(__file__).parents[1]
