"""The options of an identification: what they may be, their two signatures, and how they are described."""

import inspect
import json
from typing import get_args, get_origin, get_type_hints

import pytest
from pydantic import PlainValidator

import narxbench
from narxbench._identification.data.reading import Reading
from narxbench._identification.options import FORMER, FORMER_READING, SCHEMA_FILE, schemas
from narxbench._identification.schemas import option_schemas
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.settings import validated

FIELDS = IdentificationSettings.model_fields
PARAMETERS = inspect.signature(narxbench.identify).parameters


def test_the_file_of_schemas_is_current():
    command = "python -m narxbench._identification.schemas > src/narxbench/_identification/options.json"
    assert json.loads(SCHEMA_FILE.read_text(encoding="utf-8")) == option_schemas(), f"run: {command}"


def test_the_function_has_all_options_and_no_other():
    assert set(PARAMETERS) == {"data", "joint", *Reading.__annotations__, *FIELDS}
    for name, type_ in get_type_hints(Reading).items():
        assert (PARAMETERS[name].annotation, PARAMETERS[name].default) == (type_, None)


def accepted(field):
    """Return the type of the values that users may write; a tuple or any other mapping is as good."""
    for check in field.metadata:
        if isinstance(check, PlainValidator):
            return check.json_schema_input_type
    return field.annotation


@pytest.mark.parametrize("name", FIELDS)
def test_signatures_have_the_types_and_defaults_of_the_settings(name):
    type_, default = accepted(FIELDS[name]), FIELDS[name].default
    regressor = inspect.signature(narxbench.NarxRegressor).parameters[name]
    if get_origin(type_) is list:
        # A list could be changed by who calls, and scikit-learn copies no default.
        (member,) = get_args(type_)
        assert get_args(PARAMETERS[name].annotation) == (member,) and PARAMETERS[name].default == ()
        assert regressor.default is None
    else:
        assert (PARAMETERS[name].annotation, PARAMETERS[name].default) == (type_, default)
        assert (regressor.annotation, regressor.default) == (type_, default)
    assert set(inspect.signature(narxbench.NarxRegressor).parameters) == set(FIELDS)


def test_each_option_is_described_where_it_is_given():
    text = inspect.getdoc(narxbench.identify)
    for name, schema in [*schemas()["reading"].items(), *schemas()["settings"].items()]:
        first_words = " ".join(schema["description"].split()[:4])
        assert f"\n{name} : " in text and first_words in text
    assert "\neffort : float, default 20.0\n" in text and "{settings}" not in text
    assert "from 1 to 12" in " ".join(text.split())
    assert '\ndegree : int | str | Sequence[int], default "auto"\n' in inspect.getdoc(narxbench.NarxRegressor)


@pytest.mark.parametrize("name", [*FORMER, *FORMER_READING])
def test_a_former_option_is_one_line(name):
    with pytest.raises(narxbench.NarxbenchError, match=rf"^{name}: found; (gone: |needed: read=)") as error:
        narxbench.identify({"u": [0.0] * 30, "y": [0.0] * 30}, "y", input="u", **{name: 1})
    assert "\n" not in str(error.value)


def test_an_unknown_option_is_one_line():
    with pytest.raises(narxbench.NarxbenchError, match=r"^lags: found; allowed: .*\(did you mean '.*lags'\?\)$"):
        narxbench.identify([0.0] * 30, [0.0] * 30, lags=3)


def settings_of(**values):
    """Return checked settings, as an identification begins with them."""
    return validated(IdentificationSettings, values, "identify")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("auto", "auto"), (3, [1, 2, 3]), (1, [1]), ([4, 2, 4], [2, 4]), ((1, 2), [1, 2]), ([9999], [9999])),
        *(("3", [1, 2, 3]), ("1-4,8", [1, 2, 3, 4, 8]), (" 2 - 3 , 1", [1, 2, 3]), ("5,7-7", [5, 7])),
    ],
)
def test_lags_as_users_write_them(written, meant):
    assert settings_of(y_lags=written).y_lags == settings_of(u_lags=written).u_lags == meant
    assert settings_of(u_lags={"a": written, "b": 1}).u_lags in ({"a": meant, "b": [1]}, {"b": [1]})


def test_settings_are_read_back_as_they_were_written():
    assert settings_of(u_lags="0-2").u_lags == [0, 1, 2] and settings_of(u_lags={"a": [0]}).u_lags == {"a": [0]}
    mixed = settings_of(decimation=[8, 1, 8], degree=2, y_lags="1-4,8", u_lags={"a": 2}, delay=3)
    assert (mixed.decimation, mixed.degree) == ([1, 8], [2])
    assert settings_of(**mixed.model_dump(mode="json")) == mixed
