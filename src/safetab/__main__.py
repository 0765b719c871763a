"""The entry point of `python -m safetab`, and the file that spark-submit runs."""

from safetab.cli.start import main

if __name__ == "__main__":
    main()
