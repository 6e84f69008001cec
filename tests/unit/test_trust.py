"""Nothing that a user is given can run code: configs, names of files, data sets, checkpoints.

Each test hands over something that makes a file called ``owned`` when it is run or unpacked.
"""

import ast
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import yaml

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.files import read_parquet, read_tensors
from featlearn.core.run.config import load, read_own_yaml, read_yaml
from featlearn.core.run.guard import template_fault
from featlearn.core.training.loops import Checkpoint, Checkpoints
from featlearn.images.data.datasets import open_images
from featlearn.images.data.published import PUBLISHED
from featlearn.images.weights import read_weights
from unit import ROOT
from unit.test_image_readers import encoded as png

#: What a shell, Python's eval, or a template engine would run.
COMMAND = "touch owned"
HOSTILE = [
    "$(touch owned)", "`touch owned`", "; touch owned", "| touch owned", "&& touch owned #",
    "'; touch owned; '", '"; touch owned; "', "$IFS$(touch owned)", "\n touch owned\n",
    "{__import__('os').system('touch owned')}",
    "{{ cycler.__init__.__globals__.os.system('touch owned') }}",
    "?__import__('os').system('touch owned')", "<script>alert(1)</script>", "-rf", "..",
]  # fmt: skip


class Bomb:
    """Runs a command when it is unpickled."""

    def __reduce__(self):
        return os.system, (COMMAND,)


@pytest.fixture(autouse=True)
def nothing_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.rglob("owned"))


def test_the_bomb_works(tmp_path):
    pickle.loads(pickle.dumps(Bomb()))
    (tmp_path / "owned").unlink()


@pytest.mark.parametrize("name", ["w.pth", "w.pt", "w.bin", "w.safetensors", "w"])
@pytest.mark.parametrize("way", ["torch", "torch-legacy", "pickle"])
def test_weights_that_hold_code_are_refused_and_do_not_run(name, way):
    path = Path(name)
    content = {"model": {"w": torch.ones(2), "bomb": Bomb()}}
    if way == "pickle":
        path.write_bytes(pickle.dumps(content))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=way == "torch")
    with pytest.raises(FeatlearnError, match=re.escape(name)):
        read_weights(path)


@pytest.mark.parametrize("part", ["safetensors", "json"])
def test_a_checkpoint_that_holds_code_is_skipped_and_does_not_run(part, capsys):
    kept = Checkpoints("kept", {"run": 1})
    for step in (1, 2):
        kept.save(Checkpoint(step, {"w": torch.ones(2)}, {}))
    newest = max(Path("kept").glob(f"*.{part}"))
    newest.write_bytes(pickle.dumps(Bomb()))
    if part == "safetensors":  # even with a checksum that fits
        record = json.loads(newest.with_suffix(".json").read_text())
        from featlearn.core.files import digest

        newest.with_suffix(".json").write_text(json.dumps({**record, "sha256": digest(newest)}))
    assert kept.latest().step == 1
    assert "is skipped" in capsys.readouterr().err


@pytest.mark.parametrize("read", [read_parquet, read_tensors])
def test_an_artefact_that_is_a_pickle_is_refused(read):
    Path("artefact").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FeatlearnError, match="artefact"):
        read("artefact")


@pytest.mark.parametrize("text", [
    f"run: !!python/object/apply:os.system [{COMMAND}]",
    f"run: !!python/object/new:os.system [{COMMAND}]",
    "run: !!python/name:os.system",
    "run: !!python/module:os",
    f"!!python/object/apply:subprocess.getoutput [{COMMAND}]",
    f"? !!python/object/apply:os.system [{COMMAND}]\n: 1",
])  # fmt: skip
def test_a_tag_of_yaml_is_refused_and_does_not_run(text):
    path = Path("mine.yaml")
    path.write_text(text)
    for read in (read_yaml, read_own_yaml):
        with pytest.raises(ConfigError, match=r"mine\.yaml"):
            read(path)
    assert "mine.yaml: is not plain YAML" in template_fault(["--configfile", "mine.yaml"])


