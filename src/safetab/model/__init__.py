"""What is counted: the census, its areas, groups and tables. Values alone; nothing here opens a record file."""
