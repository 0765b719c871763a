"""From names and rows of a release to numbers and absences."""
