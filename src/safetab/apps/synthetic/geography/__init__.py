"""The places where people live: states, counties, tracts, blocks, places and AIANNH areas.

Their names are here too.
"""
