"""No module of the project imports itself, directly or through others, at whatever place in a function its imports stand."""

from copy import deepcopy

import grimp
import pytest

ROOTS = ("a2a_hub", "functions", "hubctl", "local", "deploy", "workers")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*ROOTS, exclude_type_checking_imports=True, cache_dir=None)


def _in_a_cycle(graph: grimp.ImportGraph) -> set[str]:
    """The modules that are left when all are taken away, again and again, that import or are imported by nothing that is left."""
    left = set(graph.modules)
    while True:
        ends = {
            module
            for module in left
            if not left & graph.find_modules_directly_imported_by(module)
            or not left & graph.find_modules_that_directly_import(module)
        }
        if not ends:
            return left
        left -= ends


def test_no_imports_form_a_cycle(graph: grimp.ImportGraph) -> None:
    assert _in_a_cycle(graph) == set()


def test_a_cycle_is_found(graph: grimp.ImportGraph) -> None:
    other = deepcopy(graph)
    other.add_import(importer="a2a_hub.a2a.errors", imported="a2a_hub.a2a.server")
    assert {"a2a_hub.a2a.errors", "a2a_hub.a2a.server"} <= _in_a_cycle(other)
