"""A claim as a method: what it says, what it reads, families of it, and how its id is known."""

import json
import math
from types import SimpleNamespace

import pandas as pd
import pytest

from featlearn.core.claim_methods import Claims, claim, of_module, premise
from featlearn.core.claims import (
    COLUMNS,
    FAILS,
    HOLDS,
    OBSERVATION,
    OUTSIDE,
    POSITIVE,
    THEOREM,
    UNDECIDED,
    Frames,
    Premise,
    declared,
    ledger,
    needs,
)

GROWTH = pd.DataFrame({"replicate": [0, 1, 2], "value": [1.0, 1.1, 0.9]})


class Base(Claims):
    """No paper: for others to build on."""

    def of(self, column):
        return self.growth[column]


class Growth(Base):
    paper, kind, possible = "toy", THEOREM, POSITIVE
    out_of_reach = needs(growth__replicates=10)
    changed = "The sizes."

    @claim("Lemma 1", "rate", low=0.5, high=1.5, paper_says="it grows")
    def grows_as_printed(self):
        """The rate is
        one.

        A half is

        far: $x_{i}$.
        """
        return self.of("value")

    @claim("Figure {n}", "rate of {arm}", id="fig-{n}-{arm}", changed="The band of {arm}.", each=[
        {"n": 1, "arm": "wide", "high": 2.0},
        {"n": 2, "arm": "narrow", "high": 1.0, "kind": OBSERVATION, "out_of_reach": None},
    ])  # fmt: skip
    def of_arm(self, n):
        """Of {arm} the rate is small.

        By eye.
        """
        return n * self.of("value")


def made(cls=Growth, **words):
    return {one.claim: one for one in cls({}, **words)}


def test_a_method_says_what_a_claim_says_or_is_refused():
    one = made()["toy/grows-as-printed"]
    assert (one.statement, one.reason) == ("The rate is one.", "A half is far: $x_{i}$.")
    assert (one.source, one.quantity, one.low, one.high) == ("Lemma 1", "rate", 0.5, 1.5)
    assert (one.kind, one.possible, one.changed) == (THEOREM, POSITIVE, "The sizes.")
    assert one.paper_says == "it grows"
    assert one.out_of_reach({"growth": {"replicates": 3}}).startswith("3 replicates")
    assert one.measure({"growth": GROWTH}).tolist() == [1.0, 1.1, 0.9]
    bare = type("Bare", (Growth,), {"more": claim("", "")(lambda self: [])})
    with pytest.raises(ValueError, match="must have a docstring"):
        made(bare)


def test_a_family_fills_its_words_and_may_say_other_fields():
    wide, narrow = made()["toy/fig-1-wide"], made()["toy/fig-2-narrow"]
    assert (wide.source, wide.quantity, wide.high) == ("Figure 1", "rate of wide", 2.0)
    assert (wide.low, wide.kind, wide.statement) == (
        -math.inf,
        THEOREM,
        "Of wide the rate is small.",
    )
    assert wide.changed == "The sizes. The band of wide."
    assert (narrow.kind, narrow.out_of_reach) == (OBSERVATION, None)
    assert narrow.measure({"growth": GROWTH}).tolist() == [2.0, 2.2, 1.8]


def test_claims_of_a_module_are_of_its_classes_that_name_a_paper():
    module = SimpleNamespace(
        __name__=__name__, Base=Base, Growth=Growth, other=claim, Claims=Claims
    )
    assert [one.claim for one in of_module(module, {})] == [*made()]
    assert [one.claim for one in declared(module, {})] == [*made()]
    assert next(iter(made(prefix="digits-"))) == "toy/digits-grows-as-printed"


def test_the_raw_numbers_of_a_claim_lie_in_the_file_that_it_reads_first():
    frames = Frames(lambda name: GROWTH, ["quoted", "growth"], {}, {"growth": "toy/growth.parquet"})
    rows = ledger(list(made().values()), frames, {"growth": {"replicates": 3}})
    assert set(rows["artefact"]) == {"toy/growth.parquet"}
    assert list(rows.columns) == list(COLUMNS)
    assert list(rows["paper_says"]) == ["it grows", "", ""]


def test_a_quotation_is_short_and_a_frame_that_is_none_is_named():
    with pytest.raises(ValueError, match="quotes more than 20 words"):
        made(type("Long", (Growth,), {"paper_says": "word " * 21}))

    def lost(self):
        """It is there."""
        return self.grwoth

    marked = claim("s", "q", low=0)(lost)
    own = type("Lost", (Claims,), {"paper": "toy", "kind": THEOREM, "a": marked})
    with pytest.raises(ValueError, match="claim toy/lost: cannot be measured: no 'grwoth'"):
        ledger(list(made(own).values()), {"growth": GROWTH}, {})


class Lottery(Claims):
    paper, kind, premises = "toy", THEOREM, ("few_kernels",)

    @premise("<=")
    def few_kernels(self):
        """m <= sqrt({letter})"""
        return self.config["kernels"], math.sqrt(self.config["classes"])

    @premise(">=")
    def many_anchors(self):
        """K >= d"""
        return len(self.growth), 3

    @claim("Theorem 8", "purity", low=0.9)
    def pure(self):
        """Each kernel is pure.

        All.
        """
        return self.growth["value"] * self.config["purity"]

    def others(self):
        """Purer by a tenth, and chance."""
        return {"purer": self.growth["value"] + 0.1, "chance": self.config["chance"]}

    @claim("Theorem 9", "purity", low=0.9, premises=("many_anchors",), baselines="others")
    def anchored(self):
        """With many anchors as well.

        All.
        """
        return self.growth["value"] * self.config["purity"]


@pytest.mark.parametrize(("kernels", "purity", "verdict", "met"), [
    (3, 0.1, FAILS, "met"),
    (40, 0.1, OUTSIDE, "violated"),
    (40, 1.3, HOLDS, "violated"),
    (40, 0.9, UNDECIDED, "violated"),
])  # fmt: skip
def test_a_theorem_fails_only_with_its_premises_met(kernels, purity, verdict, met):
    config = {"kernels": kernels, "classes": 10, "purity": purity, "chance": 0.5}
    rows = ledger(list(Lottery(config, letter="k")), {"growth": GROWTH}, config)
    pure, anchored = rows.to_dict("records")
    assert (pure["verdict"], pure["premises_met"]) == (verdict, met)
    assert pure["premises"] == f"m <= sqrt(k): at most 3.16 needed, {kernels} used, {met}"
    assert anchored["premises"] == "K >= d: at least 3 needed, 3 used, met"
    assert (pure["baselines"], json.loads(anchored["baselines"])) == (
        "",
        {"purer": 1.1, "chance": 0.5},
    )
    assert anchored["verdict"] == (FAILS if verdict == OUTSIDE else verdict)


def test_a_premise_that_cannot_be_computed_is_refused():
    class Unknown(Lottery):
        premises = ("pure",)

    with pytest.raises(ValueError, match="must name methods with @premise, got 'pure'"):
        list(Unknown({}))
    with pytest.raises(ValueError, match="relation must be <= or >=, got '<'"):
        Premise("m < k", "<", lambda _: (1, 2))
    lost = Lottery({"kernels": math.nan, "classes": 1, "purity": 1})
    with pytest.raises(ValueError, match="toy/pure: cannot be measured: premise"):
        ledger(list(lost), {"growth": GROWTH}, {})
