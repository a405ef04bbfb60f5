"""The command ``narxbench``."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from narxbench.algorithms.conformance import check
from narxbench.experiment.exchange import add_results, export_problems
from narxbench.io.errors import NarxbenchError


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"narxbench: {message}; {self.prog} --help tells more\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 if a check has failed, 2 for a mistake, which is told in one line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``narxbench``; None: those that the program was called with.
    """
    parser = _Parser(prog="narxbench", description="Structure selection of polynomial NARX models.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    checking = commands.add_parser(
        "check-algorithm", help="check what every algorithm must do", description="Check what every algorithm must do."
    )
    checking.add_argument("name", metavar="NAME", help="of a module of narxbench.algorithms, or of an entry point")
    about = "write the problems of the comparison of methods as files, for programs of others"
    exporting = commands.add_parser("export-problems", help=about, description=f"{about.capitalize()}.")
    exporting.add_argument("folder", metavar="FOLDER", help="a folder that is new or empty")
    about = "check a result file of another program, and add it to the comparison of methods"
    adding = commands.add_parser("add-results", help=about, description=f"{about.capitalize()}.")
    adding.add_argument("file", metavar="FILE", help="a result file, see docs/contributing_results.md")
    given = parser.parse_args(arguments)
    try:
        match given.command:
            case "export-problems":
                print(export_problems(given.folder))
            case "add-results":
                print(add_results(given.file))
            case _:
                return _check_algorithm(given.name)
        return 0
    except NarxbenchError as error:
        print(f"narxbench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever reads has seen enough; nothing more can be written at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _check_algorithm(name: str) -> int:
    failed = 0
    for checked in check(name):
        failed += not checked.passed
        print(f"{'passed' if checked.passed else 'FAILED'}  {checked.name}: {checked.text}", flush=True)
    print(f"{name}: {f'{failed} failed' if failed else 'all checks passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
