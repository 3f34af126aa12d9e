"""The command line: golden cases kept as data, and what it says held against the library."""

import json
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import tauten as tt
from tauten.cli import main
from tauten.cli.values import value_of, values_of
from tauten.io import model_file

ROOT = Path(__file__).parents[1]
CASES = sorted((ROOT / "tests" / "cli").glob("*.toml"))
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md"))]
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?(?!\w)")
ANY = "***"


@pytest.fixture
def tauten(tmp_path, monkeypatch):
    """Run a command in an empty folder, in this process; anything but an exit is an error of the test."""
    monkeypatch.chdir(tmp_path)

    def run(command, exit_code=0):
        arguments = shlex.split(command) if isinstance(command, str) else command
        done = CliRunner().invoke(main, arguments[1:], prog_name="tauten")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == exit_code, done.output
        return done

    return run


def is_like(given, expected):
    """Whether a text is as expected: any blanks, floats to a part in 10⁶, and *** is whatever there is."""
    given, expected = " ".join(given.split()), " ".join(expected.split())
    pattern = re.escape(NUMBER.sub("\0", expected)).replace(re.escape("\0"), "(-?[0-9.e-]+)")
    found = re.fullmatch(pattern.replace(re.escape(ANY), ".*?"), given)
    wanted = [float(number) for number in NUMBER.findall(expected)]
    return found is not None and np.allclose([float(n) for n in found.groups()], wanted, rtol=1e-6)


def test_texts_are_compared_loosely():
    """Blanks and the last digits do not count, words and other digits do."""
    assert is_like("a  0.3333333\n b", "a 0.33333333 b") and is_like("a 1 b 2 c", "a *** c")
    for text in ("a 0.334 b", "a 0.3333333 c", "a 0.3333333"):
        assert not is_like(text, "a 0.33333333 b")


@pytest.mark.parametrize("case", CASES, ids=[case.stem for case in CASES])
def test_golden(tauten, case):
    """Each command of a case prints what it should, beside it too, and ends with its exit code."""
    told = tomllib.loads(case.read_text(encoding="utf-8"))
    for name, text in told.get("files", {}).items():
        Path(name).write_text(text, encoding="utf-8")
    for step in told["step"]:
        done = tauten(step["command"], step.get("exit", 0))
        for shown, expected in ((done.stdout, step.get("output", "")), (done.stderr, step.get("errors", ""))):
            assert is_like(shown, expected), f"{step['command']} gave\n{shown}\nnot\n{expected}"
        for name, text in step.get("files", {}).items():
            written = Path(name).read_text(encoding="utf-8")
            assert is_like(written, text), f"{step['command']} wrote\n{written}\nnot\n{text}"


