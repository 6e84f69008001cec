"""The frame of the workflow around the paper of ``template/`` alone: a run takes seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

from .checkout import REPOSITORY, Checkout

#: What the frame consists of, as patterns below the repository.
FRAME = (
    "Snakefile", "environment.yml", "profiles/**/*", "scripts/*.py",
    *(f"workflow/rules/{name}.smk" for name in ("begin", "common", "base", "exhibits", "results")),
    *(f"workflow/rules/{name}.smk" for name in ("points", "sweep", "neighbours")),
    "workflow/point.smk",
    *(f"workflow/schemas/{name}.schema.yaml" for name in ("config", "shared", "sweep")),
    "workflow/schemas/neighbours.schema.yaml",
    "config/config.yaml", "config/catalogue.yaml", "config/findings.yaml",
    "src/featlearn/__init__.py", "src/featlearn/command/*.py", "src/featlearn/core/**/*",
)  # fmt: skip
#: The scales, which say nothing of a paper whose sizes stand in its schema.
SCALES = ("smoke", "tour", "desk")
RULES = "workflow/rules/toy.smk"
PACKAGE = "src/featlearn/toy"
ANALYSIS = f"{PACKAGE}/analysis.py"
MEASURED = "toy/measurements/averaging.parquet"


class Toy(Checkout):
    @classmethod
    def of_template(cls, root: Path) -> Toy:
        for pattern in FRAME:
            for source in sorted(REPOSITORY.glob(pattern)):
                name = source.relative_to(REPOSITORY)
                if source.is_file() and "__pycache__" not in name.parts:
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(source, root / name)
        for scale in SCALES:
            file = root / f"config/scale/{scale}.yaml"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"scale: {scale}\n", encoding="utf-8")
        shutil.copytree(REPOSITORY / "template", root, dirs_exist_ok=True)
        return cls(root)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name}: {text.count(old)} times {old!r}"
        (self / name).write_text(text.replace(old, new), encoding="utf-8")
