"""Where people live: states, counties, tracts, blocks, places and AIANNH areas, and their names."""