TEMPLATE = "__use_yte__: true\nrun: ?__import__('os').system('touch owned')\n"


@pytest.mark.parametrize("text", [
    TEMPLATE,
    TEMPLATE.replace("__use_yte__", '"__use\\x5fyte__"'),
    TEMPLATE.replace("__use_yte__", "!!str __use_yte__"),
    TEMPLATE.replace("__use_yte__", "!!python/str __use_yte__"),
    "base: &base {__use_yte__: true}\n<<: *base\nrun: ?1\n",
    "? __use_yte__\n: 1\n",
    "__use_yte__: false\n",
])  # fmt: skip
@pytest.mark.parametrize("words", [
    ["--configfile", "mine.yaml"],
    ["--configfiles", "other.yaml", "mine.yaml"],
    ["--configfile=mine.yaml"],
    ["--cores", "1", "all", "--configf", "mine.yaml"],
])  # fmt: skip
def test_a_config_that_snakemake_would_run_is_refused(text, words):
    Path("mine.yaml").write_text(text)
    Path("other.yaml").write_text("run: x\n")
    assert template_fault(words).startswith("mine.yaml: ")


@pytest.mark.parametrize(("name", "text"), [
    ("mine.yaml", "run: '?1 + 1'\nseed: 3\n"),
    ("mine.json", '{"__use_yte__": true, "run": "?1"}'),
    ("mine.json", '{\n\t"run": "tabs are no YAML"\n}'),
])  # fmt: skip
def test_plain_configs_are_taken(name, text):
    Path(name).write_text(text)
    assert template_fault(["--cores", "2", "--configfile", name]) is None


BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [BOMB, "seed: &a [*a]\n", "a: &a {b: *a}\n", json.dumps({"seed": [1] * 100_000})],
    ids=["aliases of aliases", "holds itself", "key holds itself", "long"],
)
def test_a_config_without_end_is_refused_at_once(text):
    Path("mine.yaml").write_text(text)
    assert "more than 100,000 values" in template_fault(["--configfile", "mine.yaml"])
    with pytest.raises(ConfigError, match="more than 100,000 values"):
        load(yaml.safe_load(text), ROOT)


@pytest.mark.parametrize(("name", "text", "told"), [
    ("mine.yaml", "seed: 1\nrun: a\nseed: 2\n", "line 3: the key 'seed' .*in line 1"),
    ("mine.yaml", "mrp:\n  a: {size: 1, 'size': 2}\n", "line 2: the key 'size' .*in line 2"),
    ("mine.yaml", "x: [{b: 1}, {b: 1, c: 2, b: 3}]\n", "line 1: the key 'b' "),
    ("mine.yaml", '"a\\e[31m": 1\n"a\\e[31m": 2\n', r"line 2: the key 'a\\x1b\[31m' "),
    ("mine.json", '{"a": {"seed": 1, "seed": 2}}', "the key 'seed' stands twice"),
])  # fmt: skip
def test_a_key_that_stands_twice_is_refused_by_file_line_and_name(name, text, told):
    Path(name).write_text(text)
    assert re.match(rf"{name}: {told}", template_fault(["--configfile", name]))


def test_what_is_merged_may_be_said_again():
    Path("mine.yaml").write_text(
        "base: &a {size: 1, b: 2}\nnext: &b {<<: *a, size: 3}\nlast: {<<: *b, size: 4}\n"
        "1: a\n'1': b\n"
    )
    assert template_fault(["--configfile", "mine.yaml"]) is None


@pytest.mark.parametrize("words", [["nosuch.yaml"], ["mine.yaml", "mrp"], ["mine.yaml", "-n", "x"]])
def test_what_is_no_config_file_is_told_before_snakemake_opens_it(words):
    Path("mine.yaml").write_text("seed: 3\n")
    fault = template_fault(["--configfile", *words])
    assert fault is None if "-n" in words else fault.startswith(f"{words[-1]}: no such config file")


