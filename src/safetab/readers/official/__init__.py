"""The Census Bureau's published 2020 files: Census API, data.census.gov, and the bulk download."""
