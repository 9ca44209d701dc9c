"""Run the command line as ``python -m nominym``."""

from nominym.cli import main

if __name__ == "__main__":
    main()
