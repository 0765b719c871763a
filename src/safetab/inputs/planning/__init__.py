"""What a run would do, from public files alone."""
