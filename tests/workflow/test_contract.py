"""What users, the report and later checks may rely on in the results of a run."""

import json
import re
import struct
from fnmatch import filter as filter_names
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from .checkout import REPOSITORY

#: Documented columns; text, but for these.
CLAIMS = [
    "claim", "paper", "kind", "source", "statement", "paper_says", "quantity", "low", "high",
    "reason", "asymptotic", "changed", "measured", "interval_low", "interval_high", "spread",
    "spread_kind", "replicates", "effect", "would_decide", "verdict", "artefact", "premises",
    "premises_met", "turns_with", "what_failed", "baselines",
]  # fmt: skip
CATALOGUE = ["item", "paper", "label", "source", "caption", "kind", "needs", "same_as", "status",
             "files", "command", "made_of", "lacks"]  # fmt: skip
KINDS_OF = {
    **dict.fromkeys(("low", "high", "measured", "interval_low", "interval_high", "spread",
                     "effect", "would_decide"), "double"),
    "replicates": "int64",
    **dict.fromkeys(("needs", "files", "made_of", "lacks"), "list<element: string>"),
}  # fmt: skip
STATUSES = {"regenerated", "real", "stand-in", "needs-data", "not-yet"}
VERDICTS = {"holds", "fails", "undecided", "outside premises", "not shown at this scale"}
KINDS = {"theorem", "control", "identity", "observation"}
#: 2026-11-21T00:24 and the like
TIME_STAMP = re.compile(rb"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")


@pytest.fixture(scope="module")
def results(finished):
    return finished / "results/smoke"


@pytest.fixture(scope="module")
def claims(results):
    return pd.read_parquet(results / "claims.parquet")


@pytest.fixture(scope="module")
def catalogue(results):
    return pd.read_parquet(results / "catalogue.parquet")


