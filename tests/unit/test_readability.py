"""How hard the code is to read: names, classes, branches, and sentences, in figures that must not rise.

The limits are those at which code reads like that of well-liked packages. A figure is a hint: it says where to look.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Words that say what happened to a thing, or point at it, and not what it is.
NO_NAMES = {
    *("asked", "each", "found", "given", "known", "made", "more", "named", "of", "one", "other", "others", "own"),
    *("read", "seen", "told", "wanted"),
}
# Settings of an algorithm have the same name in each of their modules.
SHARED_CLASS_NAMES = {"Settings"}
BRANCHES = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.Assert)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def library():
    """Return the text and all nodes of each file of the library, by the path from the root."""
    files = {}
    for path in sorted((ROOT / "src/narxbench").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        files[path.relative_to(ROOT)] = text, list(ast.walk(ast.parse(text)))
    return files


def places(kinds):
    """Return all nodes of some kinds in the library, with where they stand."""
    entries = []
    for path, (_, nodes) in library().items():
        for node in nodes:
            if isinstance(node, kinds):
                entries.append((f"{path}:{getattr(node, 'lineno', 1)}", node))
    return entries


def n_lines():
    """Return the number of lines that are not blank."""
    count = 0
    for text, _ in library().values():
        count += sum(bool(line.strip()) for line in text.splitlines())
    return count


def complexity(function):
    """Return the cyclomatic complexity of a function, without the functions and classes inside of it."""
    total, pending = 1, list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, BRANCHES):
            total += 1
        if isinstance(node, ast.comprehension):
            total += len(node.ifs)
        if isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
        pending.extend(ast.iter_child_nodes(node))
    return total


def test_names_say_what_a_thing_is():
    n_bindings, doubtful = 0, []
    for place, node in places(ast.Name):
        if isinstance(node.ctx, ast.Store):
            n_bindings += 1
            if node.id in NO_NAMES:
                doubtful.append(f"{place} {node.id}")
    assert len(doubtful) <= 0.003 * n_bindings, doubtful


def test_two_classes_have_two_names():
    places_by_name = defaultdict(list)
    for place, node in places(ast.ClassDef):
        places_by_name[node.name].append(place)
    repeated = {name: spots for name, spots in places_by_name.items() if len(spots) > 1}
    assert repeated.keys() <= SHARED_CLASS_NAMES, repeated


def test_functions_have_few_branches():
    values = sorted((complexity(node), f"{place} {node.name}") for place, node in places(FUNCTIONS))
    assert values[-1][0] <= 15, values[-10:]
    long = [entry for entry in values if entry[0] > 10]
    assert len(long) <= 0.03 * len(values), long


@pytest.mark.parametrize(
    ("kinds", "limit"), [(COMPREHENSIONS, 0.03), (ast.IfExp, 0.015), (ast.NamedExpr, 0.003)], ids=["c", "t", "w"]
)
def test_expressions_hold_one_thought(kinds, limit):
    """Comprehensions, ternaries and assignments inside of expressions, for each line that is not blank."""
    assert len(places(kinds)) <= limit * n_lines()


def test_descriptions_begin_with_a_verb_or_a_noun():
    openings = ("What ", "The same ", "Whatever ")
    for place, node in places((*FUNCTIONS, ast.ClassDef, ast.Module)):
        docstring = ast.get_docstring(node) or ""
        assert not docstring.startswith(openings), place
