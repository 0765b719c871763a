"""The page and the workbook with which parameters are chosen. They need no confidential file."""
