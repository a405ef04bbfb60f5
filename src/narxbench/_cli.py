"""The command ``narxbench``.

The module is long because its subcommands share the options of reading and the ways to end with one line.
"""

import argparse
import json
import os
import re
import shlex
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from narxbench._identification.options import FORMER, FORMER_READING, Schema, help_text, schemas, value_kind
from narxbench._io.errors import FieldError, NarxbenchError, did_you_mean, lacks_memory, printable, show
from narxbench._io.extras import require
from narxbench._io.interruptions import interruptible
from narxbench._io.version import __version__
from narxbench._report.status_line import StatusLine, is_terminal

if TYPE_CHECKING:
    import pandas as pd

    from narxbench._identification.data.reading import Reading
    from narxbench._identification.result import Identification
    from narxbench._identification.search.plan import SearchPlan
    from narxbench._identification.search.steps import SearchProgress
    from narxbench._identification.settings import IdentificationSettings
    from narxbench._model.narx import Model
    from narxbench._model.records import Recording

T = TypeVar("T")

# Each command imports what it needs when it runs, so that --help comes at once.
_IDENTIFY_EXAMPLES = """\
narxbench identify data.csv --input u --output y --test 20%
narxbench identify day1.csv day2.csv --input 2,3 --output 4 --test day3.csv --report report
narxbench identify pairs.csv --input uEst --output yEst --test-input uVal --test-output yVal
narxbench identify data.csv --input valve,heat --output temp --u-lags 'valve=1-4;heat=0,2' --json
"""
_LOOK_EXAMPLES = """\
narxbench look data.csv
narxbench look data.csv --input u --output y --test 20%
narxbench look day1.csv day2.csv --input 2,3 --output 4 --report look.html
"""
_PREDICT_EXAMPLES = """\
narxbench predict report/model.json new.csv -o predicted.csv
narxbench predict report/model.json new.csv --steps 5
narxbench predict report/model.json planned.csv --initial 3.2,3.1
narxbench predict report/identification.json new.csv --competitor 'linear ARX'
"""
_REFIT_EXAMPLES = """\
narxbench refit report/model.json new.csv -o refitted.json
narxbench refit report/model.json data.csv new.csv -o refitted.json
narxbench refit report/identification.json new.csv --competitor 'linear ARX' -o arx.json
"""
_COMPARE_EXAMPLES = """\
narxbench compare report/model.json refitted.json --data new.csv
narxbench compare report/identification.json --competitors --data new.csv
narxbench compare report/model.json refitted.json --data new.csv --report comparison.html
"""
_FORECAST_EXAMPLES = """\
narxbench forecast report/identification.json data.csv --future planned.csv
narxbench forecast report/identification.json data.csv --future planned.csv --steps 5 --confidence 0.5
narxbench forecast report/model.json data.csv --future planned.csv -o forecast.csv
"""
_CHECK_EXAMPLES = """\
narxbench check-algorithm stepwise
narxbench check-algorithm pem
narxbench check-algorithm my-search
"""
_MODEL_HELP = "a model or an identification: a file that Model.save, --report or identify --json wrote"
_DATA_HELP = "text with columns of numbers; each is an experiment"
# Options of reading that may be repeated, and options of commands with a test.
_REPEATED = ("input", "test", "test_input", "read")
_TEST_OPTIONS = ("test", "test_output", "test_input", "roles")
# A hint for a word that is not an option and belongs to none.
_ONE_VALUE = " (files are given together; an option has one value, and is repeated for further ones)"
_STATUS = StatusLine()
# Green, yellow and red, in bold.
_COLOURED = {"FINE": "\x1b[1;32mFINE\x1b[m", "LOOK": "\x1b[1;33mLOOK\x1b[m", "BAD": "\x1b[1;31mBAD\x1b[m"}


