"""The page and the workbook for choosing parameters. They need no confidential file."""
