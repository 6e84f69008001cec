"""What MkDocs reads: Markdown, all files it links to, formulas, and pages of the library."""

from __future__ import annotations

import ast
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.publishing.maths import mathml, plain

#: Targets of links and pictures, in Markdown and in HTML.
LINK = re.compile(r"""(?:\]\(|(?:href|src)=")([^)#"\s]+)""")
#: A link to a folder, whose words stay.
FOLDER = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)\)")
#: A link of the repository to a page.
MARKDOWN = re.compile(r'(href="(?:[^":]*/)?)([^":/]+)\.md(?=["#])')
#: A link to a notebook, which is a page here.
NOTEBOOK = re.compile(r"\]\(([^)\s]+)\.ipynb\)")
#: Where the claims of a published run have their raw numbers.
RAW = re.compile(r"(?<=raw numbers in )`([^`]+)` of the run")
#: A claim by its id, outside of a link.
CLAIM = re.compile(r"(?<!\[)`(\w+/[\w.-]+)`")
FORMULA = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
#: The page whose pictures of sweeps become charts.
EXPLORER = "docs/explorer.md"

#: A part of the navigation, which the theme names with a label without words, and its title.
PART = re.compile(
    r'aria-labelledby="(__nav_\w+)_label"(?=.{,90}?<label class="md-nav__title" for="\1">'
    r"(?:\s|<[^>]*>)*([^<]*?)\s*<)",
    re.DOTALL,
)


def targets(page: Path) -> set[Path]:
    """Files of the repository that a page links to."""
    links = (unquote(link) for link in LINK.findall(page.read_text(encoding="utf-8")))
    found = {(page.parent / link).resolve() for link in links if ":" not in link}
    return {file for file in found if file.is_file() and file.is_relative_to(ROOT)}


@functools.cache
def claims_pages() -> dict[str, Path]:
    """Pages of published claims by their anchors; of two runs that of ``desk``."""
    pages = ROOT.glob("results/published/*/*/claims.md")
    return {
        anchor: page
        for page in sorted(pages, key=lambda page: "desk" in page.parts)
        for anchor in re.findall(r'<a id="(claim-.*?)">', page.read_text(encoding="utf-8"))
    }


def api_page(package: str, modules: str) -> str:
    """Markdown that mkdocstrings fills with the public names of modules of a package."""
    source = (ROOT / "src/featlearn" / package / "__init__.py").read_text(encoding="utf-8")
    said = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].rstrip(".")
    lines = [f"# featlearn.{package}", f"{said}.", ""]
    for name in modules.split():
        lines += [f"::: featlearn.{package}.{name}", "    options: {heading_level: 2}", ""]
    return "\n\n".join(lines)


def notebook_page(file: Path) -> str:
    """Markdown of a notebook: its text, its code, and what that printed."""
    said, code = json.loads(file.read_text(encoding="utf-8"))["cells"]
    printed = "".join(code["outputs"][0]["text"]).strip()
    script = "".join(code["source"]).strip()
    return "\n\n".join([
        "".join(said["source"]), f"```python\n{script}\n```", f"```text\n{printed}\n```",
    ])  # fmt: skip


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pages of the library and, where there is one, the report of the run are in the navigation."""
    reference = next(one["Reference"] for one in config.nav if "Reference" in one)
    reference.append({"Library": [f"docs/api/{name}.md" for name in config.extra["api"]]})
    if (ROOT / (report := f"results/{config.extra.get('run')}/report/index.html")).is_file():
        config.nav.append({"Report": report})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """README and docs, all that they link to, the library, and the report of ``extra.run``."""
    theme = [one for one in files if one.src_dir != config.docs_dir]
    run = ROOT / "results" / str(config.extra.get("run"))
    todo = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs/assets").glob("*")]
    todo += (ROOT / "docs").rglob("*.md")
    todo += run.glob("report/*.html")
    found: set[Path] = set()
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo += targets(file) if file.suffix == ".md" else ()
    made = [
        File.generated(config, str(file.relative_to(ROOT)), abs_src_path=str(file))
        for file in sorted(found)
    ]
    made += [
        File.generated(config, f"docs/api/{package}.md", content=api_page(package, modules))
        for package, modules in config.extra["api"].items()
    ]
    made += [
        File.generated(config, f"examples/{one.stem}.md", content=notebook_page(one))
        for one in sorted((ROOT / "examples").glob("*.ipynb"))
    ]
    return Files([*theme, *made])


def on_post_build(config: MkDocsConfig) -> None:
    """Files of the run that its report shows or links to; a table in Markdown stays a file."""
    for page in (ROOT / "results" / str(config.extra.get("run")) / "report").glob("*.html"):
        for file in targets(page):
            place = Path(config.site_dir) / file.relative_to(ROOT)
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """GitHub reads Markdown inside ``<details>``; a link to a folder leads nowhere here.

    Ids of claims are links. Raw numbers of published claims are, too: to the file where the report
    of their run goes along, else to how they are made.
    """

    def claim(name: re.Match[str]) -> str:
        anchor = f"claim-{name[1].replace('/', '-')}"
        to = claims_pages().get(anchor)
        return f"[{name[0]}]({os.path.relpath(to, place)}#{anchor})" if to else name[0]

    if page.file.name == "claims":
        page.meta["search"] = {"boost": 4}  # a search lists claims first
    random.seed(page.url)  # mkdocstrings draws names of links that stand in for themselves
    place = (ROOT / page.file.src_uri).parent
    run = f"results/{config.extra.get('run')}"
    if place.parent == ROOT / run.replace("/", "/published/") and (ROOT / run).is_dir():
        markdown = RAW.sub(rf'<a href="../../../../{run}/\1"><code>\1</code></a>', markdown)
    markdown = RAW.sub(r"[`\1`](../../../../docs/check-a-number.md#any-other-number)", markdown)
    if "published" not in place.parts:
        markdown = CLAIM.sub(claim, markdown)
    markdown = NOTEBOOK.sub(r"](\1.md)", markdown)
    text = FOLDER.sub(lambda link: link[1] if (place / link[2]).is_dir() else link[0], markdown)
    return text.replace("<details>", "<details markdown>")


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Formulas as MathML, which needs no script, and as signs in the table of contents; charts.

    Links that are HTML in Markdown lead to pages, too.
    """

    def say(entries: list[AnchorLink]) -> None:
        for entry in entries:
            entry.title = plain(re.sub(r"\\\((.*?)\\\)", r"$\1$", unescape(entry.title)))
            say(entry.children)

    say(page.toc.items)
    html = MARKDOWN.sub(lambda link: link[1] + (link[2].replace("README", "index")) + ".html", html)
    html = FORMULA.sub(lambda formula: mathml(unescape(formula[1])), html)
    if page.file.src_uri == EXPLORER:  # made where pandas is installed
        command = [ROOT / ".venv/bin/python", ROOT / "scripts/explorer.py"]
        html += subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    return html


def on_post_page(output: str, **_: object) -> str:
    """What the theme leaves out: names of the search and of parts of the navigation, and boxes
    that the keyboard scrolls.
    """
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    output = re.sub("<(pre|table)>", r'<\1 tabindex="0">', output)
    return PART.sub(r'aria-label="\2"', output)
