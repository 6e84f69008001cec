"""The workflow on a real Slurm: nodes, GPUs, retries, a lost node, a killed run, the same bytes."""

import os
import re
import signal
from collections import Counter
from dataclasses import dataclass

import pytest

from workflow.checkout import Checkout, Ended, Paused, wait_for

from .slurm import NODES

pytestmark = pytest.mark.cluster

#: As a user calls it. This Slurm has no accounting database, and nobody wants to wait for a poll.
ON_SLURM = (
    *("--profile", "profiles/slurm", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10"),
)
#: No limit but that of the nodes.
MANY = 1000
#: Where a fault is planted, which a job meets the first time only.
FAULTY = "src/featlearn/noncontrastive/experiments/starts.py"
SOUND = "def measure(job: Job) -> Results:\n"
FAULT = """
def measure(job: Job) -> Results:
    from pathlib import Path

    if not Path("failed-once").exists():
        Path("failed-once").touch()
        raise RuntimeError("a planted fault, the first time only")
    return sound(job)
"""
PRETRAINED = "results/smoke/mrp/weights/headline/pretrained.safetensors"
DRAWN = "results/smoke/mrp/figures/fig-2.svg"
#: One paper has all kinds of jobs: what computes on a GPU and what does not, with wildcards and
#: without, and the short ones of an experiment. The processor of the test machines knows no CUDA:
#: jobs that get a GPU compute as any other.
PAPER = "noncontrastive"
#: With FEATLEARN_ALL_PAPERS=1 the whole smoke run is made, which takes long.
ALL_PAPERS = os.environ.get("FEATLEARN_ALL_PAPERS") == "1"
CHANGES = {"device": "auto"} | ({} if ALL_PAPERS else {"papers": [PAPER]})
if ALL_PAPERS:  # a job there is three starts of Snakemake: beside other work half an hour is short
    pytestmark = [pytest.mark.cluster, pytest.mark.timeout(2 * 3600)]
#: Its rules that compute on the device of the config, and its experiments.
COMPUTING = {
    f"{PAPER}_{name}"
    for name in ("algorithm", "image_heads", "image_start", "robust_train", "robust_look")
}
EXPERIMENTS = {"paper_items", "algorithm", "phases", "starts", "oracles", "images", "robust"}


def on_slurm(checkout: Checkout, slurm, *targets: str, **options) -> Ended:
    return checkout.snakemake(*targets, *ON_SLURM, env=slurm.env, cores=MANY, **options)


def made_here(checkout: Checkout, *targets: str, **options) -> dict[str, str]:
    checkout.snakemake(*targets, **options).well()
    return checkout.made()


@pytest.fixture(scope="module")
def training(fresh):
    return made_here(fresh(), PRETRAINED, DRAWN)


@dataclass
class Ran:
    checkout: Checkout
    told: Ended
    jobs: list[dict[str, str]]

    def of(self, name: str) -> list[dict[str, str]]:
        return [job for job in self.jobs if job["Comment"].startswith(f"rule_{name}")]


@pytest.fixture(scope="module")
def whole(fresh, slurm):
    """A run on the cluster, with a GPU for what computes; one job fails the first time."""
    checkout = fresh()
    module = checkout / FAULTY
    text = module.read_text(encoding="utf-8")
    assert text.count(SOUND) == 1
    text = text.replace(SOUND, SOUND.replace("measure", "sound")) + FAULT
    module.write_text(text, encoding="utf-8")
    told = on_slurm(checkout, slurm, changes=CHANGES)
    return Ran(checkout, told, slurm.jobs())


def test_the_smoke_run_on_slurm_ends_in_the_bytes_of_a_local_one(whole, fresh):
    whole.told.well()
    here = fresh()
    expected = made_here(here, changes=CHANGES)
    assert whole.checkout.checksums() == here.checksums()
    made = whole.checkout.made()
    assert made.keys() == expected.keys()
    # the report says where, when and by which code a run was made (here a module fails once); the
    # checksums hold all that is to be the same
    different = {name for name in made if made[name] != expected[name]}
    assert all(name.startswith("report") for name in different), different


def test_every_node_worked_and_what_computes_asked_for_a_gpu(whole):
    nodes = {job["NodeList"] for job in whole.jobs if job["JobState"] == "COMPLETED"}
    assert nodes == set(NODES)
    rules = {job["Comment"].removeprefix("rule_").partition("_wildcards_")[0]: job
             for job in whole.jobs}  # fmt: skip
    with_gpu = {name for name, job in rules.items() if job.get("TresPerJob") == "gres:gpu:1"}
    assert {name for name in with_gpu if name.startswith(PAPER)} == COMPUTING
    partitions = {job["Partition"] for name, job in rules.items() if name in with_gpu}
    assert partitions == {"gpu"}
    assert {job["Partition"] for name, job in rules.items() if name not in with_gpu} == {"cpu"}


def test_a_failed_job_is_told_with_its_log_and_tried_again_with_more(whole):
    first, second = whole.of("noncontrastive_starts")
    assert [first["JobState"], second["JobState"]] == ["FAILED", "COMPLETED"]
    assert [first["MinMemoryNode"], second["MinMemoryNode"]] == ["3000M", "6000M"]
    assert [first["TimeLimit"], second["TimeLimit"]] == ["01:00:00", "02:00:00"]
    failure = whole.told.text.partition("Error in rule noncontrastive_starts")[2]
    assert "results/smoke/logs/noncontrastive/starts.log" in failure
    assert "a planted fault" in failure
    assert "slurm_logs/rule_noncontrastive_starts" in failure


def test_short_rules_of_an_experiment_are_one_job(whole):
    for name in EXPERIMENTS:
        (job,) = whole.of(f"{PAPER}-{name}")
        assert re.search(f"_(show|judge)_{name}", job["Comment"])  # oracles draws nothing
    (job,) = whole.of("results")
    assert "_report" in job["Comment"]
    (job,) = whole.of("noncontrastive-starts")
    assert "_judge_starts" in job["Comment"]


def test_the_profile_knows_the_experiments_of_all_papers(fresh):
    told = fresh().snakemake("--dry-run", *ON_SLURM, cores=MANY).well()
    groups = Counter(re.findall(r"Group job (\S+) \(jobs", told.text))
    assert {"mrp-keep_probability", "contrastive-trained_thresholds", "results"} < groups.keys()
    assert set(groups.values()) == {1}
    # a short rule is no job of its own; what is in a group is indented
    alone = re.findall(r"^Job \d+: (\w+): ", told.text, re.M)
    assert "mrp_pretrain" in alone
    assert not [rule for rule in alone if re.search("_(show|judge)_|^gathered$", rule)]


def test_the_job_of_a_lost_node_ends_elsewhere_in_the_same_bytes(fresh, slurm, training):
    """The node on which a training stands is lost; then the training may go on."""
    before = len(slurm.jobs())
    paused = Paused(fresh().root)
    with paused.start_until(
        ["mrp_pretrain"], PRETRAINED, *ON_SLURM, env=slurm.env, cores=MANY
    ) as run:
        node = slurm.jobs()[before]["NodeList"]
        slurm.lose_node(node)
        paused.go_on()
        told = run.wait()
    last = slurm.jobs()[-1]
    slurm.start_node(node)
    wait_for(slurm.ready, "the lost node did not come back")
    assert told.well().finished == {"mrp_pretrain": 1}
    assert last["JobState"] == "COMPLETED"
    assert last["NodeList"] != node
    made = paused.made()
    assert made == {name: training[name] for name in made}
    assert "mrp/weights/headline/pretrained.safetensors" in made


def test_after_a_kill_nothing_finished_is_made_again_and_orphans_and_locks_are_gone(
    fresh, slurm, training
):
    """Snakemake gets SIGKILL while a job of it works on a node; the same command again."""
    before = len(slurm.jobs())
    paused = Paused(fresh().root)
    command = (DRAWN, PRETRAINED, *ON_SLURM)
    with paused.start_until(["mrp_pretrain"], *command, env=slurm.env, cores=MANY) as run:
        wait_for(lambda: "  mrp_show_paper_items\n" in run.text, "the short job did not end")
        run.process.send_signal(signal.SIGKILL)
        first = run.wait()
    assert paused.locks() == []
    number = next(
        job["JobId"] for job in slurm.jobs()[before:] if job["Comment"] == "rule_mrp_pretrain"
    )

    def orphan():
        return next(job["JobState"] for job in slurm.jobs() if job["JobId"] == number)

    assert orphan() == "RUNNING"
    with paused.start_until(["mrp_pretrain"], *command, env=slurm.env, cores=MANY) as run:
        wait_for(lambda: orphan() != "RUNNING", "the orphan went on")
        paused.go_on()
        again = run.wait()
    assert orphan() == "FAILED"
    assert first.code == -signal.SIGKILL
    assert first.finished == {"mrp_show_paper_items": 1}
    assert again.well().finished == {"mrp_pretrain": 1}
    assert paused.staged() == []
    made = paused.made()
    assert made == {name: training[name] for name in made}
    assert "mrp/weights/headline/pretrained.safetensors" in made


WEIGHTS = "results/smoke/own_images/weights/digits/pretrained-0.safetensors"


def together(nodes: int) -> dict:
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


def test_a_training_over_two_nodes_is_one_job_with_the_bytes_of_two_processes_on_one(fresh, slurm):
    before = len(slurm.jobs())
    checkout, here = fresh(), fresh()
    told = on_slurm(checkout, slurm, WEIGHTS, changes=together(nodes=2)).well()
    (job,) = Ran(checkout, told, slurm.jobs()[before:]).of("own_images_pretrain")
    assert job["NumNodes"] == "2"
    assert job["NodeList"] == "cpu[1-2]"
    here.snakemake(WEIGHTS, changes=together(nodes=1)).well()
    assert checkout.made() == here.made()
    assert checkout.staged() == here.staged() == []
