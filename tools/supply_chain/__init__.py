"""The parts of the program: locked packages and its own two archives.

Packages have wheels, licences and known faults.
"""
