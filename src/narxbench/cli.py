"""The command ``narxbench``."""

import argparse
import json
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from narxbench.io.errors import FieldError, NarxbenchError, did_you_mean, printable, show
from narxbench.io.extras import require
from narxbench.io.version import __version__
from narxbench.model.noise_models import NOISE_NAMES

if TYPE_CHECKING:
    from narxbench.identification.result import Identification
    from narxbench.identification.search.scan import Scan
    from narxbench.identification.search.steps import Progress

# Each command imports what it needs when it runs: --help shall come at once.
_EXAMPLES = """examples:
  narxbench identify data.csv --input u --output y --test 20%
  narxbench identify day1.csv day2.csv --input 2,3 --output 4 --test day3.csv --report report
  narxbench identify pairs.csv --input uEst --output yEst --test-input uVal --test-output yVal
  narxbench identify data.csv --input valve,heat --output temp --u-lags 'valve=1-4;heat=0,2' --json
"""


class _Option(NamedTuple):
    """An option whose value is a setting of an identification."""

    metavar: str
    read: Callable[[str], Any]
    about: str


# What is no value of a setting goes on as the text that it is, for the settings say what is allowed.
def _plain(text: str) -> Any:
    """Return a number, or true or false, or else the text."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text, text)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _by_input(text: str) -> Any:
    """Return ``a=1-4;b=2`` as {"a": "1-4", "b": "2"}."""
    parts = [part.rpartition("=") for part in text.split(";")]
    return {name.strip(): lags.strip() for name, _, lags in parts} if "=" in text else text


_LAGS = "auto, 3 for the lags 1 to 3, or a list such as 1-4,8"
# By setting; an option has ``-`` for ``_``.
_CANDIDATES = {
    "decimation": _Option("N", str, "samples of the data in one step of the model: auto, 9, or a list such as 1,4,9"),
    "degree": _Option("N", str, "largest degree of a term: auto, 3, or a list such as 1-3"),
    "y_lags": _Option("LAGS", str, f"lags of the output, in steps: {_LAGS}"),
    "u_lags": _Option(
        "LAGS", _by_input, f"lags of the inputs, in steps: {_LAGS}; 0: the current one; by input: 'valve=1-4;heat=0,2'"
    ),
    "delay": _Option("N", _plain, "smallest lag of the inputs, in samples of the data: auto, or a whole number"),
    "include": _Option("TERMS", _names, "further candidate terms, such as 'u(k)^2,y(k-1)*u(k-9)'; may be repeated"),
    "exclude": _Option("TERMS", _names, "terms, or patterns such as '*u(k-1)*', to leave out; may be repeated"),
    "centre": _Option("WORD", _plain, "whether signals are centred and scaled: auto, true, false (default: false)"),
}
_SEARCH = {
    "method": _Option("NAME", str, "search algorithm, a module of narxbench.algorithms (default: multistart)"),
    "criterion": _Option("NAME", str, "criterion of the fitness, such as bic, aic-2, aicc (default: bic)"),
    "error": _Option("KIND", str, "error that the fitness has: auto, free_run, one_step (default: auto)"),
    "seed": _Option("N", _plain, "where random draws begin (default: 1)"),
    "seeds": _Option("N", _plain, "searches of each configuration (default: 4)"),
    "blocks": _Option("N", _plain, "parts of the data that take turns in selection (default: 8)"),
    "selection": _Option("WORD", str, "what counts of the errors over these parts: mean, worst (default: mean)"),
    "resamples": _Option(
        "N", _plain, "resampled data sets, to see how sure each term is whatever the noise (default: 0)"
    ),
    "noise": _Option("HOW", str, f"what the noise is: auto, {', '.join(NOISE_NAMES)} (default: auto)"),
    "effort": _Option("SECONDS", _plain, "what the search is planned for (default: 20)"),
}
_OPTIONS = {**_CANDIDATES, **_SEARCH}
# What an identification also takes.
_READING = (
    *("input", "output", "time", "test", "test_input", "test_output"),
    *("sampling_time", "separator", "decimal", "header"),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"narxbench: {printable(message, 1000)}; {self.prog} --help tells more\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with some words, or those of the program.

    The exit code is 0, 1 if a check has failed, or 2 for a mistake, with one line.
    """
    parser = _Parser(prog="narxbench", description="Structure selection of polynomial NARX models.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_identify(commands)
    _add_refit(commands)
    _add_compare(commands)
    checking = _command(commands, "check-algorithm", "check what every algorithm must do")
    checking.add_argument("name", metavar="NAME", help="of a module of narxbench.algorithms, or of an entry point")
    given, unknown = parser.parse_known_args(arguments)
    if unknown:
        command = commands.choices[given.command]
        hint = did_you_mean(unknown[0].partition("=")[0], re.findall("--[a-z-]+", command.format_help()))
        command.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    try:
        if sys.stdout is None:
            raise NarxbenchError("standard output: found closed; allowed: open, or >/dev/null")
        match given.command:
            case "identify":
                _identify(given)
            case "refit":
                _refit(given)
            case "compare":
                _compare(given)
            case _:
                return _check_algorithm(given.name)
        return 0
    except FieldError as error:
        problem = ": ".join(filter(None, (error.source, _flag(error.field), error.text)))
    except NarxbenchError as error:
        # What an identification plans is named as in a study.
        problem = str(error).removeprefix("identification.")
    except MemoryError:
        problem = "not enough memory; needed: fewer samples or candidate terms"
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever reads has seen enough.
        _abandon_output()
        return 1
    print(f"narxbench: {problem}", file=sys.stderr)
    return 2


def _command(commands: Any, name: str, about: str, **more: Any) -> Any:
    return commands.add_parser(name, help=about, description=f"{about.capitalize()}.", **more)


def _check_algorithm(name: str) -> int:
    from narxbench.algorithms.conformance import check

    failed = 0
    for checked in check(name):
        failed += not checked.passed
        _print(f"{'passed' if checked.passed else 'FAILED'}  {checked.name}: {checked.text}\n")
    _print(f"{name}: {f'{failed} failed' if failed else 'all checks passed'}\n")
    return 1 if failed else 0


def _add_identify(commands: Any) -> None:
    about = "identify a model from measured data"
    parser = commands.add_parser(
        "identify",
        help=about,
        description=f"{about.capitalize()}, and tell how far to trust it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    data = parser.add_argument_group("data")
    data.add_argument("files", nargs="+", metavar="FILE", help="text with columns of numbers; each is an experiment")
    _add_columns(data, outputs=True, without="the model has none")
    about = "with several outputs: the others are inputs of each, as measured, also in a free run"
    data.add_argument("--other-outputs", action="store_true", help=about)
    about = "files that are for the test alone, or a share such as 20%%: the last part of each record"
    data.add_argument("--test", action="append", metavar="FILE", help=f"{about}; may be repeated")
    about = "the output of the test, where it is another column; without --test it stands in the same files"
    data.add_argument("--test-output", metavar="COLUMN", help=about)
    data.add_argument("--test-input", metavar="COLUMNS", help="the inputs of the test, likewise")
    for title, options in (("candidate terms", _CANDIDATES), ("search", _SEARCH)):
        group = parser.add_argument_group(title)
        for name, option in options.items():
            several = {"action": "append"} if option.read is _names else {}
            group.add_argument(f"--{name.replace('_', '-')}", metavar=option.metavar, help=option.about, **several)
        if options is _SEARCH:
            about = "any other setting, its value as YAML: --set confidence=0.9 --set 'roles={day2.csv: selection}'"
            group.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=about)
    results = parser.add_argument_group("results")
    about = "identify N times, each with the next seed, and report the spread (default: 1)"
    results.add_argument("--repeat", default="1", metavar="N", help=about)
    results.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    results.add_argument("--report", metavar="FOLDER", help="write the page, the model and its code into a folder")


def _progress_line() -> "Callable[[Progress | None], None]":
    """Return what writes how far the search is into one line of a terminal, over what was there; None clears it."""
    began = time.monotonic()

    def show(progress: "Progress | None") -> None:
        if sys.stderr is None or not sys.stderr.isatty():
            return
        text = ""
        if progress is not None:
            elapsed = time.monotonic() - began
            best = f"; best: error {progress.rrse:.3g}, {progress.terms} terms" if progress.rrse is not None else ""
            text = f"{progress.step} {progress.done}/{progress.planned}{best}"
            text += f"; {elapsed / progress.share - elapsed:.0f} s left (Ctrl-C: stop)"
        sys.stderr.write(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}")
        sys.stderr.flush()

    return show


def _add_columns(data: Any, *, outputs: bool, without: str) -> None:
    """Add the options of reading that every command with data has; one or more outputs may be wanted."""
    about, wanted = "the output; a column is its name, or its number from 1 on", dict[str, Any]()
    if outputs:
        about, wanted = f"{about}; may be repeated, for a model of each", {"action": "append", "required": True}
    data.add_argument("--output", metavar="COLUMN", help=about, **wanted)
    data.add_argument("--input", metavar="COLUMNS", help=f"the inputs, as in u, 2,3 or 'u,abs(u)'; without, {without}")
    data.add_argument("--time", metavar="COLUMN", help="the time; none: no column is (default: one named so)")
    data.add_argument("--sampling-time", metavar="SECONDS", help="between samples (default: from the time)")
    data.add_argument("--separator", metavar="CHARACTER", help="',', ';', tab or blank (default: found)")
    data.add_argument("--decimal", metavar="CHARACTER", help="the decimal mark, '.' or ',' (default: found)")
    about = "whether the first line names the columns (default: found)"
    data.add_argument("--header", action=argparse.BooleanOptionalAction, help=about)


def _identify(given: argparse.Namespace) -> None:
    from narxbench.identification.data.reading import read_recording
    from narxbench.identification.identify import repeated
    from narxbench.identification.outputs import readings
    from narxbench.identification.search.steps import THREADS
    from narxbench.identification.settings import IdentificationSettings
    from narxbench.io.settings import SettingsError, place, validated
    from narxbench.pipeline.estimate import measured_estimate, refuse
    from narxbench.report.findings import as_json
    from narxbench.report.model_summary import summary_lines

    if given.report is not None:
        if os.path.exists(given.report) and not os.path.isdir(given.report):
            raise NarxbenchError(f"--report: found the file {show(given.report, kind=False)}; allowed: a folder")
        require("report", "--report")
    arguments = _arguments(given)
    reading = {name: arguments.pop(name) for name in (*_READING, "roles", "units") if name in arguments}
    try:
        settings = validated(IdentificationSettings, arguments, "")
    except SettingsError as error:
        lines = [f"{_flag(str(path[0]))} {place(path[1:])}".rstrip() + f": {text}" for path, text in error.problems]
        raise NarxbenchError("; ".join(lines)) from None
    # A single output has no name.
    one = len(given.output) == 1 and not given.other_outputs
    each = {"": {**reading, "output": given.output[0]}} if one else readings(reading, given.other_outputs)
    found, times, show_progress = {}, _plain(given.repeat), _progress_line()

    def affordable(scan: "Scan") -> None:
        refuse(measured_estimate(scan), cores=THREADS)

    # A mistake in any of the outputs is told before the first search.
    for name, recording in {name: read_recording(given.files, **own) for name, own in each.items()}.items():
        try:
            # An algorithm of the user's may print; what overflows is reported in words.
            with redirect_stdout(sys.stderr), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                found[name] = repeated(recording, settings, times, affordable, show_progress)
        finally:
            show_progress(None)
        if not given.json:
            lines = summary_lines(found[name], report=given.report is not None)
            _print("".join(f"{line}\n" for line in (*lines, *([] if one else [""]))))
    if given.json:
        objects = {name: as_json(of) for name, of in found.items()}
        _print(f"{json.dumps(objects[''] if one else objects, indent=1, allow_nan=False)}\n")
    if given.report is not None:
        _report(given, found)


def _report(given: argparse.Namespace, each: "Mapping[str, Identification]") -> None:
    """Write a page into the folder of a report, or one for each output into a folder of its own there."""
    from narxbench.report.model_page import write_report

    for number, (name, found) in enumerate(each.items(), 1):
        own = f"{number}-" + re.sub(r"[^\w.-]+", "_", name)[:80] if name else ""
        page = f"The page is {printable(str(write_report(found, os.path.join(given.report, own))), 1000)}\n"
        if given.json:
            sys.stderr.write(page)
        else:
            _print(page)


def _add_refit(commands: Any) -> None:
    parser = _command(commands, "refit", "estimate the weights of a model again, from other data", allow_abbrev=False)
    parser.add_argument("model", metavar="MODEL", help="a file that Model.save or --report wrote")
    parser.add_argument("files", nargs="+", metavar="FILE", help="text with columns of numbers; each is an experiment")
    parser.add_argument("-o", dest="new", required=True, metavar="NEW", help="the file of the new model")
    _add_columns(parser, outputs=False, without="those of the model")


def _refit(given: argparse.Namespace) -> None:
    from narxbench.identification.trust.refit import refit
    from narxbench.model.narx import Model

    model = refit(Model.load(given.model), given.files, **_reading(given))
    model.save(given.new)
    _print(f"{model.equation()}\n")


def _add_compare(commands: Any) -> None:
    parser = _command(commands, "compare", "compare the errors of several models on the same data", allow_abbrev=False)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="a file that Model.save or --report wrote")
    parser.add_argument("--data", required=True, action="append", metavar="FILE", help="the data; may be repeated")
    _add_columns(parser, outputs=False, without="those of the models")
    parser.add_argument("--report", metavar="PAGE", help="also write a page with the errors and the free runs")