def test_a_pipe_is_no_config_file():
    """It could be read once, by the guard or by Snakemake."""
    os.mkfifo("pipe")
    for words in (["--configfile=pipe"], ["--configfile", "pipe"], ["--configfiles=pipe"]):
        assert "pipe" in template_fault(words)


@pytest.mark.parametrize("keys", [1_000_000, 150_000])
def test_a_config_beyond_measure_is_refused_before_it_is_parsed(keys):
    Path("mine.yaml").write_text("{" + "".join(f"k{n}: 1,\n" for n in range(keys)) + "}")
    began = time.process_time()
    assert "bytes" in template_fault(["--configfile", "mine.yaml"])
    assert time.process_time() - began < 1


@pytest.mark.parametrize("name", HOSTILE[:-1])
def test_names_of_class_folders_and_images_are_only_names(name):
    for folder in (name.replace("/", "_"), "plain"):
        Path("data", folder).mkdir(parents=True)
        for number in range(2):
            Path("data", folder, f"{number}{name.replace('/', '_')}.png").write_bytes(png())
    opened = open_images({"kind": "folder", "path": "data", "size": 8}, "cache", "all")
    assert len(opened) == 4
    assert len(opened.classes) == 2
    assert {path.name for path in Path().iterdir()} == {"data", "cache"}


@pytest.mark.parametrize("path", [*HOSTILE, "../../../../tmp/owned", "/etc/passwd", "a\0b"])
def test_a_parquet_file_with_a_hostile_path_column_is_only_read(path, capsys):
    names = pa.array([path, path])
    images = pa.StructArray.from_arrays([pa.array([png(), b"broken"]), names], ["bytes", "path"])
    table = pa.table({"image": images, "label": [0, 0], "path": names})
    Path("data").mkdir()
    pq.write_table(table, "data/train.parquet")
    opened = open_images({"kind": "parquet", "path": "data", "size": 8}, "cache", "all")
    assert len(opened) == 1
    assert {place.name for place in Path().iterdir()} == {"data", "cache"}
    # what is told is one line of printable letters
    said = capsys.readouterr().err
    assert "train.parquet row 1" in said
    assert all(line.isprintable() for line in said.splitlines())


def test_class_names_from_a_parquet_file_are_only_names():
    names = {"info": {"features": {"label": {"names": HOSTILE}}}}
    table = pa.table({"image": [png()], "label": [0]})
    table = table.replace_schema_metadata({b"huggingface": json.dumps(names).encode()})
    Path("data").mkdir()
    pq.write_table(table, "data/train.parquet")
    opened = open_images({"kind": "parquet", "path": "data", "size": 8}, "cache", "all")
    assert len(opened.classes) == len(HOSTILE)
    assert all(name.isprintable() for name in opened.classes)


