"""The formats of tables: one module each, and a row of `all_forms`."""
