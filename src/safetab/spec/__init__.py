"""What is tabulated: geography levels, iterations, tables, population group levels. Pure; knows no file."""
