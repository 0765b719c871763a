"""Who the people are: their codes, ages and sexes, and which population groups they are in."""
