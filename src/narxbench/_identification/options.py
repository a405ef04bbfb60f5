"""The options of the command line that are settings of an identification.

The help must come at once, so nothing is imported here that takes long: the table is written from the fields of
:class:`narxbench._identification.settings.IdentificationSettings`.
"""

from typing import Literal, NamedTuple

# How the text of an option becomes a value: as it is, as a number or truth value, as a list of names, by input.
ValueKind = Literal["text", "number", "names", "by input"]


class SettingOption(NamedTuple):
    """An option of the command line whose value is a setting."""

    setting: str
    group: str
    metavar: str
    kind: ValueKind
    help: str


OPTIONS = (
    # Written by narxbench._identification.signatures: options of settings
    SettingOption(
        setting="decimation",
        group="candidate terms",
        metavar="N",
        kind="text",
        help="samples of the data in one step of the model (auto, a positive whole number, or a list of them; default:"
        " auto)",
    ),
    SettingOption(
        setting="degree",
        group="candidate terms",
        metavar="N",
        kind="text",
        help="largest degree of a candidate term (auto, a whole number from 1 to 12, or a list of them; default: auto)",
    ),
    SettingOption(
        setting="y_lags",
        group="candidate terms",
        metavar="LAGS",
        kind="text",
        help="lags of the output, in steps of the model (auto, a number n for the lags 1 to n, or a list such as "
        "1-4,8: up to 1000 lags, none over 9999; default: auto)",
    ),
    SettingOption(
        setting="u_lags",
        group="candidate terms",
        metavar="LAGS",
        kind="by input",
        help="lags of the inputs, in steps of the model (auto, a number n for the lags 1 to n, or a list such as "
        "1-4,8: up to 1000 lags, none over 9999 (0 is the current input), or such a list for each input by its "
        "name; as in 'valve=1-4;heat=0,2'; default: auto)",
    ),
    SettingOption(
        setting="delay",
        group="candidate terms",
        metavar="N",
        kind="number",
        help="smallest lag of the inputs where their lags are scanned, in samples of the data; 0 admits the current "
        "input (auto, or a whole number from 0; default: auto)",
    ),
    SettingOption(
        setting="include",
        group="candidate terms",
        metavar="TERMS",
        kind="names",
        help="further candidate terms, such as u(k)^2 or y(k-1)*u(k-9) (separated by commas; may be repeated)",
    ),
    SettingOption(
        setting="exclude",
        group="candidate terms",
        metavar="TERMS",
        kind="names",
        help="candidate terms to leave out, or patterns of them, such as *u(k-1)* (separated by commas; may be "
        "repeated)",
    ),
    SettingOption(
        setting="horizon",
        group="search",
        metavar="N",
        kind="number",
        help="samples ahead that matter to you: the model and its competitors are judged there (auto, or a whole "
        "number from 1; default: auto)",
    ),
    SettingOption(
        setting="error",
        group="search",
        metavar="KIND",
        kind="text",
        help="error that the fitness has: of the free run, or one step ahead (auto, free_run, one_step; default: auto)",
    ),
    SettingOption(
        setting="blocks",
        group="search",
        metavar="N",
        kind="number",
        help="parts of the data that take turns in selection, where no record has this role (at least 2 and at most "
        "100; default: 8)",
    ),
    SettingOption(
        setting="effort",
        group="search",
        metavar="SECONDS",
        kind="number",
        help="seconds that the searches are planned for (above 0 and at most 1000000; default: 20)",
    ),
    SettingOption(
        setting="noise",
        group="search",
        metavar="NAME",
        kind="text",
        help="noise model: whether the noise enters the equation or the output, and which filter it passes (auto, "
        "narx, narmax, ararx, ararmax, noe, box-jenkins; default: auto)",
    ),
    # End
)
