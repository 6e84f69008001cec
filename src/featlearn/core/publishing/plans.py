"""The plan of a run by the rules of a checkout, without a job."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from featlearn.core import provenance


def plan(
    root: Path, run: Path, papers: Sequence[str] = (), script: str = "/measure.py"
) -> tuple[Any, Mapping[str, Any], Path]:
    """What the rules of this checkout publish by the config of a run; the code of those with a
    script, of those that compute by default; and the folder that their paths start from.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    record = provenance.read_record(run, run / "report.html")
    config = dict(record["config"]) if record else {"scale": run.name}
    config.pop("results", None)
    if papers:
        config["papers"] = list(papers)
    # in a folder of its own: a plan mends the results that it finds
    with (
        tempfile.TemporaryDirectory() as folder,
        SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api,
    ):
        workflow = api.workflow(
            snakefile=root / "Snakefile",
            workdir=Path(folder),
            config_settings=ConfigSettings(config=config),
            resource_settings=ResourceSettings(cores=1),
        )._workflow
        computing = {
            rule.name: rule.params["code"]
            for rule in workflow.rules
            if str(rule.script).endswith(script) and rule.output
        }
        return workflow.globals["PUBLISHED"], computing, Path(folder).resolve()
