"""The command ``narxbench explain``: its options. What it prints is in :mod:`narxbench._studies.paper.explain`."""

import argparse
from typing import Any

from narxbench._cli import add_command, print_text

_EXAMPLES = """\
narxbench explain S2 --criterion bic --snr 30 nu_max
narxbench explain S2 --snr 30 T3
narxbench explain S2 --snr 30 r --method upso2d --study paper
"""


def add_explain(commands: Any) -> None:
    """Add the command to the commands of ``narxbench``."""
    purpose = "print the facts behind a value of the paper's tables"
    parser = add_command(commands, "explain", purpose, _EXAMPLES, _explain)
    parser.description = (
        "Print the facts behind a value of the paper's tables, as a study has reproduced it, in the folder in which "
        "snakemake made the study."
    )
    parser.add_argument("system", metavar="SYSTEM", help="a system of the study, such as S2")
    parser.add_argument("value", metavar="VALUE", help="r, nu_max, or a term: its label, such as T3, or its name")
    parser.add_argument("--criterion", default="bic", metavar="NAME", help="as in aic-8 (default: bic)")
    parser.add_argument("--snr", required=True, metavar="DB", help="the signal-to-noise ratio in dB")
    parser.add_argument("--method", default="upso2d", metavar="NAME", help="a method of the study (default: upso2d)")
    parser.add_argument("--study", default="paper", metavar="NAME", help="the study (default: paper)")


def _explain(options: argparse.Namespace) -> None:
    # Imported here, so that --help of other commands comes at once.
    from narxbench._studies.paper.explain import explain

    print_text(explain(options.study, options.value, vars(options)))
