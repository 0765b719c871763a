"""What one attacker, who knows every method, finds out; attacks see likelihoods alone."""