def _compare(given: argparse.Namespace) -> None:
    from narxbench.model.narx import Model
    from narxbench.report.comparison import as_text, compare

    if given.report is not None:
        require("report", "--report")
    names = [os.path.basename(file) for file in given.models]
    short = len(set(names)) == len(names)
    models = {name if short else file: Model.load(file) for name, file in zip(names, given.models, strict=True)}
    _print(f"{as_text(compare(models, given.data, **_reading(given)))}\n")
    if given.report is not None:
        from narxbench.report.comparison_page import write_comparison

        write_comparison(models, given.report, given.data, **_reading(given))
        _print(f"The page is {printable(given.report, 1000)}\n")


def _print(text: str) -> None:
    """Print text, with a question mark for what the terminal has no sign for."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _abandon_output()
        raise NarxbenchError(f"standard output: cannot be written: {error.strerror}; needed: room for it") from None


def _abandon_output() -> None:
    # Else Python would try again at its end, and fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _arguments(given: argparse.Namespace) -> dict[str, Any]:
    """Return what was given as :func:`narxbench.identification.identify.identify` takes it."""
    from narxbench.identification.settings import IdentificationSettings
    from narxbench.io.yaml import read_value

    found = _reading(given)
    if given.test and len(given.test) == 1:
        (found["test"],) = given.test
    for name, option in _OPTIONS.items():
        value = getattr(given, name)
        if isinstance(value, list):
            found[name] = [each for text in value for each in option.read(text)]
        elif value is not None:
            found[name] = option.read(value)
    allowed = [*IdentificationSettings.model_fields, "roles", "units"]
    for text in given.set:
        name, equals, value = text.partition("=")
        if not equals or name not in allowed:
            what = show(name, kind=False) if equals else f"{show(text, kind=False)} without ="
            known = f"KEY=VALUE with {', '.join(allowed)}"
            raise NarxbenchError(f"--set: found {what}; allowed: {known}{did_you_mean(name, allowed)}")
        if name in found:
            raise NarxbenchError(f"--set: found {name} twice; allowed: once, here or as an option")
        found[name] = read_value(value, f"--set {name}")
    return found


def _reading(given: argparse.Namespace) -> dict[str, Any]:
    """Return what was given of how to read data."""
    found = {name: getattr(given, name) for name in _READING if getattr(given, name, None) is not None}
    if given.time == "none":
        found["time"] = False
    if given.sampling_time is not None:
        with suppress(ValueError):
            found["sampling_time"] = float(given.sampling_time)
    return found


def _flag(field: str) -> str:
    """Return the option that a setting, or an argument of reading, is given by."""
    if field == "data":
        return "FILE"
    return f"--{field.replace('_', '-')}" if field in (*_OPTIONS, *_READING, "repeat") else f"--set {field}"


if __name__ == "__main__":
    sys.exit(main())
