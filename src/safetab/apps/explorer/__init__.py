"""The page and the workbook for choosing parameters. They need no confidential file."""

HANDED_OUT = {
    "explore": "ExplorerRequest write_explorer",
}
