"""``python -m nominym`` is the command line."""

from nominym.cli import main

if __name__ == "__main__":
    main()
