"""The list of mutants fits the code: `make mutants` runs them, which takes too long for every change."""

import pytest

from tests.mutants import ROOT, Mutant, read


@pytest.mark.parametrize("mutant", read(), ids=lambda mutant: mutant.name)
def test_a_mutants_text_stands_once_and_its_tests_exist(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.text) == 1
    assert mutant.mutated != mutant.text
    for test in mutant.tests:
        file, *names = test.split("::")
        assert all(f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8") for name in names[-1:])
