"""Several protections side by side: one synthetic census, the same tables, the same measures and attacks."""
