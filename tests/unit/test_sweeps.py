"""Points and sweeps: what is refused by name, ranges, the search for a turn, table and figures."""

import hashlib
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from featlearn.command import flow, main
from featlearn.core.drawing.plots import save
from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.evidence import claims, sweeps
from featlearn.core.publishing import publish
from featlearn.core.publishing.sweeps import LOOKS, drawn, joined, shown
from featlearn.core.run import notes
from featlearn.core.run.checks import value_of
from featlearn.core.run.config import load, read_yaml
from featlearn.core.run.points import Point, full_key, point, slug
from unit import ROOT

GAMMA = "mrp.headline.data.feature_noise"


@pytest.fixture(autouse=True, scope="module")
def checked_once(tmp_path_factory):
    """What a config's check gave is noted, as between plans: the points of a sweep share most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notes, "_file", None)
        notes.open_notes(tmp_path_factory.mktemp("notes") / "notes.json")
        yield


@pytest.fixture(scope="module")
def config():
    return load({"scale": "smoke"}, ROOT)


def read(config, keys):
    return sweeps.read({**config, "sweep": {"keys": keys, "claims": []}}, ROOT)


def test_a_point_changes_its_keys_and_nothing_else(config):
    one = point(config, {"mrp.headline.data.gamma": 1, "mrp.opponents.cells.1.patches": 16}, ROOT)
    assert value_of(one.config, GAMMA) == 1.0
    assert one.config["mrp"]["opponents"]["cells"][1]["patches"] == 16
    back = point(one.config, {key: value_of(config, key) for key in one.changes}, ROOT)
    assert back.config | {"papers": config["papers"]} == config
    assert one.config["papers"] == ["mrp"]
    assert one.folder == f"results/smoke/points/{one.slug}"
    assert point(config, {"images.world.classes": 4}, ROOT).config["papers"] == ["mrp"]
    assert point(config, {"seed": 1}, ROOT).config["papers"] == config["papers"]
    assert slug(point(config, {GAMMA: 1}, ROOT).changes) == f"{GAMMA}=1.0"
    assert point(config, {"mrp.headline.data.patches": 16.0}, ROOT).slug.endswith("=16")


def test_folders_are_safe_and_differ():
    changes = [
        {"a.b": value}
        for value in (1, "1", "true", True, "1 ", "1/", "../x", "x" * 300, "y" * 300, [1, 2], "é")
    ]
    changes += [{"a": 1, "b": 2}, {"a": "1,b=2"}, {"a.b": 1.0}]
    names = [slug(one) for one in changes]
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name) < 200
        assert "/" not in name
        assert not name.startswith(".")
        assert name.isascii()
    assert len({Point(one, {}, slug(one)).prefix for one in changes}) == len(changes)


@pytest.mark.parametrize(("key", "told"), [
    ("mrp.headline.data.feature_nois", GAMMA),
    ("mrp.headline.data.sparsty", "mrp.headline.data.sparsity"),
    ("headline.data.classes", "mrp.headline.data.classes"),
    ("", "unknown key"),
    (".", "unknown key"),
    ("mrp..data", "unknown key"),
    ("run", "names what a run is"),
    ("results", "names what a run is"),
])  # fmt: skip
def test_an_unknown_key_is_refused_with_the_nearest(config, key, told):
    with pytest.raises(ConfigError) as refused:
        full_key(config, key, ROOT)
    assert told in str(refused.value)


@pytest.mark.parametrize(("keys", "told"), [
    ({GAMMA: [0.1, 0.1]}, "twice"),
    ({GAMMA: [1, 1.0]}, "twice"),
    ({GAMMA: [0.1, math.nan]}, "finite"),
    ({GAMMA: [0.1, math.inf]}, "finite"),
    ({GAMMA: [0.1, "much"]}, f"the point {GAMMA} = 'much'"),
    ({GAMMA: [0.1, -1]}, f"the point {GAMMA} = -1"),
    ({"mrp.headline.data.patches": [16, 1]}, "the point mrp.headline.data.patches = 1"),
    ({GAMMA: [0, 1], "mrp.headline.data.gamma": [0, 1]}, "the same key"),
    ({GAMMA: {"from": 0, "to": 1, "points": 3, "scale": "log"}}, "more than 0"),
    ({GAMMA: {"from": 1, "to": 1, "points": 3, "scale": "linear"}}, "twice"),
])  # fmt: skip
def test_a_wrong_sweep_is_refused_by_name(config, keys, told):
    with pytest.raises(ConfigError) as refused:
        read(config, keys)
    assert told in str(refused.value)


@pytest.mark.parametrize("keys", [{}, {GAMMA: [0.1]}, {"a": [1, 2], "b": [1, 2], "c": [1, 2]}])
def test_the_schema_wants_one_or_two_keys_with_values(keys):
    with pytest.raises(ConfigError, match="sweep"):
        load({"scale": "smoke", "sweep": {"keys": keys}}, ROOT)


def test_ranges_are_even_on_their_scale():
    log = sweeps.values_of("k", {"from": 0.01, "to": 1, "points": 5, "scale": "log"})
    assert np.diff(np.log(log)) == pytest.approx(math.log(100) / 4, rel=1e-5)
    linear = sweeps.values_of("k", {"from": 2, "to": -1, "points": 4, "scale": "linear"})
    assert linear == [2, 1, 0, -1]


def test_two_keys_make_a_point_a_pair_and_probes_of_each_alone(config):
    found = read(config, {GAMMA: [0.02, 0.05], "mrp.headline.data.patches": [8, 16, 24]})
    assert len(found.points) == 6
    assert [list(one.changes) for one in found.probes] == [[GAMMA], ["mrp.headline.data.patches"]]
    for one in found.probes:
        ((key, value),) = one.changes.items()
        assert value != value_of(config, key)


def test_a_key_that_reaches_nothing_and_a_claim_that_is_not_reached_are_refused(config):
    swept = read(config, {GAMMA: [0.02, 0.1]})
    with pytest.raises(ConfigError, match=f"{GAMMA}: no experiment with claims in mrp reads"):
        sweeps.watched(swept, {one.slug: [] for one in swept.points}, {}, ROOT)
    reached = {one.slug: ["mrp/headline"] for one in swept.points}
    headline = {"module": "featlearn.mrp.analysis.headline", "config": config["mrp"]}
    all_ids = sweeps.watched(swept, reached, {"mrp/headline": headline}, ROOT)["mrp/headline"]
    assert "mrp/headline-captured" in all_ids
    wrong = sweeps.Sweep(swept.keys, swept.points, swept.probes, ("mrp/headline-capturd",))
    with pytest.raises(ConfigError, match="did you mean mrp/headline-captured"):
        sweeps.watched(wrong, reached, {"mrp/headline": headline}, ROOT)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("low", "high"), [(1.0, 9.0), (9.0, 1.0), (1, 64), (0.01, 100.0)])
@pytest.mark.parametrize("share", [0.001, 0.3, 0.77, 0.999])
def test_the_turn_lies_between_ends_as_near_as_asked(low, high, share, log):
    turn, calls = low + share * (high - low), []

    def verdicts(values):
        calls.append(list(values))
        return ["holds" if (value - turn) * (low - turn) > 0 else "fails" for value in values]

    (left, first), (right, last) = sweeps.bisected(low, high, verdicts, 0.05, log)
    assert (first, last) == ("holds", "fails")
    assert min(left, right) <= turn <= max(left, right)
    whole = isinstance(low, int)
    wide = max(left, right) / min(left, right) - 1 if log else abs(right - left)
    assert wide <= 0.05 * (1 + 1e-9) or (whole and abs(right - left) == 1)
    for before, after in pairwise(calls):
        assert after[:-1] == before  # earlier points stay, so that none is run again
    assert len(calls) <= 16


def test_no_turn_is_told_after_the_two_ends():
    calls = []

    def verdicts(values):
        calls.append(values)
        return ["holds"] * len(values)

    assert sweeps.bisected(0, 1, verdicts, 0.1) == [(0, "holds"), (1, "holds")]
    assert len(calls) == 1


@pytest.mark.parametrize("words", [
    ["mrp.headline.data.gama", "1", "2"],
    [GAMMA, "1", "2", "--and", GAMMA, "3", "4"],
    [GAMMA, "1", "2", "--until-turns", "mrp/x", "--and", "seed", "1", "2"],
    [GAMMA, "1", "x", "--until-turns", "mrp/x"],
    [GAMMA, "1", "2", "--until-turns", "mrp/x", "--accuracy", "0"],
    [GAMMA, "1", "2", "3", "--points", "5"], [GAMMA], [GAMMA, "[", "2"],
    [GAMMA, "1", "2", "--configfile", "nowhere.yaml"],
])  # fmt: skip
def test_the_command_refuses_before_any_job(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *words, "--scale", "smoke"]) == 2
    assert capsys.readouterr().err.startswith("featlearn sweep: ")
    assert not list(tmp_path.iterdir())


def test_two_keys_reach_the_plan_in_the_order_given(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = []
    monkeypatch.setattr(flow, "followed", lambda command: commands.append(command) or 0)
    for first, second in (("rho", "gamma"), ("gamma", "rho")):
        words = [f"mrp.headline.data.{first}", "0.1", "0.2"]
        words += ["--and", f"mrp.headline.data.{second}", "0.3", "0.4"]
        assert main(["sweep", *words, "--scale", "smoke"]) == 0
        file = next(one for one in commands[-1] if "featlearn-set" in one)
        swept = sweeps.read(load(read_yaml(Path(file)), ROOT), ROOT)
        assert swept.keys == tuple(full_key(config, one, ROOT) for one in words[::4])


VERDICTS = [
    claims.HOLDS, claims.FAILS, claims.UNDECIDED, claims.OUTSIDE, claims.NOT_SHOWN,
    claims.NOT_MEASURED,
]  # fmt: skip


def ledger(verdict, mean):
    """Of one claim."""
    none = verdict == claims.NOT_MEASURED
    row = dict.fromkeys(claims.COLUMNS, "") | {
        "claim": "toy/x", "source": "Theorem 1", "statement": "Words " * 12, "quantity": "q " * 30,
        "low": 0.5, "high": math.inf, "verdict": verdict, "replicates": 3.0,
        "measured": math.nan if none else mean, "interval_low": math.nan if none else mean - 0.1,
        "interval_high": math.nan if none else mean + 0.1, "spread": math.nan if none else 0.1,
        "premises_met": "violated" if verdict == claims.OUTSIDE else "met",
        "premises": f"$m \\le k$ (A.1): at most 2 needed, {mean} used, "
        + ("violated" if verdict == claims.OUTSIDE else "met"),
        "baselines": "" if none else f'{{"nearest": {mean + 0.05}, "random kernels": 0.1}}',
    }  # fmt: skip
    return pd.DataFrame([row, row | {"claim": "toy/other"}])


def rows_and_keys(*values):
    keys = [
        {"key": f"toy.{name}", "means": "words of the key", "setting": one[0]}
        for name, one in zip("ab", values, strict=False)
    ]
    points = [list(one) for one in zip(*values, strict=True)]
    ledgers = [ledger(VERDICTS[n % 6], n / 5) for n in range(len(points))]
    return joined(ledgers, points, keys, ["toy/x"]), keys


def test_table_has_a_row_a_point_in_the_order_of_the_key():
    rows, keys = rows_and_keys([5, 3, 1, 4, 2, 0])
    assert list(rows["toy.a"]) == [0, 1, 2, 3, 4, 5]
    assert list(rows["verdict"]) == [VERDICTS[n] for n in (5, 2, 4, 1, 3, 0)]
    assert set(rows["claim"]) == {"toy/x"}
    made = shown(rows, keys, [(8, 6)] * 6, "smoke")
    assert "Of the 48 jobs behind these 6 points 36 are shared" in made.notes
    assert made.shown["measured"].iloc[0] == made.shown["baselines"].iloc[0] == ""
    assert made.shown["baselines"].iloc[1] == "nearest: 0.45; random kernels: 0.1"


@pytest.mark.parametrize("values", [
    ([1, 2, 3, 4, 5, 6],),
    ([0.001, 0.01, 0.1, 1, 10, 100],),
    (["relu", "gelu", "smooth", "a", "b", "c"],),
    ([True, False],),
    ([1, 1, 1, 2, 2, 2], ["x", "y", "z"] * 2),
    ([1, 1, 1, 2, 2, 2], [0.1, 0.2, 0.3] * 2),
    ([1, 1, 2], ["x", "y", "x"]),  # a map needs no pair to be there
])  # fmt: skip
def test_figures_show_every_verdict_and_have_the_same_bytes_twice(values, tmp_path):
    rows, keys = rows_and_keys(*values)
    digests = []
    for name in "ab":
        figure = drawn(rows, keys, "smoke")
        words = [one.get_text() for one in figure.legends[0].get_texts()]
        assert {LOOKS[verdict].words for verdict in rows["verdict"]} <= set(words)
        assert any("premise" in one for one in words) == ("violated" in set(rows["premises_met"]))
        drawn_beside = {one.get_text() for one in figure.axes[0].texts}
        assert len(values) > 1 or {"nearest", "random kernels"} <= drawn_beside
        save(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
        digests.append(hashlib.sha256((tmp_path / f"{name}.svg").read_bytes()).hexdigest())
    assert digests[0] == digests[1]


def test_a_premise_is_shaded_where_it_is_violated_and_only_named_where_that_is_everywhere():
    rows, keys = rows_and_keys([1, 2, 3, 4, 5, 6])
    more = rows["premises"] + "\nd >= k: at least 3 needed, 2 used, violated"
    figure = drawn(rows.assign(premises=more), keys, "smoke")
    words = [one.get_text() for one in figure.legends[0].get_texts()]
    assert r"premise violated here: $m \leq k$ (A.1)" in words
    assert "premise violated at all values here: d >= k" in words
    hatched = [one for one in figure.axes[0].patches if one.get_hatch()]
    assert [(one.get_x(), one.get_width()) for one in hatched] == [(3.5, 1.0)]


def test_a_figure_of_a_sweep_is_published_with_the_table_of_a_commit(tmp_path, monkeypatch):
    rows, keys = rows_and_keys([1, 2])
    png = tmp_path / "results/tour/sweeps/toy.a/toy/x.png"
    png.parent.mkdir(parents=True)
    (png.parents[1] / "table.parquet").write_bytes(b"rows")
    save(drawn(rows, keys, "tour"), png.with_suffix(".svg"), png)
    with pytest.raises(FeatlearnError, match="with its record"):
        publish.publish_sweep(tmp_path, png)
    record = {"commit": "abc+"}
    monkeypatch.setattr(publish, "read_record", lambda results, _: record)
    monkeypatch.setattr(publish, "damage", lambda *_, thorough: "")
    with pytest.raises(FeatlearnError, match="expected a commit"):
        publish.publish_sweep(tmp_path, png)
    assert not (tmp_path / publish.APART).exists()
    record["commit"] = "abc"
    shown = tmp_path / publish.APART / publish.publish_sweep(tmp_path, png)
    assert {str(one.relative_to(shown)) for one in shown.rglob("*.*") if one.is_file()} == {
        "table.parquet", "record.json", "toy/x.webp",
    }  # fmt: skip
