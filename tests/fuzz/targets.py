"""What is fuzzed: every reader of text from outside, and what must hold for all that it accepts."""

import json
import math
import os
import re
import tempfile
import unittest.mock
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import narxbench.experiment.study_settings
from narxbench.model.dataset import read_signals, write_signals
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json, sealed_json
from narxbench.fitness.problem import parse_criterion
from narxbench.analysis.published import RUNS, load_published, published_count
from narxbench.experiment.interpretations import load_readings
from narxbench.experiment.runs import read_run, write_run
from narxbench.model.system import System, load_system, parse_equation
from narxbench.model.terms import MAX_DEGREE, parse_term, term_name
from narxbench.io.yaml import read_mapping

ROOT = Path(__file__).parents[2]
LONGEST_MESSAGE = 4000
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
# Names of letters, digits, _ and -, which are parts of paths.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


class Target(NamedTuple):
    """A reader: ``check`` reads one input, asserts what must hold, and raises NarxbenchError for what is refused.

    ``share`` is its part of the inputs of a soak in per mille; every message must name one of ``files``, if any.
    """

    name: str
    share: int
    seeds: list[bytes]
    check: Callable[[bytes], None]
    files: tuple[Path, ...] = ()


@contextmanager
def scratch() -> Iterator[Path]:
    """Yield a temporary folder, in memory where there is one: the readers open every input as a file."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def outcome(target: Target, data: bytes) -> str:
    """Return ``accepted`` or the kind of the message; anything but NarxbenchError is a finding and passes through."""
    try:
        target.check(data)
    except NarxbenchError as error:
        message = str(error)
        _check_message(message, target.files)
        return message_class(message, target.files)
    return "accepted"


def message_class(message: str, files: tuple[Path, ...] = ()) -> str:
    """Return a message's first line without file, place and all that comes from the input."""
    line = message.split("\n")[0]
    for file in files:
        line = line.removeprefix(str(file))
    line = re.sub(r"found (.+?); (allowed|needed)", r"found …; \2", re.sub(r"\s*\(did you mean .*", "", line))
    return re.sub(r"\d+", "0", _QUOTED.sub("'…'", line))[:60]


def _check_message(message: str, files: tuple[Path, ...]) -> None:
    lines = message.split("\n")
    assert message.strip(), "an empty message"
    assert len(message) <= LONGEST_MESSAGE, f"a message of {len(message)} characters: {message[:300]}"
    assert all(line.isprintable() and line for line in lines), f"a message that breaks its line: {message!r:.300}"
    starts = (*map(str, files), "and ")
    assert not files or all(line.startswith(starts) for line in lines), f"no file: {message[:300]}"


def text_of(data: bytes) -> str:
    """Return bytes as text; what is not UTF-8 becomes lone surrogates, as in names of files and arguments."""
    return data.decode("utf-8", "surrogateescape")


def check_term(data: bytes) -> None:
    monomial = parse_term(text_of(data))
    assert list(monomial) == sorted(monomial)
    assert len(monomial) <= MAX_DEGREE
    assert parse_term(term_name(monomial)) == monomial


def check_equation(data: bytes) -> None:
    pairs = parse_equation(text_of(data))
    assert pairs
    assert all(math.isfinite(coefficient) and coefficient != 0 for _, coefficient in pairs)
    assert all(parse_term(term_name(monomial)) == monomial for monomial, _ in pairs)
    assert parse_equation(equation_of(pairs)) == pairs


def equation_of(pairs: list[tuple[Any, float]]) -> str:
    """Return the canonical text of an equation."""
    return "y(k) = " + " ".join(
        f"{'-' if coefficient < 0 else '+'} {abs(coefficient)!r}" + (f"*{term_name(m)}" if m else "")
        for m, coefficient in pairs
    )


def check_criterion(data: bytes) -> None:
    penalty = parse_criterion(text_of(data))
    assert penalty is None or 0 < penalty < math.inf


def _mapping(path: Path) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        path.write_bytes(data)
        value = read_mapping(path)
        assert isinstance(value, dict)
        check_plain(value)

    return check


def check_plain(value: Any) -> None:
    """Assert that a value from YAML is built of plain types only, and that its texts can be written."""
    if isinstance(value, dict):
        for key, item in value.items():
            check_plain(key)
            check_plain(item)
    elif isinstance(value, list | tuple | set):
        for item in value:
            check_plain(item)
    elif isinstance(value, str):
        value.encode()
    elif isinstance(value, int):
        assert -(2**63) <= value < 2**63
    else:
        assert value is None or type(value) in (float, bytes) or isinstance(value, date)