@pytest.fixture
def stream(tmp_path):
    """Two classes that a plane nearly separates: a file, its rows and labels."""
    random = np.random.default_rng(0)
    X = random.standard_normal((3000, 5)).round(3)
    y = np.where(X[:, 0] + X[:, 1] + random.standard_normal(3000) / 4 > 0, "yes", "no")
    lines = ["a,b,c,d,e,label", *(",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True))]
    path = tmp_path / "stream.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, X, y


def test_run_is_progressive(tauten, stream):
    """Where labels are known beforehand, a run counts what `progressive` counts, and makes the same model."""
    _, X, y = stream
    done = tauten("tauten run stream.csv --label label -l pa1:C=0.1 -p classes=[no,yes] --save m.tt --json")
    model = tt.make("pa1", C=0.1)
    expected = tt.progressive(model, X, y).summary()
    given = json.loads(done.stdout)
    assert {name: given[name] for name in expected if name != "seconds"} == pytest.approx(
        {name: value for name, value in expected.items() if name != "seconds"}
    )
    assert np.array_equal(tt.load("m.tt").coef_, model.coef_)


def test_studies_are_those_of_the_library(tauten, stream):
    """compare, sweep and ask print what tt.compare, tt.sweep, tt.ask_curve and tt.at_rate give."""
    _, X, y = stream
    head = "tauten {} stream.csv --label label --json "
    given = json.loads(tauten(head.format("compare") + "-l pa1:C=0.1,paa1 --repeats 3 --seed 5").stdout)
    learners = {"pa1:C=0.1": tt.make("pa1", C=0.1), "paa1": "paa1"}
    frame = tt.compare(learners, X, y, repeats=3, random_state=5).to_frame()
    for row in given["learners"]:
        for name in ("error_rate", "error_rate_sd", "f1", "share_asked", "updates", "p_value"):
            assert row[name] == pytest.approx(frame.loc[row["learner"], name])
    given = json.loads(tauten(head.format("sweep") + "-l pa1 -p average=true -g C=2^-3:1:2").stdout)
    sweep = tt.sweep("pa1", {"C": 2.0 ** np.array([-3, -1, 1]), "average": [True]}, X, y)
    assert [row["error_rate"] for row in given["models"]] == pytest.approx(sweep.errors.tolist())
    assert given["best"] == {"C": sweep.best_params["C"]}
    given = json.loads(tauten(head.format("ask") + "-l rpa1 --repeats 2 --figure kappa").stdout)
    curve = tt.ask_curve(["rpa1"], X, y, "kappa", repeats=2).to_frame()
    assert [point["kappa"] for point in given["points"]] == pytest.approx(curve["kappa"].tolist())
    given = json.loads(tauten(head.format("ask") + "-l paa1 --rate 0.2 --repeats 4").stdout)
    assert given["learners"][0]["share_asked"] == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("name", list(tt.learners()))
def test_every_learner_runs_or_says_why_not(tauten, stream, name):
    """Each registry name is shown, and learns a file, or says in a sentence that it does not learn rows."""
    shown = tauten(f"tauten list {name}").stdout
    assert shown.startswith(f"{name}: ")
    if tt.learners()[name].kind not in ("classifier", "active", "regressor"):
        tauten(f"tauten run stream.csv --label label -l {name}", 2)
        return
    label = "e" if tt.learners()[name].kind == "regressor" else "label"
    columns = "--ignore label" if label == "e" else ""
    given = json.loads(
        tauten(f"tauten run stream.csv --label {label} {columns} -l {name} --json --save m.tt").stdout
    )
    assert given["rows"] == 3000 and given["learner"] == name
    assert given.get("error_rate", 0.0) < 0.4
    tauten("tauten inspect m.tt")


def test_list_is_the_registry(tauten):
    """`tauten list` names every learner with its paper, and each own parameter with what it means."""
    text = tauten("tauten list").stdout
    listed = json.loads(tauten("tauten list --json").stdout)["learners"]
    assert [entry["name"] for entry in listed] == list(tt.learners())
    for name, entry in tt.learners().items():
        assert re.search(rf"^{re.escape(name)} .*{re.escape(entry.paper)}$", text, re.MULTILINE)
    described = json.loads(tauten("tauten list paa1 --json").stdout)["parameters"]
    meanings = {parameter["name"]: parameter["meaning"] for parameter in described}
    assert "C" in meanings and all(
        meanings[name] for name in ("C", "variant", "delta", "offset", "random_state")
    )


def start(command, **options):
    """A command in a process of its own."""
    arguments = [sys.executable, "-m", *shlex.split(command)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_a_stopped_run_goes_on(tauten, stream, how):
    """Killed outright or by Ctrl-C in the midst of a pass, a run goes on to the very model and trace."""
    run = "tauten run stream.csv --label label -l pamean1 -p average=true --epochs 4"
    tauten(f"{run} --save whole.tt --trace whole.csv -q")
    process = start(f"{run} --save part.tt --checkpoint 7 --trace part.csv")
    while not Path("part.tt").exists() and process.poll() is None:
        pass
    process.send_signal(getattr(signal, how))
    output, errors = process.communicate(timeout=60)
    stopped = tt.Checkpoint.load("part.tt")
    learned = int(sum(rows for rows, _ in stopped.tally.passes))
    assert output == "" and 0 < learned < 12000
    if how == "SIGKILL":
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 130
        assert f"Stopped after {learned:,} rows; the model is saved to part.tt" in errors
    tauten("tauten run stream.csv --resume part.tt --epochs 4 --trace part.csv -q")
    assert Path("part.csv").read_bytes() == Path("whole.csv").read_bytes()
    (whole, arrays), (part, others) = (model_file.read(f"{name}.tt") for name in ("whole", "part"))
    whole["stream"]["tally"].pop("seconds"), part["stream"]["tally"].pop("seconds")
    assert part == whole
    assert all(np.array_equal(arrays[name], others[name]) for name in arrays)


def test_help_loads_nothing_heavy():
    """`tauten --help`, and that of a command, brings in none of the libraries that learning stands on."""
    heavy = ("numba", "sklearn", "scipy", "pandas", "numpy", "matplotlib", "rich")
    program = f"""
import sys
from click.testing import CliRunner
from tauten.cli import main
for arguments in (["--help"], ["run", "--help"], ["ask", "--help"]):
    assert CliRunner().invoke(main, arguments).exit_code == 0
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_closed_pipe_is_no_error(stream):
    """`tauten predict … | head` ends quietly."""
    path, X, y = stream
    tt.make("pa1").fit(X, y).save(path.with_name("m.tt"))
    process = start("tauten predict m.tt stream.csv --label label", cwd=path.parent)
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait(60) != 0


def test_standard_input_is_learned(stream):
    """Rows come through a pipe, in a format that is named."""
    path, _, _ = stream
    arguments = [
        sys.executable,
        "-m",
        "tauten",
        "run",
        "-",
        "--format=csv",
        "--label=label",
        "-l",
        "pa1",
        "--json",
    ]
    with path.open() as rows:
        done = subprocess.run(arguments, stdin=rows, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rows"] == 3000 and done.stderr == ""


def test_pictures_are_written(tauten, stream):
    """Every --plot writes a picture of the kind that its name says."""
    tauten("tauten run stream.csv --label label -l pa1 -q --plot run.png")
    tauten("tauten compare stream.csv --label label -l pa1,pa -q --repeats 2 --plot compare.pdf")
    tauten("tauten sweep stream.csv --label label -l pa1 -g C=1,2 -q --plot sweep.svg")
    tauten("tauten ask stream.csv --label label -l rpa1 -q --repeats 2 --plot ask.png")
    for name, begins in {
        "run.png": b"\x89PNG",
        "compare.pdf": b"%PDF",
        "sweep.svg": b"<?xml",
        "ask.png": b"\x89PNG",
    }.items():
        assert Path(name).read_bytes().startswith(begins)


def test_values_are_read_by_the_stated_rule():
    """Numbers, powers, words, lists, names with values; text where it is none of them."""
    read = {
        "1": 1, "-2": -2, "+0.5": 0.5, "1e-3": 0.001, ".5": 0.5, "2^-5": 2.0**-5, "2^10": 1024, "10^-1": 0.1,
        "true": True, "False": False, "NONE": None, "balanced": "balanced", "'none'": "none", '"1"': "1",
        "[]": [], "[ham, spam]": ["ham", "spam"], "[1,2.5]": [1, 2.5], "[[1],'a,b']": [[1], "a,b"],
        "{spam: 5, ham: 1}": {"spam": 5, "ham": 1}, "{1: 2^2}": {1: 4}, "don't": "don't", "1:2": "1:2",
    }  # fmt: skip
    for text, value in read.items():
        assert value_of(text) == value and type(value_of(text)) is type(value), text
    several = {"1,2": [1, 2], "1:4": [1, 2, 3, 4], "0:1:0.25": [0, 0.25, 0.5, 0.75, 1], "2^-1:1": [0.5, 1, 2],
               "10^-2:0": [0.01, 0.1, 1], "1,2^2:3,balanced": [1, 4, 8, "balanced"]}  # fmt: skip
    for text, values in several.items():
        assert values_of(text) == pytest.approx(values) if "b" not in text else values_of(text) == values
    for text in ("[1", "{a}", "{a: 1: 2}", "'a", "2^9999.5", "0^-1", "-1^0.5", "{[]: 1}"):
        with pytest.raises(ValueError, match=r"lacks|form|names nothing|no (finite|real) number"):
            value_of(text)


@given(st.text(alphabet="ab1.^-+:,[]{}'\" ", max_size=12))
def test_no_value_breaks_the_rule(text):
    """Whatever stands there is a value, or an error in words."""
    for read in (value_of, values_of):
        try:
            read(text)
        except ValueError as error:
            assert str(error)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(max_size=8), max_size=4))
def test_no_arguments_bring_a_traceback(arguments):
    """Whatever the arguments, a command ends with an exit code."""
    for command in ("run", "compare", "sweep", "ask", "predict", "inspect", "list"):
        done = CliRunner().invoke(main, [command, *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), arguments


@pytest.mark.parametrize("page", PAGES)
def test_shell_commands_in_the_docs_run(tauten, page):
    """The `sh` blocks of a page that begin with tauten run from top to bottom in an empty folder."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```sh\n(tauten .*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            command = shlex.split(line, comments=True)
            if command:
                assert command[0] == "tauten" and not {"|", ">", "<", "&&"} & set(command), line
                tauten(command)


def test_the_page_names_every_option(tauten):
    """docs/command-line.md names every command and option that there is."""
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, command in main.commands.items():
        assert re.search(rf"(##|`|^)\s?tauten {name}\b", text, re.MULTILINE), name
        for parameter in command.params:
            options = [option for option in parameter.opts if option.startswith("--")]
            assert all(f"`{option}" in text for option in options), (name, options)