def test_a_numpy_file_of_objects_is_no_data():
    """The readers of arrays take plain bytes; nobody asks NumPy to unpickle."""
    Path("data").mkdir()
    np.save("data/train.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    for kind in ("folder", "parquet", "CIFAR10", "MNIST", "STL10", "SVHN"):
        own = {"kind": kind, "path": "data"}
        if kind in PUBLISHED:
            own = {"kind": "torchvision", "name": kind}
            for file in PUBLISHED[kind].splits["train"]:
                Path("data", file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy("data/train.npy", Path("data", file))
        with pytest.raises(FeatlearnError):
            open_images({**own, "size": 8}, "cache", "train")


#: Calls that run text, start programs, or unpack objects; and the files that may.
FORBIDDEN = {
    "eval", "exec", "compile", "__import__",
    "os.system", "os.popen", "os.execv", "os.spawnv",
    "pickle.load", "pickle.loads", "marshal.loads", "shelve.open", "joblib.load",
    "np.load", "numpy.load", "pd.read_pickle", "pandas.read_pickle", "runpy.run_path",
    "yaml.load", "yaml.unsafe_load", "yaml.full_load",
    "torch.load", "torch.hub.load", "torch.jit.load",
    "subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_output",
    "subprocess.check_call", "subprocess.getoutput", "psutil.Popen",
    "shell",
}  # fmt: skip
ALLOWED = {
    # the same interpreter with a script of the repository, words in a list
    ("src/featlearn/core/run/workspace.py", "subprocess.run"),
    ("scripts/notebooks.py", "subprocess.run"),
    ("scripts/site.py", "subprocess.run"),
    ("scripts/verify.py", "subprocess.run"),
    ("scripts/verify.py", "psutil.Popen"),
    # Snakemake, asked for a plan of a scale by its name
    ("src/featlearn/core/publishing/publish.py", "subprocess.run"),
    # Snakemake or a script of the repository: each word of the user is one word of its command line
    ("src/featlearn/command/flow.py", "subprocess.Popen"),
    # the same, for the warm process; and the script that Snakemake wrote, in a fork of it
    ("src/featlearn/core/run/warm.py", "subprocess.Popen"),
    ("src/featlearn/core/run/warm.py", "runpy.run_path"),
    # the same, through torchrun and srun: one word is a path, none is text of a user
    ("src/featlearn/images/train/launch.py", "subprocess.Popen"),
    # git, asked for the commit of the checkout: words of ours, no program of a config
    ("src/featlearn/core/run/commit.py", "subprocess.run"),
    # with weights_only=True, see below
    ("src/featlearn/images/weights.py", "torch.load"),
    # with a loader that makes no objects, see above
    ("src/featlearn/core/run/config.py", "yaml.load"),
    ("src/featlearn/core/run/guard.py", "yaml.load"),
}


def called(path: Path) -> set[tuple[str, str]]:
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            found.add((str(path.relative_to(ROOT)), name))
            if any(key.arg == "shell" for key in node.keywords):
                found.add((str(path.relative_to(ROOT)), "shell"))
            if name == "torch.load":
                safe = [key.value for key in node.keywords if key.arg == "weights_only"]
                assert [ast.unparse(value) for value in safe] == ["True"], path
    return found


def test_no_code_or_rule_of_the_project_runs_text_starts_shells_or_unpickles():
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "scripts").rglob("*.py")]
    assert len(files) > 100
    found = {pair for path in files for pair in called(path) if pair[1] in FORBIDDEN}
    assert found == ALLOWED
    files = [ROOT / "Snakefile", ROOT / "workflow/Snakefile", *(ROOT / "workflow").rglob("*.smk")]
    assert len(files) > 5
    for path in files:
        words = re.findall(r"^\s*(shell|run|wrapper|notebook|cwl)\s*:", path.read_text(), re.M)
        assert words == [], path


@pytest.mark.parametrize(
    ("here", "snakefile", "more"),
    [
        (True, "Snakefile", []),
        (False, "Snakefile", ["--directory", str(ROOT)]),
        (False, "workflow/Snakefile", []),
    ],
    ids=["profile", "directory", "catalogue"],
)
def test_snakemake_itself_gets_no_config_that_would_run(here, snakefile, more, tmp_path):
    """Nor in a folder that holds, beside it, what looks like our guard."""
    guard = tmp_path / "src" / "featlearn" / "core" / "run" / "guard.py"
    guard.parent.mkdir(parents=True)
    guard.write_text(f"open({str(tmp_path / 'owned')!r}, 'w')\ntemplate_fault = lambda words: ''\n")
    config = tmp_path / "evil.yaml"
    config.write_text(TEMPLATE.replace("touch owned", f"touch {tmp_path}/owned"))
    told = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "-s", str(ROOT / snakefile), *more,
         "--configfile", str(config)],
        cwd=ROOT if here else tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode != 0
    assert f"{config}: __use_yte__: " in told.stdout + told.stderr
    assert "Traceback" not in told.stdout + told.stderr
