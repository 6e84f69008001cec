"""Notebooks of the examples with what they print: examples/*.py that need no argument to *.ipynb.

``python scripts/notebooks.py [NAME ...]``: all of them, or those of these papers.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def parts(script: Path) -> tuple[str, str]:
    """The docstring of a script and its code."""
    source = script.read_text(encoding="utf-8")
    tree = ast.parse(source)
    said = ast.get_docstring(tree)
    first = tree.body[0].end_lineno
    return said or "", "".join(source.splitlines(keepends=True)[first:]).strip()


def notebook(script: Path, printed: str) -> str:
    """A notebook of two cells, as JSON: the docstring, and the code with its output."""
    said, code = parts(script)
    title, _, rest = said.partition("\n")
    output = {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
    cells = [
        {"cell_type": "markdown", "id": "said", "metadata": {},
         "source": [f"# {title}\n", *rest.splitlines(keepends=True)]},
        {"cell_type": "code", "execution_count": 1, "id": "code", "metadata": {},
         "outputs": [output], "source": code.splitlines(keepends=True)},
    ]  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def main(names: list[str]) -> None:
    scripts = [one for one in sorted(EXAMPLES.glob("*.py")) if "sys.argv" not in one.read_text()]
    for script in scripts:
        if not names or script.stem in names:
            done = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE,
                                  encoding="utf-8")  # fmt: skip
            made = notebook(script, done.stdout)
            script.with_suffix(".ipynb").write_text(made, encoding="utf-8")
            print(script.stem, done.stdout.strip().splitlines()[-1], sep=": ")


if __name__ == "__main__":
    main(sys.argv[1:])
