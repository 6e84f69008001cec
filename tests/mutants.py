"""Forty faults in code that measures or judges: each must fail a test.

    python tests/mutants.py [NUMBER ...]

A fault is one line of a copy of ``src/``: a sign, a factor, a power, an index off by one, arms
swapped. The tests named beside it run on the copy until one fails. Exit status 1 if a fault
survives, or if its line is no longer there once.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Module, line, line with the fault, tests (patterns below ``tests/``).
MUTANTS = [
    ("mrp/gradients.py", "block.u.mul_(block.slope).add_(block.s)", "block.u.mul_(block.slope).sub_(block.s)", "unit/test_mrp_gradients*"),
    ("mrp/gradients.py", "shrink = -1 / per_replicate(theta, w)\n    coupling", "shrink = -0.5 / per_replicate(theta, w)\n    coupling", "unit/test_mrp_gradients*"),
    ("mrp/closed_forms.py", "** q - 1\n    pull", "** q\n    pull", "unit/test_mrp* unit/test_t* property/test_sampler*"),
    ("mrp/closed_forms.py", "return (1 + q) * power_sums(", "return q * power_sums(", "unit/test_mrp* property/test_sampler*"),
    ("mrp/data.py", "self.patches_per_feature ** (1 - 1 / self.q)", "self.patches_per_feature ** (1 / self.q)", "unit/test_sampler* property/test_sampler*"),
    ("mrp/data.py", "< spec.sparsity / k", "< spec.sparsity * k", "unit/test_sampler* property/test_sampler*"),
    ("contrastive/closed_forms.py", "share = 1 - 1 / (negatives + 1)", "share = 1 - 1 / negatives", "unit/test_contrastive*"),
    ("contrastive/closed_forms.py", "spec.p * (projected - w *", "spec.p * (projected + w *", "unit/test_contrastive*"),
    ("contrastive/model.py", "base = positive - negative", "base = negative - positive", "unit/test_contrastive*"),
    ("contrastive/model.py", "return torch.relu(u - b) - torch.relu(-u - b)", "return torch.relu(u - b) + torch.relu(-u - b)", "unit/test_contrastive*"),
    ("contrastive/data.py", "return first, 2 * x - first", "return first, x - first", "unit/test_contrastive*"),
    ("noncontrastive/closed_forms.py", "+ 2 * entry * cross_noise", "+ entry * cross_noise", "unit/test_noncontrastive*"),
    ("noncontrastive/closed_forms.py", "phi = q / u**1.5", "phi = q / u", "unit/test_noncontrastive*"),
    ("noncontrastive/data.py", "factor * self.noise_std**6", "factor * self.noise_std**4", "unit/test_noncontrastive*"),
    ("noncontrastive/data.py", "(drawn.argsort(-1) < patches // 2)", "(drawn.argsort(-1) <= patches // 2)", "unit/test_noncontrastive*"),
    ("emergence/train.py", "multiple * law.relevant**2 / (steps", "multiple * law.relevant / (steps", "unit/test_emergence_training*"),
    ("emergence/model.py", "return mean[0] - mean[1], probability[0]", "return mean[1] - mean[0], probability[0]", "unit/test_emergence*"),
    ("emergence/data.py", "return (1 - self.background) / 2 if", "return (1 + self.background) / 2 if", "unit/test_emergence*"),
    ("gradient_features/model.py", "-y * torch.sigmoid(-y * g) / math.log(2)", "-y * torch.sigmoid(y * g) / math.log(2)", "unit/test_gradient*"),
    ("gradient_features/cones.py", "squares = inputs.weight * inputs.y.square() *", "squares = inputs.weight * inputs.y *", "unit/test_gradient*"),
    ("gradient_features/law.py", "freedom = law.dimension - law.own", "freedom = law.dimension", "unit/test_gradient*"),
    ("fourier/closed_forms.py", "scale = (2 * k + 2) ** ((k + 1) / 2)", "scale = (2 * k + 2) ** (k / 2)", "unit/test_fourier*"),
    ("fourier/data.py", "return a.sum(-1) % p", "return (a.sum(-1) + 1) % p", "unit/test_fourier*"),
    ("fourier/neuron.py", "spectra[..., k, :].conj()", "spectra[..., k, :]", "unit/test_fourier*"),
    ("icl/regression.py", "return (1 + 1 / examples) * covariance + trace *", "return (1 - 1 / examples) * covariance + trace *", "unit/test_icl*"),
    ("icl/parity.py", "return (1 - margins(heads, gamma)).relu() @ (0.25 + gamma * TILT)", "return (1 - margins(heads, gamma)).relu() @ (0.25 - gamma * TILT)", "unit/test_icl*"),
    ("nuclear/penalties.py", "covariances = centred.mT @ centred / (n - 1)", "covariances = centred.mT @ centred / n", "unit/test_nuclear*"),
    ("nuclear/toy.py", "wrong = size / 2 if size <= 1", "wrong = size if size <= 1", "unit/test_nuclear*"),
    ("universality/similarity.py", "both = trace + rest - 2 / (count - 2)", "both = trace + rest - 1 / (count - 2)", "unit/test_universality*"),
    ("universality/data.py", "return self.shared + self.private * self.tasks + self.spurious", "return self.shared + self.private + self.spurious", "unit/test_universality*"),
    ("looped/model.py", "theta = theta - step[..., None, None] * (hessian @ theta - pull)", "theta = theta - step[..., None, None] * (hessian @ theta + pull)", "unit/test_looped*"),
    ("gemfilter/selection.py", "torch.arange(n - method.window, n, device", "torch.arange(n - method.window - 1, n - 1, device", "unit/test_gemfilter*"),
    ("transformers/attention.py", ".tril(m - n)", ".tril(m - n + 1)", "unit/test_transformers* unit/test_gemfilter*"),
    ("transformers/positions.py", "return x * cos + x.roll(", "return x * cos - x.roll(", "unit/test_transformers* unit/test_gemfilter*"),
    ("images/methods/masked.py", "count = math.ceil(ratio * number - 1e-9)", "count = math.ceil(ratio * number + 1e-9)", "unit/test_pretraining*"),
    ("images/methods/reconstruction.py", "errors = (predicted.float() - images) * hidden", "errors = (predicted.float() - images)", "unit/test_pretraining* unit/test_training*"),
    ("images/methods/simclr.py", "shifts = torch.arange(1, count, device=logits.device) * size", "shifts = torch.arange(count - 1, device=logits.device) * size", "unit/test_simclr* unit/test_two_view*"),
    ("core/evidence/stats.py", "half = t_quantile(0.975, values.size - 1) *", "half = t_quantile(0.95, values.size - 1) *", "unit/test_stats* property/test_core*"),
    ("core/evidence/claims.py", "if (low <= seen.high and seen.low <= high)", "if (low <= seen.mean and seen.mean <= high)", "unit/test_claim* unit/test_other_seeds* property/test_core*"),
    ("core/training/schedules.py", "over = (step - self.warmup) / max(", "over = (step + 1 - self.warmup) / max(", "unit/test_schedules*"),
]  # fmt: skip


def files_for(mutant: tuple[str, str, str, str]) -> list[Path]:
    """The files of tests that must fail; an error if the fault cannot be inserted."""
    module, line, fault, patterns = mutant
    found = [(each, sorted(ROOT.glob(f"tests/{each}.py"))) for each in patterns.split()]
    if lost := [each for each, files in found if not files]:
        raise LookupError(f"no file of tests is {' or '.join(lost)}")
    path = ROOT / "src/featlearn" / module
    count = path.read_text().count(line) if path.is_file() else 0
    if count != 1 or line == fault:
        raise LookupError(f"its line is there {count} times")
    return sorted({file for _, files in found for file in files})


def outcome(mutant: tuple[str, str, str, str]) -> str:
    """By which test a fault is caught, or that it survives."""
    module, line, fault, _ = mutant
    try:
        tests = files_for(mutant)
    except LookupError as error:
        return f"SURVIVES, {error}"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        path = Path(folder) / "src/featlearn" / module
        path.write_text(path.read_text().replace(line, fault))
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider",
             "-o", f"pythonpath={folder}/src", *map(str, tests)],
            cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": f"{folder}/src", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    failed = re.search(r"^(?:FAILED|ERROR) tests/(\S+)", ended.stdout, re.MULTILINE)
    if ended.returncode == 1 and failed:
        return f"caught by {failed[1]}"
    return f"SURVIVES, pytest ended with {ended.returncode}"


def main() -> int:
    chosen = [int(word) for word in sys.argv[1:]] or range(1, len(MUTANTS) + 1)
    caught = 0
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda number: outcome(MUTANTS[number - 1]), chosen)
        for number, told in zip(chosen, found, strict=True):
            module, _, fault, _ = MUTANTS[number - 1]
            print(f"{number:2} {module}: {fault!r}: {told}", flush=True)
            caught += told.startswith("caught")
    print(f"{caught} of {len(chosen)} faults are caught")
    return caught < len(chosen)


if __name__ == "__main__":
    sys.exit(main())
