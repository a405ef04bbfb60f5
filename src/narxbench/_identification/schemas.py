"""The schemas of the options of an identification, from the classes that declare them.

``python -m narxbench._identification.schemas > src/narxbench/_identification/options.json`` renews the file that
:mod:`narxbench._identification.options` reads.
"""

import json
import sys
from typing import Any

from pydantic import TypeAdapter

from narxbench._identification.data.reading import Reading
from narxbench._identification.settings import IdentificationSettings


def option_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each option by name: of those of reading, and of the settings."""
    reading = TypeAdapter(Reading).json_schema()["properties"]
    settings = IdentificationSettings.model_json_schema()["properties"]
    return {"reading": reading, "settings": settings}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(option_schemas(), indent=1, ensure_ascii=False) + "\n")
