"""Fingerprints of what functions compute, and records of artefacts."""

import ast
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest
from featlearn.core.run import notes, provenance

#: A small library: module file below ``featlearn/`` and its source.
LIBRARY = {
    "__init__.py": "", "core/__init__.py": "", "core/used.py": "value = 1\n",
    "core/other.py": "value = 2\n", "core/far.py": "from featlearn.paper.train import train\n",
    "paper/__init__.py": "",
    "paper/train.py": "from featlearn.core.used import value\ntrain = value\n",
    "paper/sibling.py": "from .train import train\n",
    "paper/sibling_module.py": "from . import train\n",
    "paper/upward.py": "from ..core.used import value\n",
    "paper/upward_module.py": "from ..core import used\n",
    "paper/deep/__init__.py": "from ..upward import value\n", "paper/deep/leaf.py": "leaf = 1\n",
    "paper/circle_a.py": "from featlearn.paper import circle_b\n",
    "paper/circle_b.py": "from featlearn.paper import circle_a\nfrom featlearn.core import used\n",
}  # fmt: skip


def forget_sources():
    """As a new process, which is what Snakemake is after an edit."""
    for cached in vars(provenance).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


@pytest.fixture(autouse=True)
def fresh_source():
    """Imports of a file are read once a process; a test that edits files starts anew."""
    forget_sources()
    yield
    forget_sources()


@pytest.fixture
def library(tmp_path):
    for name, source in LIBRARY.items():
        path = tmp_path / "src" / "featlearn" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return tmp_path / "src"


ENTRY = "featlearn.entry"


def script_with(library: Path, source: str) -> Path:
    path = library / "featlearn" / "entry.py"
    path.write_text(textwrap.dedent(source))
    return path


def printed(library: Path, *roots: str) -> str:
    forget_sources()
    return provenance.fingerprint(*(roots or (ENTRY,)), root=library)


def is_touched(library: Path, name: str, *roots: str, edit: str = "edited = 1\n") -> bool:
    """Whether an edit of ``featlearn/<name>`` moves the fingerprint of the roots."""
    before = printed(library, *roots)
    path = library / "featlearn" / name
    source = path.read_text()
    path.write_text(source + edit)
    after = printed(library, *roots)
    path.write_text(source)
    return before != after


