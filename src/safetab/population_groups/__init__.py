"""Who is counted where: codes to iterations, stability, and the universe of population groups."""
