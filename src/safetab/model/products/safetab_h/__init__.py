"""SafeTab-H: households by type and by tenure.

Published totals of persons choose its tables.
"""
