"""Who the people are: their codes, ages and sexes.

Also which population groups they are in.
"""