def _system(path: Path) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        path.write_bytes(data)
        system = load_system(path.stem, path.parent)
        orders = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree}
        again = System("again", equation_of(list(zip(system.monomials, system.coefficients, strict=True))), **orders)
        assert again.terms == system.terms
        assert again.coefficients == system.coefficients
        f"{system.description}{system.reference}".encode()

    return check


def merged(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """Merge as Snakemake does: mappings key by key, all else replaced."""
    result = dict(base)
    for key, value in overlay.items():
        old = result.get(key)
        result[key] = merged(old if isinstance(old, dict) else {}, value) if isinstance(value, dict) else value
    return result


def _config(path: Path) -> Callable[[bytes], None]:
    base = read_mapping(ROOT / "config" / "config.yaml")

    def check(data: bytes) -> None:
        path.write_bytes(data)
        with fast_readings():
            experiment = narxbench.config.load_experiment(merged(base, read_mapping(path)), [path])
            content = experiment.model_dump(mode="json")
            canonical_json(content).encode()
            assert narxbench.config.load_experiment(content, []).model_dump(mode="json") == content
        assert all(NAME.fullmatch(name) for name in [*experiment.systems, *experiment.searches])

    return check


@contextmanager
def fast_readings() -> Iterator[None]:
    """Read the file of readings once: it is the same for every configuration."""
    with unittest.mock.patch.object(narxbench.config, "load_readings", _load_readings):
        yield


_load_readings = lru_cache(maxsize=4)(load_readings)


def _readings(path: Path) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        path.write_bytes(data)
        assert load_readings(path).named

    return check


def _signals(path: Path) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        path.write_bytes(data)
        u, y = read_signals(path)
        assert len(u) == len(y) > 0
        assert all(map(math.isfinite, [*u.tolist(), *y.tolist()]))
        write_signals(path, u, y)
        again = read_signals(path)
        assert [column.tobytes() for column in again] == [u.tobytes(), y.tobytes()]

    return check


def sealed(data: bytes) -> bytes:
    """Return a run file with the digest of its content, so that its reader looks further; other data as they are."""
    try:
        content = json.loads(data)
        return sealed_json(content).encode() if isinstance(content, dict) else data
    except (ValueError, RecursionError):
        return data


def _run(path: Path) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        path.write_bytes(sealed(data))
        run = read_run(path)
        write_run(path, run)
        written = path.read_bytes()
        again = read_run(path)
        assert again == run
        write_run(path, again)
        assert path.read_bytes() == written

    return check


def _values(path: Path) -> Callable[[bytes], None]:
    terms = ROOT / "data" / "reference" / "system_terms.csv"

    def check(data: bytes) -> None:
        path.write_bytes(data)
        for place, value in load_published(path, terms).values.items():
            assert 0 <= value <= 1
            assert 0 <= published_count(value) <= RUNS
            assert place.algorithm
            assert place.criterion

    return check


def _terms(path: Path, values: Path) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        path.write_bytes(data)
        for name, known in load_published(values, path).system_terms.items():
            assert name
            assert list(known) == [f"T{i + 1}" for i in range(len(known))]
            for entry in known.values():
                assert term_name(parse_term(entry.term)) == entry.term
                assert math.isfinite(entry.coefficient)
                assert entry.coefficient != 0

    return check


def targets(folder: Path) -> list[Target]:
    """Return every target; the readers of files read them in ``folder``."""
    (folder / "systems").mkdir()
    reference, config = ROOT / "data" / "reference", ROOT / "config"
    head = b"table,system,algorithm,criterion,snr_db,metric,term,value\n"
    values = (reference / "published_tables.csv").read_bytes().splitlines(keepends=True)
    few = head + b"".join(line for line in values if line.startswith(b"fitness_S1,S1,upso2d,bic,50,"))
    only_s1 = folder / "values.csv"
    only_s1.write_bytes(few)
    terms = (reference / "system_terms.csv").read_bytes().splitlines(keepends=True)
    systems = [path.read_bytes() for path in sorted((config / "systems").glob("*.yaml"))]
    equations = [load_system(f"S{i}").equation.encode() for i in range(1, 5)]
    whole, quick = (config / "config.yaml").read_bytes(), (config / "quick.yaml").read_bytes()
    files = {name: folder / name for name in ("m.yaml", "c.yaml", "r.yaml", "d.csv", "run.json", "v.csv", "t.csv")} | {
        "system": folder / "systems" / "F.yaml"
    }
    # The command line is no file, but the last of the sources.
    config_files = (files["c.yaml"], Path("config/readings.yaml"), Path(narxbench.config.COMMAND_LINE))
    return [
        Target("term", 250, TERMS, check_term),
        Target("equation", 250, [*equations, *EQUATIONS], check_equation),
        Target("criterion", 50, [b"bic", b"aic-2", b"aic-6.5", b"aic-1e3"], check_criterion),
        Target("signals", 120, SIGNALS, _signals(files["d.csv"]), (files["d.csv"],)),
        Target("run file", 100, RUN_FILES, _run(files["run.json"]), (files["run.json"],)),
        Target("published values", 80, [few, head + values[-1]], _values(files["v.csv"]), (files["v.csv"],)),
        Target(
            "system terms",
            80,
            [b"".join(terms), b"".join(terms[:5])],
            _terms(files["t.csv"], only_s1),
            (files["t.csv"], only_s1),
        ),
        Target("YAML", 40, [*systems, quick, *YAML], _mapping(files["m.yaml"]), (files["m.yaml"],)),
        Target("system file", 20, systems, _system(files["system"]), (files["system"],)),
        Target("configuration", 9, [quick, *OVERLAYS], _config(files["c.yaml"]), config_files),
        Target("whole configuration", 1, [whole], _config(files["c.yaml"]), config_files),
        Target(
            "readings", 1, [(config / "readings.yaml").read_bytes()], _readings(files["r.yaml"]), (files["r.yaml"],)
        ),
    ]


TERMS = [b"1", b"y(k-1)", b"u(k-2)^2", b"y(k-1)*u(k-2)", b"u(t-3)**2 y(t-1)", b"y(k-1)*y(k-2)*y(k-3)*u(k-1)^3"]
EQUATIONS = [b"y(k) = 0.5", b"y(t)=-.5u(t-1)**2+1e-3 y(t-1)u(t-2)", "y(k) = − 2*y(k-1)^2 + 3".encode()]
SIGNALS = [
    b"u,y\n0.5,1\n-1e-3,2.5\n",
    b"\xef\xbb\xbfy,t,u\r\n1,0,2\r\n3,1,4\r\n",
    b'"u","y"\n"1","2"\n+.5,-0.0\n\n',
    b"u,y\n" + b"".join(b"%d.25,-%d\n" % (i, i) for i in range(40)),
]
YAML = [
    b"a: &a {x: 1}\nb: {<<: *a, y: 2}\nc: [*a, *a]\n",
    b"a: |\n  text\n  more\nb: >-\n  folded\nc: 'q'\nd: \"\\u00e9\"\n? e\n: f\n",
    b"int: 10\noct: 017\nhex: 0xff\nsex: 190:20:30\nfloat: 1.5e+3\ndate: 2001-12-14t21:59:43.10-05:00\nnone: ~\n",
    b"%YAML 1.1\n---\nset: !!set {a, b}\nbin: !!binary aGk=\nomap: !!omap [a: 1]\n...\n",
    b"a:\n- a\n- b: [c, {d: e}]\n",
]
OVERLAYS = [
    b"systems: [S1, S4]\nsnr_db: [30, 37.5]\nseeds: [1, 5]\nfigures: {snr_db: 30}\n",
    b"searches:\n  ga: null\n  mine: {algorithm: ga, criteria: [bic], settings: {population_size: 10}}\n",
    b"data: {excitation: {kind: gaussian, sd: 0.5}, noise: equation, samples: 500, validation_samples: 100}\n",
    b"reading: cited-source\nevaluations: 900\nstatistics: {threshold: 0.5}\n",
    b"data:\n  excitation: {kind: recorded, file: x.csv}\n",
]
RUN_FILES = [
    b"""{"axes":{"criterion":"bic","search":"ga","seed":1,"snr_db":"30","system":"S1"},"algorithm":"ga",
"settings":{"population_size":80,"nested":{"a":[1,2.5,null,true]}},"problem":{"n_u":5,"n_y":5,"degree":2,"n_terms":66,
"n_validation":600,"estimation":"before_validation","error":"free_run"},"data_sha256":"00ff",
"versions":{"python":"3.11"},"evaluations":6000,"fitness":-1234.5,"sse":0.25,
"terms":["y(k-1)","u(k-1)^2"],"coefficients":[0.5,-1e-3],"history":{"evaluations":[1,80],"fitness":[3,-1234.5]}}""",
    b"""{"axes":{"criterion":"bic","search":"ga","seed":1,"snr_db":"30","system":"S1"},"algorithm":"ga","settings":{},
"problem":{"n_u":5,"n_y":5,"degree":2,"n_terms":66,"n_validation":600,"estimation":"before_validation",
"error":"free_run"},"data_sha256":"","versions":{},"evaluations":0,"fitness":null,"sse":null,"terms":[],
"coefficients":[],"history":{"evaluations":[],"fitness":[]}}""",
]