def record_of(results: Path, name: str) -> dict:
    return json.loads((results / f"provenance/{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("table", "documented"), [("claims", CLAIMS), ("catalogue", CATALOGUE)])
def test_tables_have_the_documented_columns(results, table, documented):
    schema = pq.read_schema(results / f"{table}.parquet")
    assert schema.names == documented
    plain = {field.name: str(field.type).replace("large_", "") for field in schema}
    assert plain == {name: KINDS_OF.get(name, "string") for name in plain}


def test_claims_have_a_name_of_their_paper_a_reason_and_a_file_and_are_those_of_all_experiments(
    claims, results
):
    assert len(claims) > 0
    assert claims["claim"].is_unique
    assert (claims["claim"].str.partition("/")[0] == claims["paper"]).all()
    for column in ("source", "statement", "quantity", "reason", "spread_kind"):
        assert claims[column].str.strip().ne("").all(), column
    for artefact in claims["artefact"]:
        assert (results / artefact).is_file(), artefact
    parts = [pd.read_parquet(path) for path in sorted(results.glob("*/claims/*.parquet"))]
    together = pd.concat(parts).sort_values("claim", ignore_index=True)
    pd.testing.assert_frame_equal(claims.sort_values("claim", ignore_index=True), together)


def test_a_verdict_follows_from_the_interval_and_the_band(claims):
    assert set(claims["verdict"]) <= VERDICTS
    assert set(claims["kind"]) <= KINDS
    slack = 1e-12 * claims["measured"].abs().clip(lower=1)
    low, high = claims["low"] - slack, claims["high"] + slack
    inside = (claims["interval_low"] >= low) & (claims["interval_high"] <= high)
    outside = (claims["interval_high"] < low) | (claims["interval_low"] > high)
    holds = claims["verdict"] == "holds"
    # exactly 0 is a tie, unless the quantity cannot be less, which the ledger does not say
    tie = (claims[["interval_low", "interval_high"]] == 0).all(axis=1)
    assert (inside == holds)[~tie].all()
    assert inside[holds].all()
    assert outside[claims["verdict"] == "fails"].all()
    assert not outside[claims["verdict"] == "undecided"].any()
    assert claims.loc[claims["verdict"] != "undecided", "would_decide"].isna().all()
    assert claims["measured"].notna().all()


def test_pages_and_captions_name_claims_that_there_are(claims):
    root = REPOSITORY
    pages = [root / "README.md", *root.glob("docs/*.md"), *root.glob("src/featlearn/*/__init__.py")]
    pages += root.glob("src/featlearn/*/analysis/*.py")
    papers = "|".join(claims["paper"].unique())
    named = re.compile(rf"`((?:{papers})/[a-z0-9.*-]+)`")
    rooms, files = {"figures", "tables", "measurements", "weights"}, (".py", ".svg", ".md", ".smk")
    found = {
        (page.name, name)
        for page in pages
        if page.name not in ("changed-after-results.md", "open-verdicts.md")
        for name in named.findall(page.read_text(encoding="utf-8"))
        if name.partition("/")[2] not in rooms and not name.endswith(files)
    }
    assert len(found) > 50
    published = pd.read_parquet(root / "results/published/desk/claims.parquet")
    known = {*claims["claim"], *published["claim"]}
    assert [one for one in sorted(found) if not filter_names(known, one[1])] == []


def test_the_catalogue_lists_every_item_with_its_status_and_command(catalogue, results):
    listed = yaml.safe_load((REPOSITORY / "config/catalogue.yaml").read_text(encoding="utf-8"))
    assert list(catalogue["item"]) == [entry["item"] for entry in listed["items"]]
    assert set(catalogue["status"]) <= STATUSES
    for row in catalogue.itertuples():
        paper, name = row.item.split("/")
        stem, suffixes = f"{paper}/figures/{name}", ("svg", "png")
        if name.startswith("table-"):
            stem, suffixes = f"{paper}/tables/{name}", ("parquet", "md")
        files = [f"{stem}.{suffix}" for suffix in suffixes]
        there = [file for file in files if (results / file).is_file()]
        assert list(row.files) == there, row.item
        contains = {record_of(results, file)["contains"] for file in there}
        made = bool(contains) and contains <= {"measured", "drawn"}
        assert (row.status == "regenerated") == made, row.item
        assert bool(row.command) == bool(there), row.item
    for row in catalogue[catalogue["command"] != ""].itertuples():
        assert row.command.startswith("snakemake "), row.item
        assert row.command.endswith(f" results/smoke/{row.files[0]}"), row.item
        assert "--configfile config/scale/smoke.yaml" in row.command, row.item


def test_every_artefact_has_a_record_of_its_bytes_and_of_its_inputs(finished, results):
    made, listed = finished.made(), finished.checksums()
    assert {name: made[name] for name in listed} == listed
    pages = {"index", *(name.partition("/")[0] for name in listed if "/" in name)}
    report = {"report.html", *(f"report/{page}.html" for page in pages)}
    assert set(made) - set(listed) == {"checksums.txt", *report}
    for name, value in made.items():
        record = record_of(results, name)
        assert record["artefact"] == name
        assert record["sha256"] == value, name
        assert record["bytes"] == (results / name).stat().st_size, name
        assert re.fullmatch(r"[0-9a-f]{16}", record["code"]), name
        assert record["rule"], name
        assert record["versions"]["python"], name
    records = finished.files("results/smoke/provenance")
    assert set(records) == {f"{name}.json" for name in made}
    for name in made:
        for source, value in record_of(results, name)["inputs"].items():
            assert made[str(Path(source).relative_to("results/smoke"))] == value, name
    evaluation = record_of(results, "mrp/measurements/headline/evaluation.parquet")
    assert len(evaluation["inputs"]) == 5
    assert finished.staged() == []
    rules = {record_of(results, name)["rule"] for name in made}
    assert len(list((results / "logs").rglob("*.log"))) >= len(rules)


def test_artefacts_and_pictures_hold_no_notes_about_their_making(finished, sources, results):
    places = {str(finished.root), str(sources.root), str(REPOSITORY), str(Path.home()) + "/"}
    for name in finished.checksums():
        content = (results / name).read_bytes()
        if name.endswith(".parquet"):  # the text that compression hides
            frame = pd.read_parquet(results / name)
            content += "\n".join(map(str, frame.to_numpy().ravel().tolist())).encode()
        assert not [place for place in places if place.encode() in content], name
        assert not TIME_STAMP.search(content), name
    pictures = sorted(results.rglob("*.png"))
    assert pictures
    for picture in pictures:
        content, place, kinds = picture.read_bytes(), 8, []
        while place < len(content):
            length, kind = struct.unpack(">I4s", content[place : place + 8])
            kinds.append(kind.decode())
            place += 12 + length
        assert not set(kinds) & {"tIME", "tEXt", "zTXt", "iTXt", "eXIf"}, picture.name
    for drawing in results.rglob("*.svg"):
        content = drawing.read_text(encoding="utf-8")
        assert "<dc:date>" not in content
        assert "Matplotlib v" not in content


def test_weights_are_plain_tensors_and_those_of_images_say_of_which_network(results):
    weights = sorted(results.rglob("*.safetensors"))
    assert weights
    for path in weights:
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        about = header.pop("__metadata__", {})
        assert set(about) <= {"featlearn"}, path.name
        # several classifiers, and an encoder with its heads, are no network to load
        other = {"classifiers", "noncontrastive"} & {*path.parts}
        if "/weights/images/" in str(path) and not other:
            assert json.loads(about["featlearn"])["encoder"]["kind"]
        assert all(set(entry) == {"dtype", "shape", "data_offsets"} for entry in header.values())


def test_every_measurement_is_tidy(results):
    for path in results.rglob("measurements/**/*.parquet"):
        assert pq.read_schema(path).metadata is None, path.name
        frame = pd.read_parquet(path)
        assert len(frame) > 0, path.name
        if path.name == "evaluation.parquet":
            assert "replicate" in frame, path
        assert isinstance(frame.index, pd.RangeIndex), path.name
        assert not frame.duplicated().any(), path.name
