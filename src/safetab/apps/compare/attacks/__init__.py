"""The findings of one attacker, who knows every method; attacks see likelihoods alone."""
