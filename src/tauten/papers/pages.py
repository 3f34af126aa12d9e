"""A report as a page: for a terminal, Markdown beside its pictures, HTML that needs nothing else."""

import base64
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tauten.papers.report import LEGEND, Figure, Report, Table

if TYPE_CHECKING:
    from rich.console import RenderableType

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}
th,td{border:1px solid #bbb;padding:.25em .6em;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}td small{color:#666;display:block}
.agrees{background:#e6f2e6}.better{background:#e3ecf8}.worse{background:#f8e8e0}
.wide{overflow-x:auto}img{max-width:100%}figure{margin:1em 0}figcaption,.note{color:#555}
"""


def to_console(report: Report) -> "list[RenderableType]":
    """What a terminal shows, but for the figures."""
    from rich.markup import escape as plain
    from rich.table import Table as Grid

    parts: list[RenderableType] = [f"[bold]{plain(report.title)}[/bold]", plain(report.claim), ""]
    for part in report.parts:
        if isinstance(part, Table):
            grid = Grid(
                title=part.title, caption=part.note or None, title_justify="left", caption_justify="left"
            )
            grid.add_column("")
            for heading in part.columns:
                grid.add_column(heading, justify="right")
            for name, cells in part.rows.items():
                grid.add_row(name, *(plain(part.line(cell)) for cell in cells))
            parts += [grid, ""]
        elif isinstance(part, str):
            parts += [plain(part), ""]
    told = [report.agreement(), *report.findings, *_missing(report), LEGEND, report.circumstances()]
    return [*parts, *(plain(line) for line in told)]


def to_markdown(report: Report, folder: str) -> str:
    """A page of the docs; its figures are in a folder beside it."""
    lines = [
        f"# {report.title}",
        "",
        f"{report.source} {report.claim}",
        "",
        report.protocol,
        "",
        "## What came out",
        "",
    ]
    lines += [f"- {line}" for line in (report.agreement(), *report.findings)] + ["", LEGEND, ""]
    for part in report.parts:
        if isinstance(part, Figure):
            lines += [f"![{part.title}]({folder}/{file_name(report, part)})", "", f"*{_caption(part)}*", ""]
        elif isinstance(part, Table):
            lines += _markdown_table(part)
        else:
            lines += [part, ""]
    for heading, items in (
        ("Deviations and errata", report.deviations),
        ("Data sets that were not found", _missing(report)),
    ):
        if items:
            lines += [f"## {heading}", "", *(f"- {item}" for item in items), ""]
    return "\n".join(
        [
            *lines,
            "## Circumstances",
            "",
            report.circumstances(),
            f"`tauten paper {report.name}` makes this page.",
            "",
        ]
    )


def to_html(report: Report) -> str:
    """One page that needs nothing else."""
    body = [
        f"<h1>{escape(report.title)}</h1>",
        *(f"<p>{escape(text)}</p>" for text in (report.source, report.claim, report.protocol)),
        "<h2>What came out</h2>",
        _html_list([report.agreement(), *report.findings]),
        f"<p class=note>{escape(LEGEND)}</p>",
    ]
    for part in report.parts:
        if isinstance(part, Figure):
            picture = base64.b64encode(part.png).decode()
            body.append(
                f"<figure><img alt='{escape(part.title)}' src='data:image/png;base64,{picture}'>"
                f"<figcaption>{escape(_caption(part))}</figcaption></figure>"
            )
        else:
            body.append(_html_table(part) if isinstance(part, Table) else f"<p>{escape(part)}</p>")
    for heading, items in (
        ("Deviations and errata", report.deviations),
        ("Data sets that were not found", _missing(report)),
    ):
        if items:
            body.append(f"<h2>{heading}</h2>{_html_list(list(items))}")
    body.append(f"<p class=note>{escape(report.circumstances())}</p>")
    head = f"<meta charset='utf-8'><title>{escape(report.title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(body)}</body></html>\n"


def write_html(report: Report, folder: Path) -> Path:
    """Write the page that needs nothing else."""
    path = folder / f"{report.name}.html"
    path.write_text(to_html(report), encoding="utf-8")
    return path


def write_markdown(report: Report, folder: Path) -> Path:
    """Write the page of the docs, and its figures into the folder img beside it."""
    images = folder / "img"
    images.mkdir(exist_ok=True)
    for figure in report.figures:
        (images / file_name(report, figure)).write_bytes(figure.png)
    path = folder / f"{report.name}.md"
    path.write_text(to_markdown(report, images.name), encoding="utf-8")
    return path


def file_name(report: Report, figure: Figure) -> str:
    """What the file of a figure is called."""
    return f"{report.name}-{figure.words}.png"


def _missing(report: Report) -> list[str]:
    return [f"{name}: {how}" for name, how in report.missing.items()]


def _caption(figure: Figure) -> str:
    return f"{figure.title}. {figure.caption}".strip()


def _markdown_table(table: Table) -> list[str]:
    head = [
        f"### {table.title}",
        "",
        f"| | {' | '.join(table.columns)} |",
        f"|---{'|---:' * len(table.columns)}|",
    ]
    rows = [
        f"| {name} | {' | '.join(table.line(cell) for cell in cells)} |" for name, cells in table.rows.items()
    ]
    return [*head, *rows, "", *([table.note, ""] if table.note else [])]


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in ("", *table.columns))
    rows = []
    for name, cells in table.rows.items():
        row = [f"<td>{escape(name)}</td>"]
        for cell in cells:
            ours, theirs, mark = table.text(cell)
            below = f"<small>{escape(f'[{theirs}] {mark}')}</small>" if theirs else ""
            kind = "" if isinstance(cell, str) else cell.verdict
            row.append(f"<td class='{kind}'>{escape(ours)}{below}</td>")
        rows.append(f"<tr>{''.join(row)}</tr>")
    note = f"<p class=note>{escape(table.note)}</p>" if table.note else ""
    grid = f"<div class='wide'><table><tr>{head}</tr>{''.join(rows)}</table></div>"
    return f"<h3>{escape(table.title)}</h3>{grid}{note}"


def _html_list(items: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
