"""`python -m safetab`, and what spark-submit is given: it wants a file."""

from safetab.cli.start import main

if __name__ == "__main__":
    main()
