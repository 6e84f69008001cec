"""A finished run is drawn and judged again from its frames; what differs is named."""

import pandas as pd
import pytest

from featlearn.core.files import write_parquet

from .checkout import REPOSITORY, python
from .toy import ANALYSIS, MEASURED, PACKAGE, Toy


@pytest.fixture
def toy(template_finished, tmp_path):
    return template_finished.copy(tmp_path)


def replayed(toy: Toy, *words: str) -> tuple[int, list[str]]:
    done = python(toy.root, "scripts/replay.py", "results/smoke", *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


def files(toy: Toy) -> dict[str, int]:
    return {str(file): file.stat().st_mtime_ns for file in (toy / "results").rglob("*")}


def test_the_same_code_gives_the_same_run_and_leaves_it_as_it_is(toy):
    before = files(toy)
    assert replayed(toy) == (0, ["1 experiments: 0 differences"])
    assert files(toy) == before
    done = python(toy.root, str(REPOSITORY / "scripts/replay.py"), "results/none")
    assert done.returncode == 2
    assert "results/none: no finished run" in done.stderr


@pytest.mark.long
def test_another_drawing_and_band_are_named_and_nothing_else(toy):
    toy.replace(ANALYSIS, "high=1.1", "high=1.2")
    assert replayed(toy, "--ignore", "high", "--paper", "toy")[0] == 0
    toy.replace(ANALYSIS, 'ylabel="cosine"', 'ylabel="Cosine"')
    code, lines = replayed(toy, "--experiment", "toy/averaging")
    assert code == 1
    assert lines == [
        *(f"toy/figures/alignment.{end}: differs" for end in ("svg", "png")),
        "toy/claims/averaging.parquet: toy/closed-form: high 1.1 -> 1.2",
        "1 experiments: 3 differences",
    ]


@pytest.mark.long
def test_a_changed_frame_and_a_changed_formula_are_named(toy):
    frame = pd.read_parquet(toy / f"results/smoke/{MEASURED}")
    write_parquet(frame.assign(value=frame["value"] / 2), toy / f"results/smoke/{MEASURED}")
    toy.replace(f"{PACKAGE}/data.py", "noise**2", "noise**3")
    code, lines = replayed(toy)
    assert code == 1
    assert lines[:2] == [
        "rule toy_averaging: would run again, as its code is another",
        f"{MEASURED}: is not what the run recorded",
    ]
    for kind in ("figures/alignment.svg", "tables/alignment.md", "claims/averaging.parquet"):
        assert any(line.startswith(f"toy/{kind}") for line in lines)
