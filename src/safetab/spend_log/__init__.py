"""The curator's log of what was spent on each data set. Confidential: none of it may reach an output."""
