"""Files become values: public lists and areas, configurations, records, and from public files the plan."""
