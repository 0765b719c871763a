"""SafeTab-H: households by type and by tenure, in tables that published totals of persons choose."""
