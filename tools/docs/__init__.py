"""Programs that make pages, pictures and the site of the documentation."""
