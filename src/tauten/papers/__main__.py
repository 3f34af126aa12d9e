"""A paper's report from the command line: python -m tauten.papers NAME [--data DIR] [--quick] [--out DIR]."""

import argparse
from pathlib import Path

from rich.console import Console

from tauten.papers import PAPERS, reproduce
from tauten.papers.pages import to_console, write_html, write_markdown


def main() -> None:
    """Run a protocol, print its tables, write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PAPERS)
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="where the data sets are")
    parser.add_argument("--quick", action="store_true", help="fewer orders and data sets")
    parser.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="where the report goes")
    parser.add_argument("--markdown", action="store_true", help="write it as Markdown with its pictures, too")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    report = reproduce(given.name, given.data, given.quick, given.seed)
    console = Console()
    for part in to_console(report):
        console.print(part)
    for write in (write_html, write_markdown)[: 1 + given.markdown]:
        console.print(f"Wrote {write(report, given.out)}")


if __name__ == "__main__":
    main()
