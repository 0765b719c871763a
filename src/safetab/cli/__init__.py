"""The command line. `main` imports typer alone, so that --help is quick; commands import what they need."""
