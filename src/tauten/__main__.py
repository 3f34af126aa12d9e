"""`python -m tauten` is the command `tauten`."""

from tauten.cli import main

if __name__ == "__main__":
    main(prog_name="tauten")
