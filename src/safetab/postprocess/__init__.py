"""What is made of measurements: the tables that people know. Knows no engine and no person."""
