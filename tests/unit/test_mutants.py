"""The faults of ``make mutants`` can all be inserted: a line that was rewritten is told here."""

import pytest

import mutants

FAULTS = {f"{n} {one[0]}": one for n, one in enumerate(mutants.MUTANTS, 1)}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_line_of_a_fault_is_there_once_and_so_are_its_tests(fault):
    assert mutants.files_for(fault)
