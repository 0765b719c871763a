"""The pages in a browser, and the workbook in LibreOffice."""
