"""The front door: public names, what importing costs, what the registry and the docs say."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from dataclasses import fields
from pathlib import Path

import pytest

import tauten as tt
from tauten.linear import LinearClassifier

ROOT = Path(__file__).parents[1]
NAMES = """AROWClassifier AROWRegressor ActiveClassifier AdaptiveAsk AlwaysAsk AskCurve AskRule
BudgetAsk BudgetOGDClassifier BudgetPAClassifier BudgetPerceptronClassifier BudgetSGDClassifier
CPAClassifier CWClassifier Checkpoint ClassMeanPAClassifier Comparison CostSensitivePAClassifier
DecayingAsk ForgetronClassifier FourierMap FourierOGDClassifier ITMLMetric LayerMap LocalPAClassifier
MahalanobisPAClassifier MahalanobisPARegressor MappedClassifier MappedRegressor MarginAsk
MaxOutPAClassifier MetricStudy ModelFileError NHERDClassifier NystromMap NystromOGDClassifier
OGDClassifier OSELMClassifier PAClassifier PAMetric PARegressor PAUMClassifier PerceptronClassifier
ProjectronClassifier RLSClassifier RandomAsk RankTest ReadError SCWClassifier SecondOrderAsk
SecondOrderPerceptronClassifier Sweep Tally Trace VarianceAsk ask_curve at_rate check_learner compare
learners load make merge metric_study plot_boundary progressive rank_test run sweep""".split()
REGISTRY = """perceptron pa pa1 pa2 ogd paum cpa cspa pamean pamean1 pamean2 pameanw pameanw1 pameanw2
pa-reg pa1-reg pa2-reg pam pam1 pam2 sop cw arow scw1 scw2 nherd pam-reg pam1-reg pam2-reg arow-reg
pam-diag pam1-diag pam2-diag sop-diag cw-diag arow-diag scw1-diag scw2-diag nherd-diag pam-diag-reg
pam1-diag-reg pam2-diag-reg arow-diag-reg pamo1 pamo2 rbp forgetron projectron projectron++ bpas bogd
bogd++ bsgd rls oselm fogd nogd lol ilol rpe rpa rpa1 rpa2 pea sel-ada sel-2nd paa paa1 paa2 cspaa csrnd
metric-pa+ metric-pa- metric-pa1+ metric-pa1- metric-pa2+ metric-pa2- metric-ls+ metric-ls- itml""".split()


def test_public_names():
    """`__all__` is what the design promises, sorted, and every name is there."""
    assert tt.__all__ == sorted(NAMES)
    assert all(getattr(tt, name) is not None for name in NAMES)
    assert set(NAMES) <= set(dir(tt))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        tt.nonsense  # noqa: B018  the look-up is what is tested


def test_registry_names():
    """The registry holds each name of the design and makes its learner with further parameters."""
    assert list(tt.learners()) == REGISTRY
    assert all(entry.paper and entry.line for entry in tt.learners().values())
    assert tt.make("pa2", C=0.25).get_params()["C"] == 0.25
    with pytest.raises(ValueError, match="There is no learner 'pa3'; expected one of perceptron, pa, "):
        tt.make("pa3")
    with pytest.raises(ValueError, match="perceptron has no parameter 'C'; expected one of "):
        tt.make("perceptron", C=1)


def test_import_loads_nothing_and_compiles_nothing():
    """`import tauten` brings in none of the libraries it stands on."""
    heavy = ("numba", "sklearn", "scipy", "pandas", "numpy")
    program = f"import sys, tauten; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_shared_parameters_are_documented():
    """docs/parameters.md describes every parameter that classifiers share, and no other."""
    text = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE))
    assert described == {field.name for field in fields(LinearClassifier)}


def test_readme_lists_every_learner():
    """The README's table names each registry entry."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in REGISTRY if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
)
def test_python_in_the_docs_runs(page, tmp_path, monkeypatch):
    """The Python blocks of a page run from top to bottom, to the values that their comments print."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    space: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        comments = comments_of(block)
        for statement in ast.parse(block).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), page, "exec"), space)
                continue
            value = eval(compile(ast.Expression(statement.value), page, "eval"), space)
            for printed in literal(comments.get(statement.end_lineno, "")):
                shown = ast.unparse(statement)
                assert as_printed(value, printed), f"{page}: {shown} is {value!r}, not {printed!r}"


def comments_of(source):
    """The comment at the end of each line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string[1:] for token in tokens if token.type == tokenize.COMMENT}


def literal(comment):
    """The value that a comment begins with, up to its end or a colon, in a list; an empty one for words."""
    ends = [match.start() for match in re.finditer(": |, then ", comment)]
    for end in (len(comment), *reversed(ends)):
        try:
            return [ast.literal_eval(comment[:end].strip())]
        except (SyntaxError, ValueError):
            continue
    return []


def as_printed(value, printed):
    """Whether a value is what is printed; a float to as many digits as are."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(printed, float):
        decimals = len(f"{printed!r}".partition(".")[2])
        return isinstance(value, float) and round(value, decimals) == printed
    if isinstance(printed, list | tuple):
        return (
            type(value) is type(printed)
            and len(value) == len(printed)
            and all(as_printed(*pair) for pair in zip(value, printed, strict=True))
        )
    return type(value) is type(printed) and value == printed


def test_values_in_comments_are_read():
    """What a comment prints is told from words, and a value that differs in a printed digit is not it."""
    assert literal(" 'ham': classes are sorted") == ["ham"]
    assert literal(" 0.5, 1") == [(0.5, 1)] and literal(" [[1]], then [[2]]") == [[[1]]]
    assert literal(" one file, no pickle") == literal("") == []
    assert comments_of("f(\n    '#'\n)  # 'a'") == {3: " 'a'"}
    assert as_printed(([0.12345], "a", 3), ([0.123], "a", 3))
    for value in (([0.1239], "a", 3), ([0.123], "b", 3), ([0.123], "a"), [[0.123], "a", 3], ([0], "a", 3)):
        assert not as_printed(value, ([0.123], "a", 3))


@pytest.mark.parametrize(
    "page",
    ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))],
)
def test_links_lead_somewhere(page):
    """Every relative link of a page names a file that is there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [
        link for link in re.findall(r"\]\(([^)#\s]+)", text) if not link.startswith(("http", "mailto"))
    ]
    assert [link for link in targets if not ((ROOT / page).parent / link).exists()] == []
