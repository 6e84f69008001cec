"""The workflow on a real Slurm: nodes, GPUs, retries, a lost node, a killed run, the same bytes."""

from __future__ import annotations

import signal
from dataclasses import dataclass

import pytest

from workflow.checkout import Checkout, Ended, Paused, wait_for

pytestmark = pytest.mark.cluster

#: As a user calls it. This Slurm has no accounting database, and nobody wants to wait for a poll.
ON_SLURM = (
    *("--profile", "workflow/profiles/slurm", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10"),
)
#: No limit but that of the nodes.
MANY = 1000
EXPERIMENTS = ("algorithm", "oracles", "phases", "starts")
PAPER = [
    *(f"results/smoke/noncontrastive/claims/{name}.parquet" for name in EXPERIMENTS),
    *(f"results/smoke/noncontrastive/figures/{name}.svg" for name in ("fig-7", "four-phases")),
    *(f"results/smoke/noncontrastive/tables/{name}.md" for name in ("outcomes", "roles")),
]
BLOCK = "with Job(snakemake) as job:\n"
PLANTED = """
    from pathlib import Path

    if not Path("failed-once").exists():
        Path("failed-once").touch()
        raise RuntimeError("a planted fault, the first time only")
"""
PRETRAINED = "results/smoke/mrp/weights/headline/pretrained.safetensors"
TABLE = "results/smoke/mrp/tables/appendix-b.md"
GPU_RULES = {f"noncontrastive_{name}" for name in EXPERIMENTS}


def on_slurm(checkout: Checkout, slurm, *targets: str, **options) -> Ended:
    return checkout.snakemake(*targets, *ON_SLURM, env=slurm.env, cores=MANY, **options)


def made_here(checkout: Checkout, *targets: str) -> dict[str, str]:
    """The bytes that a run on this machine makes."""
    checkout.snakemake(*targets).well()
    return checkout.made()


@pytest.fixture(scope="module")
def training(fresh):
    return made_here(fresh(), PRETRAINED, TABLE)


# ------------------------------------------------------------------------------- a whole paper


@dataclass
class Ran:
    checkout: Checkout
    told: Ended
    jobs: list[dict[str, str]]

    def of(self, name: str) -> list[dict[str, str]]:
        """The Slurm jobs of a rule or group."""
        return [job for job in self.jobs if job["Comment"].startswith(f"rule_{name}")]


@pytest.fixture(scope="module")
def paper(fresh, slurm):
    """A paper on the cluster, with a GPU for what computes; one job fails the first time."""
    checkout = fresh()
    script = checkout / "scripts/noncontrastive/starts.py"
    head, block, body = script.read_text(encoding="utf-8").partition(BLOCK)
    assert block
    script.write_text(head + block + PLANTED + body, encoding="utf-8")
    told = on_slurm(checkout, slurm, *PAPER, changes={"device": "auto"})
    return Ran(checkout, told, slurm.jobs())


def test_a_paper_runs_on_slurm_and_ends_in_the_bytes_of_a_local_run(paper, fresh):
    paper.told.well()
    assert paper.checkout.made() == made_here(fresh(), *PAPER)


def test_more_than_one_node_worked(paper):
    nodes = {job["NodeList"] for job in paper.jobs if job["JobState"] == "COMPLETED"}
    assert len(nodes) > 1
    assert "gpu1" in nodes


def test_what_computes_asked_for_a_gpu_and_the_rest_did_not(paper):
    with_gpu = {job["JobId"] for job in paper.jobs if job.get("TresPerJob") == "gres:gpu:1"}
    computing = {job["JobId"] for rule in GPU_RULES for job in paper.of(rule)}
    assert with_gpu == computing
    assert {job["Partition"] for job in paper.jobs if job["JobId"] in with_gpu} == {"gpu"}
    assert {job["Partition"] for job in paper.jobs if job["JobId"] not in with_gpu} == {"cpu"}


def test_a_failed_job_is_tried_again_with_more_memory_and_time(paper):
    first, second = paper.of("noncontrastive_starts")
    assert [first["JobState"], second["JobState"]] == ["FAILED", "COMPLETED"]
    assert [first["MinMemoryNode"], second["MinMemoryNode"]] == ["2000M", "4000M"]
    assert [first["TimeLimit"], second["TimeLimit"]] == ["00:30:00", "01:00:00"]


def test_a_failure_is_told_with_the_log_of_its_job(paper):
    failure = paper.told.text.partition("Error in rule noncontrastive_starts")[2]
    assert "results/smoke/logs/noncontrastive/starts.log" in failure
    assert "a planted fault" in failure
    assert "slurm_logs/rule_noncontrastive_starts" in failure


def test_short_rules_of_an_experiment_are_one_job(paper):
    rules = paper.told.finished
    assert len(paper.jobs) < sum(rules.values())
    for job in paper.jobs:
        if job.get("TresPerJob") is None:
            assert job["Comment"].startswith("rule_noncontrastive-")


# ------------------------------------------------------------------------------- losses


@pytest.fixture(scope="module")
def lost_node(fresh, slurm):
    """The node on which a training stands is lost; then the training may go on."""
    before = len(slurm.jobs())
    paused = Paused(fresh().root)
    run = paused.start_until(["mrp_pretrain"], PRETRAINED, *ON_SLURM, env=slurm.env, cores=MANY)
    try:
        node = slurm.jobs()[before]["NodeList"]
        slurm.lose_node(node)
        paused.go_on()
        told = run.wait()
    except BaseException:
        run.kill_all()
        raise
    jobs = slurm.jobs()[before:]
    slurm.start_node(node)
    wait_for(slurm.ready, "the lost node did not come back")
    return Ran(paused, told, jobs), node


def test_the_job_of_a_lost_node_ends_elsewhere_in_the_same_bytes(lost_node, training):
    ran, node = lost_node
    assert ran.told.well().finished == {"mrp_pretrain": 1}
    last = ran.jobs[-1]
    assert last["JobState"] == "COMPLETED"
    assert last["NodeList"] != node
    made = ran.checkout.made()
    assert made == {name: training[name] for name in made}
    assert "mrp/weights/headline/pretrained.safetensors" in made


@dataclass
class Killed:
    paused: Paused
    first: Ended
    again: Ended
    orphan: dict[str, str]
    locks: list[str]


@pytest.fixture(scope="module")
def killed(fresh, slurm):
    """Snakemake gets SIGKILL while a job of it works on a node; the same command again."""
    before = len(slurm.jobs())
    paused = Paused(fresh().root)
    command = (TABLE, PRETRAINED, *ON_SLURM)
    run = paused.start_until(["mrp_pretrain"], *command, env=slurm.env, cores=MANY)
    try:
        wait_for(lambda: "(Rule: mrp_table_quoted)" in run.text, "the short job did not end")
        run.process.send_signal(signal.SIGKILL)
        first = run.wait()
    except BaseException:
        run.kill_all()
        raise
    locks = paused.locks()
    number = next(
        job["JobId"] for job in slurm.jobs()[before:] if job["Comment"] == "rule_mrp_pretrain"
    )

    def orphan():
        return next(job for job in slurm.jobs() if job["JobId"] == number)

    assert orphan()["JobState"] == "RUNNING"
    run = paused.start_until(["mrp_pretrain"], *command, env=slurm.env, cores=MANY)
    try:
        wait_for(lambda: orphan()["JobState"] != "RUNNING", "the orphan went on")
        paused.go_on()
        again = run.wait()
    except BaseException:
        run.kill_all()
        raise
    return Killed(paused, first, again, orphan(), locks)


def test_what_was_finished_before_the_kill_is_not_made_again(killed):
    assert killed.first.code == -signal.SIGKILL
    assert killed.first.finished == {"mrp_table_quoted": 1}
    assert killed.again.well().finished == {"mrp_pretrain": 1}


def test_a_job_that_the_killed_run_left_behind_gives_way(killed):
    assert killed.orphan["JobState"] == "FAILED"
    assert killed.paused.staged() == []


def test_no_lock_is_left_and_the_bytes_are_those_of_a_local_run(killed, training):
    assert killed.locks == []
    made = killed.paused.made()
    assert made == {name: training[name] for name in made}
    assert "mrp/weights/headline/pretrained.safetensors" in made


# ------------------------------------------------------------------------------- several nodes

WEIGHTS = "results/smoke/mrp/weights/real_images/digits/pretrained-0.safetensors"


def together(nodes: int) -> dict:
    """A pre-training in two processes on so many nodes."""
    return {
        "real_images": {
            "digits": {
                "data": {"kind": "digits", "size": 8},
                "replicates": 1,
                "train_images": 64,
                "augmentation": {"preset": "none"},
                "encoder": {"small_resnet": {"widths": [4, 8]}},
                "pretraining": {
                    "processes": 2,
                    "nodes": nodes,
                    "objective": {
                        "simmim": {"mask_size": 4, "decoder_depth": 1, "decoder_width": 8}
                    },
                    "training": {"steps": 6, "batch_size": 16, "sync_batch_norm": True},
                },
            }
        }
    }


@pytest.fixture(scope="module")
def two_nodes(fresh, slurm):
    before = len(slurm.jobs())
    checkout = fresh()
    told = on_slurm(checkout, slurm, WEIGHTS, changes=together(nodes=2))
    return Ran(checkout, told, slurm.jobs()[before:])


def test_a_training_over_two_nodes_is_one_job_on_both(two_nodes):
    two_nodes.told.well()
    (job,) = two_nodes.of("images_real_pretrain")
    assert job["NumNodes"] == "2"
    assert job["NodeList"] == "cpu[1-2]"


def test_two_processes_on_two_nodes_end_in_the_bytes_of_two_on_one(two_nodes, fresh):
    two_nodes.told.well()
    checkout = fresh()
    checkout.snakemake(WEIGHTS, changes=together(nodes=1)).well()
    assert two_nodes.checkout.made() == checkout.made()
    assert two_nodes.checkout.staged() == checkout.staged() == []
