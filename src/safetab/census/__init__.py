"""What could be counted: geography, iterations, codes to iterations, stability, the universe of groups. Pure."""
