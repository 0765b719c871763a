"""The workbook: the explorer's numbers with live formulas."""
