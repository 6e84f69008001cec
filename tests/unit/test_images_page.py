"""The page about images: its code runs, its links lead somewhere, its files are made."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "images.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs_from_top_to_bottom(capsys):
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/images.md", "exec"), names)
    assert names["masks"].shape == (200, 8, 32, 32)
    changed = (names["without"] != names["pictures"].images).flatten(1).any(1)
    assert changed.float().mean() > 0.9
    assert capsys.readouterr().out.startswith("torch.Size([200, 3, 32, 32])\n")
