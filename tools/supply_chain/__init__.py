"""What the program is made of: locked packages, their wheels, licences and known faults, and its own two archives."""
