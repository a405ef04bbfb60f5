"""How hard the code is to read: names, classes, branches, and sentences, in figures that must not rise.

The limits are those at which code reads like that of well-liked packages. A figure is a hint: it says where to look.
"""

import ast
import re
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
# Trees of files, how many comprehensions and ternaries a hundred of their lines may have, and the lines of code that a
# module may have without a reason.
LIMITS = {
    "src/narxbench": {"comprehensions": 3.0, "ternaries": 1.5, "lines": 400},
    "tests": {"comprehensions": 3.0, "ternaries": 0.7, "lines": 700},
    "benchmarks": {"comprehensions": 3.0, "ternaries": 1.5, "lines": 500},
    "scripts": {"comprehensions": 2.0, "ternaries": 0.5, "lines": 100},
}
REASON = "The module is long because "
BRANCHES = (ast.For, ast.AsyncFor, ast.While, ast.If, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.Assert)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


pytestmark = [pytest.mark.slow, pytest.mark.parametrize("tree", LIMITS)]


@cache
def files_of(tree):
    """Return the text and all nodes of each file of a tree, by the path from the root."""
    files = {}
    for path in sorted((ROOT / tree).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        files[path.relative_to(ROOT)] = text, list(ast.walk(ast.parse(text)))
    return files


def places(tree, kinds):
    """Return all nodes of some kinds in a tree, with where they stand."""
    entries = []
    for path, (_, nodes) in files_of(tree).items():
        for node in nodes:
            if isinstance(node, kinds):
                entries.append((f"{path}:{getattr(node, 'lineno', 1)}", node))
    return entries


def per_hundred_lines(tree, kinds):
    """Return how many nodes of some kinds a hundred lines have that are not blank."""
    n_lines = sum(len(re.findall(r"\S.*", text)) for text, _ in files_of(tree).values())
    return 100 * len(places(tree, kinds)) / n_lines


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


def lines_of_code(text, nodes):
    """Return how many lines of a file are neither blank, nor comments, nor docstrings."""
    documented = set()
    for node in nodes:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            documented.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = [line for number, line in enumerate(text.splitlines(), 1) if number not in documented]
    return sum(not re.match(r"\s*(#|$)", line) for line in lines)


def test_a_long_module_says_why(tree):
    for path, (text, nodes) in files_of(tree).items():
        is_long = lines_of_code(text, nodes) > LIMITS[tree]["lines"]
        has_reason = REASON in (ast.get_docstring(nodes[0]) or "")
        assert is_long == has_reason, path


def test_names_say_what_a_thing_is(tree):
    bindings = [(place, node.id) for place, node in places(tree, ast.Name) if isinstance(node.ctx, ast.Store)]
    doubtful = [binding for binding in bindings if binding[1] in NO_NAMES]
    assert len(doubtful) <= 0.003 * len(bindings), doubtful


def test_two_classes_have_two_names(tree):
    places_by_name = defaultdict(list)
    for place, node in places(tree, ast.ClassDef):
        places_by_name[node.name].append(place)
    repeated = {name: spots for name, spots in places_by_name.items() if len(spots) > 1}
    assert repeated.keys() <= SHARED_CLASS_NAMES, repeated


def test_functions_have_few_branches(tree):
    values = sorted((complexity(node), f"{place} {node.name}") for place, node in places(tree, FUNCTIONS))
    assert values[-1][0] <= 15, values[-10:]
    long = [entry for entry in values if entry[0] > 10]
    assert len(long) <= 0.03 * len(values), long


def test_expressions_hold_one_thought(tree):
    assert per_hundred_lines(tree, COMPREHENSIONS) <= LIMITS[tree]["comprehensions"]
    assert per_hundred_lines(tree, ast.IfExp) <= LIMITS[tree]["ternaries"]
    assert per_hundred_lines(tree, ast.NamedExpr) <= 0.3


def test_descriptions_begin_with_a_verb_or_a_noun(tree):
    openings = ("What ", "The same ", "Whatever ")
    for place, node in places(tree, (*FUNCTIONS, ast.ClassDef, ast.Module)):
        docstring = ast.get_docstring(node) or ""
        assert not docstring.startswith(openings), place