IMPORTS = {
    "import": "import featlearn.core.used",
    "one of several": "import os, featlearn.core.used",
    "from package": "from featlearn.core import used",
    "from module": "from featlearn.core.used import value",
    "star": "from featlearn.core.used import *",
    "inside a function": "def f():\n    from featlearn.core.used import value\n",
    "inside a block": "with open('x'):\n    from featlearn.core import used\n",
    "inside try": "try:\n    from featlearn.core import used\nexcept ImportError:\n    pass\n",
    "inside else of type checking": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from featlearn.core import other
        else:
            from featlearn.core import used
    """,
    "through a module": "from featlearn.paper.train import train",
    "through a relative import": "from featlearn.paper.sibling import train",
    "through a relative import of a module": "from featlearn.paper.sibling_module import train",
    "through a relative import upward": "from featlearn.paper.upward import value",
    "through a relative import of a module upward": "import featlearn.paper.upward_module",
    "through a package that is only passed": "import featlearn.paper.deep.leaf",
    "through a circle": "from featlearn.paper import circle_a",
}


NO_IMPORTS = {
    "nothing": "x = 1",
    "a comment": "# from featlearn.core import used",
    "text": "text = 'import featlearn.core.used'",
    "only for the type checker, with the module's name": """
        import typing
        if typing.TYPE_CHECKING:
            from featlearn.core import used
    """,
    "another package of the same beginning": "import featlearn_extra.core.used",
    "a package of another library": "from other.featlearn.core import used",
}


def modules_of(script, root=provenance.SOURCE_ROOT):
    return provenance._below(provenance._imported(script, None, root), root)


@pytest.mark.parametrize("how", IMPORTS | NO_IMPORTS)
def test_an_edit_of_a_module_moves_the_fingerprint_of_what_imports_it(library, how):
    script = script_with(library, (IMPORTS | NO_IMPORTS)[how])
    assert ("featlearn.core.used" in modules_of(script, library)) == (how in IMPORTS)
    assert is_touched(library, "core/used.py") == (how in IMPORTS)
    if how in IMPORTS:
        assert is_touched(library, "core/__init__.py")
        assert is_touched(library, "__init__.py")
    assert not is_touched(library, "core/other.py")


def test_an_edit_brings_modules_in_and_names_count_but_no_places(library, tmp_path):
    script_with(library, "import featlearn.core.far")
    assert not is_touched(library, "core/other.py")
    with open(library / "featlearn/core/used.py", "a") as file:
        file.write("from featlearn.core import other\n")
    assert is_touched(library, "core/other.py")
    script_with(library, "from featlearn.core import *\nimport featlearn.core.used")
    before = printed(library)
    shutil.copytree(library, tmp_path / "elsewhere")
    assert printed(tmp_path / "elsewhere") == before
    (library / "featlearn/core/used.py").rename(library / "featlearn/core/renamed.py")
    assert printed(library) != before


JOBS = textwrap.dedent(
    '''
    """What rules call."""
    from __future__ import annotations

    from typing import TYPE_CHECKING

    import math
    from featlearn.core.used import value
    from featlearn.core.other import value as unused

    if TYPE_CHECKING:
        from featlearn.core.run.job import Job

    __version__ = "1.0.0"
    RATE = 1
    TABLE = {}

    def helper(x):
        return x + RATE

    def sample(job: Job):
        """Draw."""
        return helper(value)

    def draw(job: Job):
        return unused

    def lonely(job: Job):
        return math.pi
    '''
)
NAMES = ("sample", "draw", "lonely")
NOTHING_COMPUTED = {
    "a comment": ("return x + RATE", "return x + RATE  # and on"),
    "empty lines": ("RATE = 1", "RATE = 1\n\n\n"),
    "a release": ("1.0.0", "1.1.0"),
    "a docstring": ("Draw.", "Draw samples."),
    "the docstring of the module": ("What rules call.", "What the rules call."),
    "a new docstring": ("    return unused", "    'New.'\n    return unused"),
    "an import for types": ("job import Job", "job import Job, Paths"),
    "the layout": ("return helper(value)", "return helper(\n        value\n    )"),
}


def edited(library: Path, old: str, new: str) -> set[str]:
    """The functions whose fingerprints an edit of the module moves, and ``module`` if its own."""
    assert JOBS.count(old) == 1
    roots = {name: f"{ENTRY}:{name}" for name in NAMES} | {"module": ENTRY}
    script_with(library, JOBS)
    before = {name: printed(library, root) for name, root in roots.items()}
    script_with(library, JOBS.replace(old, new))
    return {name for name, root in roots.items() if printed(library, root) != before[name]}


def test_a_fingerprint_is_that_of_every_version_of_python():
    # what 3.11 writes; 3.12 adds type parameters, 3.13 leaves empty lists out
    arguments = "posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]"
    expected = (f"FunctionDef(name='f', args=arguments({arguments}), body=[Pass()], "
                "decorator_list=[])")  # fmt: skip
    assert provenance._dumped(ast.parse("def f(): pass").body[0]) == expected


@pytest.mark.parametrize(("old", "new"), NOTHING_COMPUTED.values(), ids=NOTHING_COMPUTED)
def test_an_edit_that_computes_nothing_leaves_every_fingerprint(library, old, new):
    assert edited(library, old, new) == set()


@pytest.mark.parametrize(("old", "new", "moved"), [
    ("return helper(value)", "return helper(value) + 1", {"sample"}),
    ("return x + RATE", "return x - RATE", {"sample"}),  # what it calls
    ("RATE = 1", "RATE = 2", {"sample"}),  # what that reads
    ("return math.pi", "return math.e", {"lonely"}),
    ("def sample(job: Job)", "def sample(job: Job, more=2)", {"sample"}),
    ("TABLE = {}", "TABLE = {1: 2}", set()),  # nobody's
    # a statement of the module may change what any function reads
    ("TABLE = {}", "TABLE = {}\nTABLE.update(x=1)", set(NAMES)),
    ("TABLE = {}", "for RATE in (1, 2): pass", set(NAMES)),
    ("TABLE = {}", "if math.pi > 3:\n    RATE = 2", set(NAMES)),
])  # fmt: skip
def test_an_edit_moves_the_functions_that_use_what_was_edited(library, old, new, moved):
    assert edited(library, old, new) == {*moved, "module"}


def test_a_function_depends_on_what_it_uses_and_on_the_number_of_the_frame(library, monkeypatch):
    script_with(library, JOBS)
    assert is_touched(library, "core/used.py", f"{ENTRY}:sample")
    assert not is_touched(library, "core/used.py", f"{ENTRY}:lonely")
    assert not is_touched(library, "core/other.py", f"{ENTRY}:sample")
    for words in ("# a word\n", "'a word'\n"):
        assert not is_touched(library, "core/used.py", f"{ENTRY}:sample", edit=words)
    (library / "featlearn/core/run").mkdir()
    (library / "featlearn/core/run/__init__.py").touch()
    (library / "featlearn/core/run/job.py").write_text("Job = 1\n")
    script_with(
        library, "from featlearn.core.run.job import Job\ndef sample(job):\n    return Job\n"
    )
    before = printed(library, f"{ENTRY}:sample")
    assert not is_touched(library, "core/run/job.py", f"{ENTRY}:sample")
    monkeypatch.setattr(provenance, "FRAME_VERSION", provenance.FRAME_VERSION + 1)
    assert printed(library, f"{ENTRY}:sample") != before
    assert [name for name in provenance.FRAME if provenance.module_file(name) is None] == []


@pytest.mark.parametrize(("root", "told"), [
    ("featlearn.nowhere", "featlearn.nowhere: there is no such module"),
    ("featlearn.nowhere:sample", "featlearn.nowhere: there is no such module"),
    ("featlearn.core.used:valeu", "used.py: no 'valeu' is defined there"),
])  # fmt: skip
def test_what_is_not_there_is_told_by_name(library, root, told):
    with pytest.raises(FeatlearnError, match=told):
        printed(library, root)


def test_what_a_plan_remembers_gives_the_same_fingerprints(library, tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "_file", None)
    kept = tmp_path / "notes.json"
    script_with(library, JOBS)
    notes.open_notes(kept)
    before = printed(library, f"{ENTRY}:sample")
    notes.keep_notes()
    notes.open_notes(kept)
    assert notes._known
    assert printed(library, f"{ENTRY}:sample") == before
    assert is_touched(library, "core/used.py", f"{ENTRY}:sample")
    for broken in ("", "[]", "[1]", '{"a": 1}', '{"a": []}', "\0"):
        kept.write_text(broken)
        notes.open_notes(kept)
        assert printed(library, f"{ENTRY}:sample") == before


LOADED = """
import json, sys
print(json.dumps([name for name in sys.modules if name.partition(".")[0] == "featlearn"]))
"""


@pytest.mark.parametrize(
    "source",
    [
        "from featlearn.core.evidence.catalogue import status_of\n"
        "from featlearn.core.evidence.claims import needs\n",
        "import featlearn.mrp.train\nfrom featlearn.mrp import data\n"
        "from featlearn.core.evidence.stats import estimate\n",
    ],
)
def test_the_fingerprint_covers_all_that_python_really_imports(tmp_path, source):
    script = tmp_path / "script.py"
    script.write_text(source)
    done = subprocess.run(
        [sys.executable, "-c", source + LOADED], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(provenance.SOURCE_ROOT)},
    )  # fmt: skip
    imported = json.loads(done.stdout)
    assert len(imported) >= 3
    # the frame enters by its number, and so does what only the frame uses
    frame = provenance.FRAME | {"featlearn.core.files", "featlearn.core.run.given"}
    assert set(imported) - frame <= set(modules_of(script))


def artefact_with_record(results: Path, name: str = "mrp/history.parquet") -> Path:
    path = results / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"0123456789" * 10)
    status = path.stat()
    content = {"bytes": 100, "mtime_ns": status.st_mtime_ns, "sha256": digest(path)}
    provenance.write_record(results, path, content)
    return path


def test_a_record_lies_under_provenance_and_comes_back(tmp_path):
    path = tmp_path / "mrp" / "history.parquet"
    content = {"rule": "mrp_train", "config": {"q": 4, "range": [1.0, 1.5]}, "seed": 0}
    provenance.write_record(tmp_path, path, content)
    assert (
        provenance.record_path(tmp_path, path)
        == tmp_path / "provenance" / "mrp" / "history.parquet.json"
    )
    assert provenance.read_record(tmp_path, path) == content
    first = provenance.record_path(tmp_path, path).read_bytes()
    provenance.write_record(tmp_path, path, dict(reversed(content.items())))
    assert provenance.record_path(tmp_path, path).read_bytes() == first


@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b"\xff\xfe"])
def test_a_record_that_cannot_be_read_is_none(tmp_path, content):
    path = tmp_path / "a"
    if content is not None:
        provenance.record_path(tmp_path, path).parent.mkdir()
        provenance.record_path(tmp_path, path).write_bytes(content)
    assert provenance.read_record(tmp_path, path) is None
    assert list(provenance.records(tmp_path)) == ([] if content is None else [(path, None)])
    assert provenance.damaged_artefacts(tmp_path) == {}  # there is no such artefact
    path.write_bytes(b"anything")
    damaged = {} if content is None else {path: "its record cannot be read"}
    assert provenance.damaged_artefacts(tmp_path) == damaged


CUT, SHA = "40 bytes, 100 were written", "its SHA-256 is "


@pytest.mark.parametrize(("content", "moved", "quick", "thorough"), [
    (b"0123456789" * 10, 0, None, None),
    (b"0123456789" * 10, 1, None, None),  # only touched
    (b"0123456789" * 4, 0, CUT, CUT),
    (b"X123456789" * 10, 1, SHA, SHA),
    (b"X123456789" * 10, 0, None, SHA),  # under the old time: one stat cannot see it
    (b"0123456789" * 9 + b"012345678X", 0, None, SHA),
])  # fmt: skip
def test_damage_is_found_by_size_by_time_or_by_a_thorough_look(
    tmp_path, content, moved, quick, thorough
):
    path = artefact_with_record(tmp_path)
    written = path.stat().st_mtime_ns
    path.write_bytes(content)
    os.utime(path, ns=(written, written + moved))
    record = provenance.read_record(tmp_path, path)
    for is_thorough, expected in ((False, quick), (True, thorough)):
        fault = provenance.damage(path, record, thorough=is_thorough)
        assert fault is None if expected is None else fault.startswith(expected)
        found = provenance.damaged_artefacts(tmp_path, thorough=is_thorough)
        assert list(found) == ([path] if expected else [])


def test_setting_aside_moves_the_bytes_and_loses_none(tmp_path):
    for content in (b"first", b"second"):
        path = artefact_with_record(tmp_path)
        path.write_bytes(content)
        assert provenance.set_aside(tmp_path, path).read_bytes() == content
        assert not path.exists()
        assert provenance.read_record(tmp_path, path) is None
        assert provenance.damaged_artefacts(tmp_path) == {}
    kept = (tmp_path / provenance.DAMAGED).rglob("*")
    assert {file.read_bytes() for file in kept if file.is_file()} == {b"first", b"second"}


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """A results folder with a link to an artefact that another run made and shared."""
    folder, results = tmp_path / "shared", tmp_path / "results"
    monkeypatch.setenv(provenance.SHARED, str(folder))
    (results / "mrp").mkdir(parents=True)
    folder.mkdir()
    (folder / "key.parquet").write_bytes(b"whole")
    content = {"bytes": 5, "sha256": digest(folder / "key.parquet"), "artefact": "other/name"}
    provenance.share_record(content)
    (results / "mrp/a.parquet").symlink_to(folder / "key.parquet")
    return results, folder


def test_a_shared_artefact_gets_the_record_of_the_run_that_made_it(shared, monkeypatch):
    results, _ = shared
    monkeypatch.delenv(provenance.SHARED)  # a later start without sharing
    assert provenance.damaged_artefacts(results) == {}
    found = provenance.read_record(results, results / "mrp/a.parquet")
    assert found["artefact"] == "mrp/a.parquet"
    assert found["bytes"] == 5


def test_a_link_of_somebody_elses_is_left_alone(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/link").symlink_to(tmp_path / "file")
    assert provenance.damaged_artefacts(tmp_path / "results") == {}