class _Once(argparse.Action):
    """An option that may be given only once, because the first of two values would be lost silently."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if option_string is not None and getattr(namespace, self.dest) is not self.default:
            parser.error(f"{option_string}: found twice; allowed: once")
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.register("action", None, _Once)
        self.register("action", "store", _Once)

    def error(self, message: str) -> NoReturn:
        raise NarxbenchError(f"{printable(message, 1000)}; {self.prog} --help tells more")


def main(arguments: Sequence[str] | None = None, further_commands: Sequence[Callable[[Any], None]] = ()) -> int:
    """Run the command with the given words, by default from the command line, and return its exit code.

    The exit code is 0, 1 if a check has failed or the reader of the output has gone, or 2 for a mistake, which is
    reported in one line. After a signal it is 128 plus the number of the signal. Packages above this one add
    ``further_commands``, each by a function that calls ``add_command``.
    """
    try:
        options = _parsed(arguments, further_commands)
        if sys.stdout is None:
            raise NarxbenchError("standard output: found closed; allowed: open, or >/dev/null")
        with _sigterm_as_ctrl_c(), interruptible(), _STATUS.shown(options.first_activity):
            return options.run(options) or 0
    except FieldError as error:
        flag = _flag(error.field)
        # A proposal can be pasted: missing=-200, read decimal=,.
        text = re.sub(rf"(?<![\w-]){error.field}(?==| [a-z]+=)", flag, error.text)
        mistake = ": ".join(filter(None, (error.source, flag, text)))
    except NarxbenchError as error:
        # What an identification plans is named as in a study.
        mistake = str(error).removeprefix("identification.")
    except KeyboardInterrupt as end:
        return 128 + (signal.SIGTERM if end.args else signal.SIGINT)
    except BrokenPipeError:
        # The reader has seen enough.
        _abandon_output()
        return 1
    except (MemoryError, ImportError, OSError) as error:
        if not lacks_memory(error):
            raise
        mistake = "not enough memory; needed: fewer samples or candidate terms"
    print(f"narxbench: {mistake}", file=sys.stderr)
    return 2


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM, which batch systems and shutdowns send, like Ctrl-C: the best model so far is kept."""

    def stop(*_: Any) -> NoReturn:
        raise KeyboardInterrupt(signal.SIGTERM)

    try:
        previous_handler = signal.signal(signal.SIGTERM, stop)
    except ValueError:
        # Only the main thread of a program may say what a signal does.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler or signal.SIG_DFL)


