"""Made-up censuses: people who do not exist, in real places, for demonstrations and tests."""
