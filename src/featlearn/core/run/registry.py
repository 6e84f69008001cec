"""What the papers of a run publish, as the rules files say. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from featlearn.core.errors import FeatlearnError
from featlearn.core.run import exhibits
from featlearn.core.run.exhibits import CONFIG, Exhibit, refuse_unknown

#: What a file may hold; :mod:`featlearn.core.evidence.catalogue` says what follows from it.
CONTENTS = ("measured", "drawn", "stand-in", "digits", "needs-data", "quoted")
#: Files of an exhibit, by its kind.
ENDS = {"figure": ("svg", "png"), "table": ("parquet", "md")}


@dataclass(frozen=True)
class Batch:
    """Exhibits that one job shows, and the frames that it reads."""

    label: str
    exhibits: Sequence[Exhibit]
    contains: Sequence[str]
    frames: Mapping[str, Any]
    wants_config: bool


@dataclass(frozen=True)
class Experiment:
    """What ``<paper>/analysis/<name>.py`` makes of the frames of some rules.

    ``name``: of its ledger, and of the module, with underscores for dashes. ``frames``: name to
    file, or to a list of files read as one frame. ``section``, ``judged``: what exhibits and claims
    get as config. ``claims``: the module that declares some, if any. ``judges``: what of it does.
    """

    paper: str
    name: str
    frames: Mapping[str, Any]
    section: Any
    judged: Any
    batches: Sequence[Batch]
    claims: str | None
    judges: Sequence[str]

    @property
    def modules(self) -> set[str | None]:
        """Where its exhibits and its claims are declared."""
        return {one.module for batch in self.batches for one in batch.exhibits} | {self.claims}

    @property
    def judging(self) -> str:
        """Name of the rule that judges its claims."""
        return f"{self.paper}_judge_{self.name.replace('-', '_')}"


@dataclass
class Published:
    """What the rules files have published so far, below ``results/<run>``."""

    results: str
    experiments: list[Experiment] = field(default_factory=list)
    exhibits: dict[tuple[str, str, str], Exhibit] = field(default_factory=dict)
    stories: dict[str, str] = field(default_factory=dict)
    #: Target (a paper, or a part of it) to its files.
    targets: dict[str, list[str]] = field(default_factory=dict)
    ledgers: list[str] = field(default_factory=list)
    closed: bool = False
    _titles: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def paper(self, name: str) -> None:
        """Give a paper its place in the report, with the story that its package tells."""
        self.stories[name] = exhibits.story(name)
        self.targets[name] = []

    def experiment(
        self,
        paper: str,
        name: str,
        section: Any = None,
        *,
        judged: Any,
        targets: Sequence[str] = (),
        also: Iterable[str] = (),
        apart: Sequence[str] = (),
        without: Sequence[str] = (),
        contains: str | Mapping[str, str] = "measured",
        **frames: Any,
    ) -> None:
        """Publish an experiment.

        ``section``, ``judged``, ``**frames``: see :class:`Experiment`. ``targets``: parts of the
        paper that a user can ask for. ``also``: files of rules with wildcards that are not shown.
        ``apart``: exhibits with a job each, as they need less. ``without``: exhibits that this
        config does not have. ``contains``: a word for all, or for each name (``measured`` for the
        rest). Raises FeatlearnError naming what is wrong.
        """
        where, module = f"experiment {paper}/{name}", name.replace("-", "_")
        if paper not in self.stories:
            raise FeatlearnError(f"{where}: {paper} is none of {', '.join(self.stories)}")
        if any(one.paper == paper and one.name == name for one in self.experiments):
            raise FeatlearnError(f"{where}: published twice")
        declared = exhibits.exhibits(paper, module)
        known = [one.name for one in declared]
        for word in (*apart, *without, *(contains if isinstance(contains, Mapping) else ())):
            if word not in known:
                raise FeatlearnError(f"{where}: no exhibit {word!r}; it has {', '.join(known)}")
        shown = [one for one in declared if one.name not in without]
        judges = exhibits.claims_of(paper, module)
        claims = judges[0].partition(":")[0] if judges else None
        if not shown and not claims:
            raise FeatlearnError(f"{where}: no figure, table or claim; expected some in featlearn")
        given = {
            key: str(value) if isinstance(value, str) else [str(file) for file in value]
            for key, value in frames.items()
        }
        if empty := [key for key, files in given.items() if not files]:
            raise FeatlearnError(f"{where}: frame {empty[0]!r} is a list of no files")
        for other in self.experiments:
            if ({one.module for one in declared} | {claims}) & {*other.modules} - {None}:
                raise FeatlearnError(
                    f"{where}: shares files with {other.name}; with several experiments a paper "
                    f"has analysis/{module}.py"
                )
        for one in shown:
            if lost := [key for key in one.frames if key not in (*given, CONFIG)]:
                raise FeatlearnError(f"{one.code}: {where} gives no frame {lost[0]!r}")
        jobs = [[one] for one in shown if one.name in apart]
        if rest := [one for one in shown if one.name not in apart]:
            jobs.insert(0, rest)
        kinds = dict.fromkeys(known, contains) if isinstance(contains, str) else contains
        batches = []
        for job in jobs:
            wanted = {key for one in job for key in one.frames}
            each = [one.contains or kinds.get(one.name) or "measured" for one in job]
            batches.append(Batch(
                f"{name}-{job[0].name}" if job[0].name in apart else name,
                job,
                [kind for kind in each for _ in ENDS["figure"]],
                {key: files for key, files in given.items() if key in wanted},
                CONFIG in wanted,
            ))  # fmt: skip
        self.experiments.append(
            Experiment(paper, name, given, section, judged, batches, claims, judges)
        )
        # a frame of the repository (numbers that a paper prints) is no file of the run
        read = (file for value in given.values() for file in as_list(value))
        files = [*also, *(file for file in read if file.startswith(f"{self.results}/"))]
        for one in shown:
            files += self.show(one)
            twin = self._titles.setdefault((paper, one.kind, one.title), one.name)
            if twin != one.name:
                raise FeatlearnError(
                    f"{one.code}: {twin} and {one.name} have one title; tell them apart with a "
                    "word of the mark in it, or with {{ name }}"
                )
        if claims:
            files.append(self.ledger(paper, name))
            self.ledgers.append(files[-1])
        self.add(paper, targets, files, where)

    def by_hand(
        self,
        paper: str,
        kind: str,
        name: str,
        code: str,
        *,
        targets: Sequence[str] = (),
        also: Iterable[str] = (),
    ) -> None:
        """Publish an exhibit with a rule of its own: ``code``, ``module:function``, captions it."""
        one = exhibits.exhibit(paper, kind, name, f"featlearn.{code}")
        self.add(paper, targets, [*self.show(one), *also], f"{kind} {paper}/{name}")

    def show(self, one: Exhibit) -> list[str]:
        """Take an exhibit in; its two files."""
        key = one.paper, one.kind, one.name
        if key in self.exhibits:
            told = f"declared by {one.code} and by {self.exhibits[key].code}; expected one"
            raise FeatlearnError(f"{one.kind} {one.paper}/{one.name}: {told}")
        self.exhibits[key] = one
        return self.files(*key)

    def add(self, paper: str, targets: Sequence[str], files: Iterable[str], where: str) -> None:
        """Files that belong to a paper, and to parts of it."""
        if self.closed:
            raise FeatlearnError(f"{where}: comes after the results; include its rules before them")
        names = [str(file) for file in files]
        for target in (paper, *targets):
            self.targets.setdefault(target, []).extend(names)

    def take(self, rules: Iterable[Any]) -> None:
        """Give what rules make under names without wildcards to the paper of its folder."""
        for rule in rules:
            for file in () if rule.has_wildcards() else map(str, rule.output):
                paper = file.removeprefix(f"{self.results}/").partition("/")[0]
                if paper in self.targets:
                    self.add(paper, [], [file], f"rule {rule.name}")

    def close(self) -> None:
        """End publishing; refuses a paper without exhibits, and a text with an unknown claim."""
        if silent := [paper for paper in self.stories if not self.targets[paper]]:
            raise FeatlearnError(
                f"{silent[0]}: its rules publish nothing; expected experiment(...)"
            )
        texts = [(f"story of {paper}", paper, text) for paper, text in self.stories.items()]
        texts += [(f"{kind} {paper}/{name}", paper, text) for kind, paper, name, text in self.pages]
        tables = {f"{paper}/{name}" for kind, paper, name, _ in self.pages if kind == "table"}
        refuse_unknown(texts, tables)
        self.closed = True

    def nothing(self, target: str, _: object = None) -> list[str]:
        """Input of a target that makes nothing by this config: refused when it is asked for."""
        raise FeatlearnError(f"{target}: expected entries under this key of the config")

    def claims_of(self, rules: Container[str]) -> list[dict[str, Any]]:
        """The experiments that these rules judge, as ``evidence.claims.check`` takes them."""
        return [
            {
                "paper": one.paper,
                "module": one.claims,
                "config": one.judged,
                "files": [
                    file.removeprefix(f"{self.results}/")
                    for value in one.frames.values()
                    for file in as_list(value)
                ],
            }
            for one in self.experiments
            if one.claims and one.judging in rules
        ]

    def files(self, paper: str, kind: str, name: str) -> list[str]:
        """The two files of an exhibit."""
        return [f"{self.results}/{paper}/{kind}s/{name}.{end}" for end in ENDS[kind]]

    def ledger(self, paper: str, name: str) -> str:
        """The claims of one experiment, judged."""
        return f"{self.results}/{paper}/claims/{name}.parquet"

    @property
    def artefacts(self) -> list[str]:
        """Every file of every paper, once."""
        return list(dict.fromkeys(file for paper in self.stories for file in self.targets[paper]))

    def first_files(self, *kinds: str) -> list[str]:
        """The SVG of each figure, the Parquet of each table."""
        return [self.files(*key)[0] for key in self.exhibits if key[1] in kinds]

    def files_of(self, paper: str) -> list[str]:
        """Both files of every exhibit that a paper has so far."""
        return [file for key in self.exhibits if key[0] == paper for file in self.files(*key)]

    def captions_of(self, paper: str) -> dict[str, str]:
        """Caption (Markdown) of every exhibit that a paper has so far, by ``<kind>/<name>``."""
        return {
            f"{one.kind}/{one.name}": one.page
            for one in self.exhibits.values()
            if one.paper == paper
        }

    @property
    def pages(self) -> list[tuple[str, str, str, str]]:
        """Kind, paper, name and caption (Markdown) of each exhibit: figures, then tables."""
        return [
            (kind, one.paper, one.name, one.page)
            for kind in exhibits.KINDS
            for one in self.exhibits.values()
            if one.kind == kind
        ]


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def rule_faults(rules: Iterable[Any], fingerprint: Any) -> Iterator[str]:
    """What is wrong with the rules of a plan, a line each: their ``code`` and ``contains``."""
    for rule in rules:
        if not rule.script:
            continue
        params = dict(rule.params.items())
        computes = str(rule.script).endswith("/measure.py")
        if "code" not in params:
            yield f"rule {rule.name}: no `code` among its params; expected **by(...)"
        elif not rule.output:
            continue  # to inherit from
        elif computes and "function" not in params:
            yield f"rule {rule.name}: names no function to call; expected **by(...)"
        elif unknown := sorted({*as_list(params.get("contains", []))} - {*CONTENTS}):
            yield (
                f"rule {rule.name}: contains {unknown[0]!r}; expected one of {', '.join(CONTENTS)}"
            )
        elif computes and params["code"] != fingerprint(params["function"]):
            yield f"rule {rule.name}: its `code` is not that of {params['function']}"