def _parsed(arguments: Sequence[str] | None, further_commands: Sequence[Callable[[Any], None]]) -> argparse.Namespace:
    """Return the options of a command."""
    parser = _Parser(prog="narxbench", description="Structure selection of polynomial NARX models.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_look(commands)
    _add_identify(commands)
    _add_predict(commands)
    _add_refit(commands)
    _add_compare(commands)
    _add_forecast(commands)
    for add_further_command in further_commands:
        add_further_command(commands)
    _add_check_algorithm(commands)
    options, unknown_words = parser.parse_known_args(arguments)
    if unknown_words:
        command, hint = commands.choices[options.command], _ONE_VALUE
        if unknown_words[0].startswith("-"):
            known_options = re.findall("--[a-z-]+", command.format_help())
            option = unknown_words[0].partition("=")[0]
            hint = did_you_mean(option, known_options)
            hint = _instead_of(option.removeprefix("--").replace("-", "_")) or hint
        command.error(f"unrecognized arguments: {' '.join(unknown_words)}{hint}")
    return options


def _instead_of(former: str) -> str:
    """Return in brackets what replaces a former option, or an empty text for any other word."""
    # An option of two words, of which the first one negates.
    name = former.removeprefix("no_")
    if name in FORMER_READING:
        key, example = FORMER_READING[name]
        return f" (now --read {key}={'none' if name != former else shlex.quote(str(example))})"
    return f" (gone: {FORMER[name]})" if name in FORMER else ""


def add_command(
    commands: Any,
    name: str,
    purpose: str,
    examples: str,
    run: Callable[[argparse.Namespace], int | None],
    first_activity: str = "reading the files",
) -> argparse.ArgumentParser:
    """Add a command and return its parser.

    The help ends with the examples. The command runs by calling ``run``, which returns an exit code if it is not 0. The
    status line begins with the first activity.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose.capitalize()}.",
        epilog="examples:\n" + textwrap.indent(examples, "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, first_activity=first_activity)
    return parser


def _add_check_algorithm(commands: Any) -> None:
    purpose, activity = "check what every algorithm must do", "checking the algorithm"
    parser = add_command(commands, "check-algorithm", purpose, _CHECK_EXAMPLES, _check_algorithm, activity)
    parser.add_argument("name", metavar="NAME", help="of an algorithm of narxbench, or of a plug-in")


def _check_algorithm(options: argparse.Namespace) -> int:
    from narxbench._algorithms.conformance import check

    name, n_failed = options.name, 0
    for title, passed, text in check(name):
        verdict = "passed"
        if not passed:
            verdict = "FAILED"
            n_failed += 1
        print_text(f"{verdict}  {title}: {text}\n")
    if n_failed:
        print_text(f"{name}: {n_failed} failed\n")
        return 1
    print_text(f"{name}: all checks passed\n")
    return 0


def _add_look(commands: Any) -> None:
    purpose = "look at measured data: ranges, spectra, checks, what they can identify"
    parser = add_command(commands, "look", purpose, _LOOK_EXAMPLES, _look, "reading the data")
    data = parser.add_argument_group("data")
    data.add_argument("files", nargs="+", metavar="FILE", help=_DATA_HELP)
    _add_output(data, "(default: none, all columns by themselves)")
    _add_reading_options(data)
    _add_test_options(data)
    results = parser.add_argument_group("results")
    results.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    results.add_argument("--report", metavar="PAGE", help="also write a page with plots")


def _look(options: argparse.Namespace) -> None:
    from narxbench._identification.data.look import look
    from narxbench._report.look_words import look_lines

    if options.report is not None:
        require("report", "--report")
    data = look(options.files, **_reading(options))
    if options.json:
        print_text(f"{json.dumps(data.to_dict(), indent=1, allow_nan=False)}\n")
    else:
        _print_findings(look_lines(data))
    if options.report is not None:
        from narxbench._report.look_page import write_look

        _STATUS.begin("drawing the page")
        write_look(data, options.report)
        _say_where_page_is(options.report, options)


def _say_where_page_is(page: str, options: argparse.Namespace) -> None:
    message = _where("page", page)
    if options.json:
        _report(message)
    else:
        print_text(message)


def _where(kind: str, path: str) -> str:
    """Return a line that says where something was written."""
    return f"The {kind} is {printable(path, 1000)}\n"


def _add_identify(commands: Any) -> None:
    purpose = "identify a model from measured data"
    parser = add_command(commands, "identify", purpose, _IDENTIFY_EXAMPLES, _identify, "reading the data")
    parser.description = "Identify a model from measured data, and say how far to trust it."
    data = parser.add_argument_group("data")
    data.add_argument("files", nargs="+", metavar="FILE", help="text with columns of numbers; each is an experiment")
    data.add_argument(
        "--output",
        metavar="COLUMN",
        action="append",
        required=True,
        help="the output, a column by its name or its number from 1 on; may be repeated, for a model of each",
    )
    _add_reading_options(data)
    data.add_argument(
        "--joint",
        action="store_true",
        help="with several outputs: models that run together, each with the others' outputs of the same run",
    )
    _add_test_options(data)
    groups: dict[str, Any] = {}
    for name, schema in schemas()["settings"].items():
        group = schema["group"]
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        _add_option(groups[group], name, schema)
    results = parser.add_argument_group("results")
    results.add_argument("--json", action="store_true", help="print one JSON object instead of a summary")
    results.add_argument("--report", metavar="FOLDER", help="write the page, the model and its code into a folder")


def _add_reading_options(data: Any, **texts: str) -> None:
    """Add the options for reading data, with ``texts`` instead of some defaults in their help."""
    for name, schema in schemas()["reading"].items():
        if name not in ("output", *_TEST_OPTIONS):
            _add_option(data, name, {**schema, "without": texts.get(name, schema.get("without"))})


def _add_test_options(data: Any) -> None:
    for name in _TEST_OPTIONS:
        _add_option(data, name, schemas()["reading"][name])


def _add_option(group: Any, name: str, schema: Schema) -> None:
    """Add the option of a setting, or of an argument of reading."""
    kind, action, help_ = value_kind(schema), "store", help_text(schema)
    if name in _REPEATED:
        kind, action, help_ = "text", "append", f"{help_}; may be repeated"
    elif kind == "names":
        action = "extend"
    group.add_argument(_flag_of(name), metavar=schema["metavar"], help=help_, action=action, type=_VALUE_OF[kind])


def _identify(options: argparse.Namespace) -> None:
    from narxbench._identification.data.reading import read_recording

    if options.report is not None:
        _check_report_folder(options.report)
    settings, reading = _settings_and_reading(options)
    if options.joint:
        _identify_jointly(settings, reading, options)
        return
    # A mistake in any of the outputs is reported before the first search.
    recordings: dict[str, Recording] = {}
    for output, reading_of_output in _reading_by_output(reading, options).items():
        recordings[output] = read_recording(options.files, **reading_of_output)
    identifications: dict[str, Identification] = {}
    folders = _report_folders(list(recordings), options.report)
    data_pages: dict[str, str] = {}
    for output, recording in recordings.items():
        if options.report is not None:
            data_pages[output] = _data_page(recording, folders[output])
        identifications[output] = _identify_quietly(recording, settings)
        if not options.json:
            _print_summary(output, identifications[output], options)
    if options.json:
        _print_json(identifications)
    if options.report is not None:
        _write_reports(identifications, data_pages, options)


def _check_report_folder(path: str) -> None:
    if os.path.exists(path) and not os.path.isdir(path):
        raise NarxbenchError(f"--report: found the file {show(path, kind=False)}; allowed: a folder")
    require("report", "--report")


def _identify_jointly(settings: "IdentificationSettings", reading: "Reading", options: argparse.Namespace) -> None:
    """Identify models of several outputs that run together."""
    from narxbench._identification.joint import identify_jointly, read_jointly
    from narxbench._report.joint_summary import joint_summary_lines

    data = read_jointly(options.files, {**reading, "output": options.output})
    identification = _run_quietly(lambda check, progress: identify_jointly(data, settings, check, progress))
    if options.json:
        print_text(f"{json.dumps(identification.to_dict(), indent=1, allow_nan=False)}\n")
    else:
        _print_findings(joint_summary_lines(identification))
    if options.report is not None:
        from narxbench._report.joint_page import write_joint_report

        _STATUS.begin("drawing the report")
        _say_where_page_is(str(write_joint_report(identification, options.report)), options)


def _identify_quietly(recording: "Recording", settings: "IdentificationSettings") -> "Identification":
    from narxbench._identification.identify import identify_recording

    return _run_quietly(lambda check, progress: identify_recording(recording, settings, check, progress))


def _run_quietly(
    identify: "Callable[[Callable[[SearchPlan], None], Callable[[SearchProgress], None]], T]",
) -> "T":
    """Identify a model, show the progress in a line of the terminal, and keep standard output clean."""
    from narxbench._identification.search.plan import memory_uses
    from narxbench._identification.search.steps import THREADS
    from narxbench._io.resources import refuse

    def check_cost(plan: "SearchPlan") -> None:
        refuse(memory_uses(plan), cores=THREADS)
        _print_what_is_not_shown(plan)

    _STATUS.begin("preparing the search")
    # What overflows is reported in words.
    with redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return identify(check_cost, _STATUS.show_progress)


def _print_what_is_not_shown(plan: "SearchPlan") -> None:
    """Report before the search what the data cannot show and the search therefore excludes."""
    from narxbench._identification.data.checks import evidence_check
    from narxbench._report.findings import for_shell

    finding = evidence_check(plan.evidence)
    if finding.status != "fine" and sys.stderr is not None:
        title = f"{finding.title[:1].lower()}{finding.title[1:]}"
        _report(f"narxbench: {title}: {for_shell(f'{finding.text} {finding.advice}')}\n")


def _print_summary(output: str, identification: "Identification", options: argparse.Namespace) -> None:
    """Print the summary of a model, followed by an empty line if there are several outputs."""
    from narxbench._report.model_summary import summary_lines

    lines = summary_lines(identification, report=options.report is not None)
    if output:
        lines = [*lines, ""]
    _print_findings(lines)


def _print_json(identifications: "Mapping[str, Identification]") -> None:
    """Print the JSON object of a single output, or an object with one entry for each output."""
    objects = {output: identification.to_dict() for output, identification in identifications.items()}
    printed = objects.get("", objects)
    print_text(f"{json.dumps(printed, indent=1, allow_nan=False)}\n")


def _write_reports(
    identifications: "Mapping[str, Identification]", data_pages: Mapping[str, str], options: argparse.Namespace
) -> None:
    """Write the report of a single output into the folder, or the report of each output into a subfolder."""
    from narxbench._report.model_page import write_report

    _STATUS.begin("drawing the report")
    folders = _report_folders(list(identifications), options.report)
    for output, identification in identifications.items():
        page = write_report(identification, folders[output], data_pages[output])
        _say_where_page_is(str(page), options)


def _report_folders(outputs: Sequence[str], folder: str | None) -> dict[str, str]:
    """Return the folder for the report of each output: the user's folder, or subfolders of it for several outputs."""
    from narxbench._io.files import numbered_folder

    folders = {}
    for number, output in enumerate(outputs, 1):
        folders[output] = folder or ""
        if output:
            folders[output] = os.path.join(folder or "", numbered_folder(number, output))
    return folders


def _data_page(recording: "Recording", folder: str) -> str:
    """Return the first part of a report, a look at the data.

    It is written before the search begins. If the folder has an earlier report, that report is kept whole in case the
    search fails.
    """
    from narxbench._identification.data.look import look_at
    from narxbench._io.files import write_atomically
    from narxbench._report.look_page import look_page
    from narxbench._report.model_page import DATA_PAGE, PAGE

    _STATUS.begin("drawing a look at the data")
    text = look_page(look_at(recording))
    if not os.path.exists(os.path.join(folder, PAGE)):
        page = os.path.join(folder, DATA_PAGE)
        write_atomically(page, text, durable=True)
        _report(f"A look at the data is {printable(page, 1000)}\n")
    return text


def _add_predict(commands: Any) -> None:
    purpose = "predict the output of data with a model, as CSV"
    parser = add_command(commands, "predict", purpose, _PREDICT_EXAMPLES, _predict, "predicting")
    parser.description = (
        "Predict the output of data with a model, as CSV. Where the column of the output ends,\n"
        "perhaps after its first values, the run goes on as far as the inputs do."
    )
    _add_model(parser)
    parser.add_argument("files", nargs="+", metavar="FILE", help=_DATA_HELP)
    parser.add_argument("-o", dest="table", metavar="TABLE", help="the file to write (default: standard output)")
    parser.add_argument(
        "--steps",
        metavar="N",
        type=_number_or_text,
        help="predict N steps of the model ahead of measured outputs (default: a free run from the first samples)",
    )
    parser.add_argument(
        "--initial",
        metavar="VALUES",
        type=_numbers_or_text,
        help="the first outputs of a planned run, as in 3.2,3.1 or --initial=-1,0, for data with inputs alone",
    )
    _add_output(parser)
    _add_reading_options(parser, input="those of the model")


def _predict(options: argparse.Namespace) -> None:
    from narxbench._report.predictions import predictions

    frame = predictions(_loaded_model(options), options.files, options.steps, options.initial, **_reading(options))
    _print_or_write(frame, options.table)


def _print_or_write(frame: "pd.DataFrame", path: str | None) -> None:
    """Give a table as CSV to the standard output, or to a file."""
    from narxbench._io.csv import write_table
    from narxbench._io.files import write_atomically

    table = write_table(frame)
    if path is None:
        print_text(table)
    else:
        write_atomically(path, table)
        print_text(_where("table", path))


def _add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model that a command works with."""
    parser.add_argument("model", metavar="MODEL", help=_MODEL_HELP)
    parser.add_argument(
        "--competitor", metavar="NAME", help="of an identification: a model that competed, such as 'linear ARX'"
    )


def _loaded_model(options: argparse.Namespace) -> "Model":
    from narxbench._model.loading import load_model

    return load_model(options.model, options.competitor)


def _add_refit(commands: Any) -> None:
    purpose = "estimate the weights of a model again, from other data"
    parser = add_command(commands, "refit", purpose, _REFIT_EXAMPLES, _refit, "estimating the weights")
    _add_model(parser)
    parser.add_argument("files", nargs="+", metavar="FILE", help=_DATA_HELP)
    parser.add_argument("-o", dest="new", required=True, metavar="NEW", help="the file of the new model")
    _add_output(parser)
    _add_reading_options(parser, input="those of the model")


def _refit(options: argparse.Namespace) -> None:
    from narxbench._identification.validation.refit import refit

    model = refit(_loaded_model(options), options.files, **_reading(options))
    model.save(options.new)
    print_text(f"{model.equation()}\n{_where('model', options.new)}")


def _add_compare(commands: Any) -> None:
    purpose = "compare the errors of several models on the same data"
    parser = add_command(commands, "compare", purpose, _COMPARE_EXAMPLES, _compare, "running the models")
    parser.add_argument("models", nargs="+", metavar="MODEL", help=_MODEL_HELP)
    parser.add_argument("--data", required=True, action="append", metavar="FILE", help="the data; may be repeated")
    parser.add_argument(
        "--competitors", action="store_true", help="of identifications: compare the models that competed too"
    )
    _add_output(parser)
    _add_reading_options(parser, input="those of the models")
    parser.add_argument("--report", metavar="PAGE", help="also write a page with the errors and the free runs")


def _add_forecast(commands: Any) -> None:
    purpose = "print the outputs that a model expects after the data, with bands"
    parser = add_command(commands, "forecast", purpose, _FORECAST_EXAMPLES, _forecast, "forecasting")
    _add_model(parser)
    parser.add_argument("files", nargs=1, metavar="FILE", help="the data, whose last outputs the forecast begins with")
    parser.add_argument("--future", metavar="FILE", help="the inputs after the data, in columns of the same names")
    parser.add_argument(
        "--steps", type=_number_or_text, metavar="N", help="samples to forecast (default: as many as --future has)"
    )
    parser.add_argument(
        "--confidence",
        default=0.9,
        type=_number_or_text,
        metavar="SHARE",
        help="of the samples that the band holds: 0.5, 0.8, 0.9, 0.95 or 0.99 (default: 0.9)",
    )
    parser.add_argument("-o", dest="table", metavar="CSV", help="write the table into a file instead")
    _add_output(parser)
    _add_reading_options(parser, input="those of the model")


def _forecast(options: argparse.Namespace) -> None:
    from narxbench._identification.forecast import forecast_after
    from narxbench._identification.validation.forecasts import has_errors
    from narxbench._report.predictions import without_rounding

    model, confidence = _loaded_model(options), options.confidence
    if not has_errors(model):
        confidence = None
        _report("narxbench: no bands: the model is none that identify returned, or was refitted\n")
    try:
        frame, recording = forecast_after(
            model, options.files, options.future, options.steps, confidence, **_reading(options)
        )
    except NarxbenchError as error:
        argument, _, text = str(error).partition(": ")
        flag = {"u_future": "--future", "steps": "--steps", "confidence": "--confidence"}.get(argument)
        if flag is None:
            raise
        raise NarxbenchError(f"{flag}: {text}") from None
    if len(recording.records) > 1:
        record = printable(recording.records[-1].name)
        _report(f"narxbench: the data have gaps; the forecast goes on after {record}\n")
    _print_or_write(frame.set_axis(without_rounding(frame.index)).reset_index(), options.table)


def _add_output(parser: Any, default: str = "(default: that of the model)") -> None:
    """Add the option of the output, for a command that reads a single one."""
    schema = schemas()["reading"]["output"]
    parser.add_argument("--output", metavar=schema["metavar"], help=f"{help_text(schema)} {default}")


def _compare(options: argparse.Namespace) -> None:
    from narxbench._report.comparison import as_text, compare

    if options.report is not None:
        require("report", "--report")
    models = _compared_models(options)
    reading = _reading(options)
    print_text(f"{as_text(compare(models, options.data, **reading))}\n")
    if options.report is not None:
        from narxbench._report.comparison_page import write_comparison

        _STATUS.begin("drawing the page")
        write_comparison(models, options.report, options.data, **reading)
        print_text(_where("page", options.report))


def _compared_models(options: argparse.Namespace) -> "dict[str, Model]":
    """Return the models of all files by name and, with --competitors, the models that they competed with."""
    from narxbench._model.loading import load_competitors, load_model

    names = [os.path.basename(file) for file in options.models]
    if len(set(names)) < len(names):
        names = options.models
    models: dict[str, Model] = {}
    for name, file in zip(names, options.models, strict=True):
        models[name] = load_model(file)
        if options.competitors:
            for competitor, model in load_competitors(file).items():
                models[f"{name}: {competitor}"] = model
    return models


def _print_findings(lines: Sequence[str]) -> None:
    """Print lines, in a terminal with coloured status at their beginning unless NO_COLOR is set."""
    text = "".join(f"{line}\n" for line in lines)
    if is_terminal(sys.stdout) and not os.environ.get("NO_COLOR"):
        text = re.sub(r"^(FINE|LOOK|BAD)(?=  )", lambda status: _COLOURED[status[1]], text, flags=re.MULTILINE)
    print_text(text)


def _report(message: str) -> None:
    """Print a message on standard error."""
    if sys.stderr is not None:
        with _STATUS.hidden():
            sys.stderr.write(message)


def print_text(text: str) -> None:
    """Print text, with a question mark for each character that the terminal cannot show."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        with _STATUS.hidden():
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


# The values of options. Texts that are not values are passed on, because the settings report what is allowed.


def _names(text: str) -> list[str]:
    """Return the names in a text such as ``a,b``."""
    return [name.strip() for name in text.split(",")]


def _number_or_text(text: str) -> Any:
    """Return a number, or true or false, or else the text."""
    for number_type in (int, float):
        with suppress(ValueError):
            return number_type(text)
    return {"true": True, "false": False}.get(text, text)


def _numbers_or_text(text: str) -> Any:
    """Return numbers such as ``3.2,3.1`` as a list, or else the text."""
    with suppress(ValueError):
        return [float(number) for number in text.split(",")]
    return text


def _by_name(text: str) -> Any:
    """Return ``a=1-4;b=2`` as {"a": "1-4", "b": "2"}, and a text without names unchanged."""
    if "=" not in text:
        return text
    values: dict[str, str] = {}
    for part in text.split(";"):
        name, _, value = part.rpartition("=")
        values[name.strip()] = value.strip()
    return values


_VALUE_OF: Mapping[str, Callable[[str], Any]] = {
    "text": str,
    "number": _number_or_text,
    "names": _names,
    "by name": _by_name,
}


# From options to settings, and to how data are read.


def _settings_and_reading(options: argparse.Namespace) -> "tuple[IdentificationSettings, Reading]":
    """Return the settings of an identification and how to read its data, as options give them."""
    from narxbench._identification.settings import IdentificationSettings
    from narxbench._io.settings import SettingsError, place, validated

    reading = _reading(options)
    values = _given_values(options, schemas()["settings"])
    try:
        return validated(IdentificationSettings, values, ""), reading
    except SettingsError as error:
        lines = []
        for path, text in error.mistakes:
            option = f"{_flag(str(path[0]))} {place(path[1:])}".rstrip()
            lines.append(f"{option}: {text}")
        raise NarxbenchError("; ".join(lines)) from None


def _reading(options: argparse.Namespace) -> "Reading":
    """Return how to read data, as options give it."""
    values = _given_values(options, schemas()["reading"])
    for name in values.keys() & {"input", "test_input", "test"}:
        if len(values[name]) == 1:
            # A share is not a list of files, and a single text is searched for as a whole before it is split.
            values[name] = values[name][0]
    if "read" in values:
        values["read"] = _read_options(values["read"])
    return cast("Reading", values)


def _read_options(texts: Sequence[str]) -> dict[str, Any]:
    """Return the options of reading in texts such as ``sep=;``."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name in values:
            finding = f"{name} twice" if equals else f"{show(text, kind=False)} without ="
            raise FieldError("read", f"found {finding}; allowed: KEY=VALUE, each key once")
        values[name] = value
        if name in ("header", "skiprows"):
            values[name] = None if value == "none" else _number_or_text(value)
    return values


def _given_values(options: argparse.Namespace, fields: Iterable[str]) -> dict[str, Any]:
    """Return the values of some fields that have an option which was given."""
    values: dict[str, Any] = {}
    for name in fields:
        value = getattr(options, name, None)
        if value is not None:
            values[name] = value
    return values


def _reading_by_output(reading: "Reading", options: argparse.Namespace) -> "dict[str, Reading]":
    """Return how to read the data of each output, by its name, which is empty for a single output."""
    from narxbench._identification.data.reading import several_outputs

    if len(options.output) == 1:
        return {"": {**reading, "output": options.output[0]}}
    outputs = several_outputs({**reading, "output": options.output})
    return {str(output): {**reading, "output": output} for output in outputs}


def _flag(field: str) -> str:
    """Return the option by which a user gives a setting or an argument of reading."""
    if field == "data":
        return "FILE"
    return _flag_of(field)


def _flag_of(name: str) -> str:
    return f"--{name.replace('_', '-')}"


if __name__ == "__main__":
    sys.exit(main())
