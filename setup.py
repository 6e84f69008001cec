"""Puts the workflow into the package: what stands in the folders of the repository stays there."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
#: What a run needs beside the library, copied to ``featlearn/_workflow``.
WORKFLOW = ("Snakefile", "environment.yml", "config", "profiles", "scripts", "workflow")


class BuildWithWorkflow(build_py):
    """As setuptools builds; an editable install runs the folders themselves."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "featlearn" / "_workflow"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in WORKFLOW:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target / name, ignore=ignored)
            else:
                shutil.copy2(source, target / name)


setup(cmdclass={"build_py": BuildWithWorkflow})
