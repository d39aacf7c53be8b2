"""What mkdocs is told beyond Markdown: pages that stand outside of `docs/`, and the rules' reports.

The README files of `examples/` and `benchmarks/`, CONTRIBUTING.md and CHANGELOG.md become pages of
the site, and so does every program that a page links to. A link is written as it works in the
repository, and is led to the page here.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

from gradtape.doctor.report.lessons import FAMILIES
from gradtape.doctor.rules import CATALOGUE

ROOT = Path(__file__).parents[2]
OUTSIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
SHOWN = {".py": "python", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml"}  # files of examples/
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^(`{3,}).*?^\1`*$", re.S | re.M)
REPORTS = "rules/reports"
WORKER, SHIM = "assets/worker.js", "https://unpkg.com/iframe-worker/shim"


def on_config(config: Any) -> Any:
    """Put the causes into the navigation, by family."""
    causes = next(entry["Causes"] for entry in config.nav if "Causes" in entry)
    rules = sorted(CATALOGUE, key=lambda rule: rule.code)
    for family, members in groupby(rules, key=lambda rule: rule.code[2]):
        pages = [{f"{rule.code} {rule.name}": f"rules/{rule.name}.md"} for rule in members]
        causes.append({FAMILIES[family]: pages})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what stands outside of docs/, and the page of every rule's failing program."""
    for name in OUTSIDE:
        _add(files, config, name, (ROOT / name).read_text(encoding="utf-8"))
    folders = [ROOT / "examples", *sorted(p for p in (ROOT / "examples").rglob("*") if p.is_dir())]
    for folder in folders:
        place = folder.relative_to(ROOT).as_posix()
        found = sorted(file for file in folder.iterdir() if file.suffix in SHOWN)
        for file in found:
            _add(files, config, f"{place}/{file.stem}.md", _program(file))
        readme = folder / "README.md"
        if readme.exists():
            _add(files, config, f"{place}/README.md", readme.read_text(encoding="utf-8"))
        elif found:
            _add(files, config, f"{place}/README.md", _listing(place, found))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.documents.gallery", folder]
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths})
        for file in sorted(Path(folder).iterdir()):
            text = file.read_text(encoding="utf-8")
            if file.suffix == ".html":
                files.append(File.generated(config, f"{REPORTS}/{file.name}", content=text))
            else:
                _said[file.stem] = text
    return files


def _add(files: Files, config: Any, name: str, text: str) -> None:
    page = File.generated(config, name, content=text)
    page.inclusion = InclusionLevel.NOT_IN_NAV  # it may be there, and need not
    files.append(page)


_said: dict[str, str] = {}  # by the name of the rule: its report as text


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead the links to the pages of the site, and show what the doctor says on a rule's page."""
    here = page.file.src_uri
    folder, _, name = here.rpartition("/")
    if folder == "rules" and (text := _said.get(name.removesuffix(".md"))) is not None:
        markdown = _with_report(markdown, name.removesuffix(".md"), text)
    held: list[str] = []

    def hold(found: re.Match[str]) -> str:
        held.append(found[0])
        return f"\0{len(held) - 1}\0"

    def lead(found: re.Match[str]) -> str:
        return (_page_of(here, found[1], files) or found[1]) + (found[2] or "")

    markdown = LINK.sub(lead, FENCE.sub(hold, markdown))
    return re.sub(r"\0(\d+)\0", lambda found: held[int(found[1])], markdown)


def _page_of(here: str, link: str, files: Files) -> str | None:
    """The page that a link of the repository means, as a link of the site; None: it is one."""
    inside = (ROOT / "docs" / here).exists()
    place = posixpath.join("docs", here) if inside else here
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link))
    target = target.removeprefix("docs/")
    if (ROOT / target).is_dir():
        target += "/README.md"
    elif posixpath.splitext(target)[1] in SHOWN:
        target = posixpath.splitext(target)[0] + ".md"
    if files.get_file_from_path(target) is None:
        return None
    return posixpath.relpath(target, posixpath.dirname(here) or ".")


def _program(file: Path) -> str:
    text, name = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
    block = f'```{SHOWN[file.suffix]} title="{name}"\n{text}```'
    return f"# {file.name}\n\n{_purpose(file)}\n\n{block}\n"


def _listing(folder: str, found: list[Path]) -> str:
    title = "Examples" if folder == "examples" else folder
    lines = [f"- [{file.name}]({file.name}): {_purpose(file)}" for file in found]
    return "\n".join([f"# {title}", "", *lines]) + "\n"


def _purpose(file: Path) -> str:
    """What a program says of itself; other files show it."""
    if file.suffix != ".py":
        return ""
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return said.partition("\n\n")[0].replace("\n", " ")


def _with_report(markdown: str, name: str, text: str) -> str:
    """The page of a rule with the report of its failing program, before the cured one."""
    report = f"""\
## What the doctor says

```text
{text.rstrip()}
```

[The same as a page](reports/{name}.html), as `gradtape doctor --output report.html` writes it:

<iframe class="report" src="reports/{name}.html" title="The report" loading="lazy"></iframe>

"""
    before, heading, after = markdown.partition("## The same without it\n")
    return before + report + heading + after


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The theme would fetch a script from elsewhere for the search in pages from the disk."""
    return output.replace(SHIM, posixpath.relpath(WORKER, posixpath.dirname(page.url) or "."))


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """The same for the page of what is not found, which may be shown at any address."""
    return output.replace(SHIM, f"/{WORKER}")
