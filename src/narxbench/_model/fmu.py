"""A model as a Functional Mock-up Unit (FMI 2.0, co-simulation): its C code with the interface of the standard.

The unit has the sources and, on request, the binary for this kind of machine. It is a zip file whose bytes
depend on the model and the compiler only.

Standard: Functional Mock-up Interface for Model Exchange and Co-Simulation, version 2.0.4, https://fmi-standard.org.
"""

import io
import platform
import shutil
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from narxbench._io.errors import NarxbenchError
from narxbench._io.version import __version__
from narxbench._model.export import Program

if TYPE_CHECKING:
    from narxbench._model.narx import Model

_WRAPPER = Path(__file__).with_name("fmu.c")
# Folder and ending of a binary by the system, for processors of 64 bits.
_BINARIES = {"linux": ("linux64", ".so"), "darwin": ("darwin64", ".dylib")}
# No fused operations: the unit computes as the model does, to the last bit.
_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")


# A value of the unit, whose reference is its place: its name, causality, start and unit.
_Variable = tuple[str, str, float, str | None]


def fmu_bytes(model: "Model", program: Program, code: str, name: str, *, with_binary: bool) -> bytes:
    """Return the content of the file of a unit.

    Parameters
    ----------
    model : Model
        The model at its own sampling.
    program : Program
        The model as a program.
    code : str
        Its C code, whose function ``NAME_step`` returns the next output.
    name : str
        The beginning of the names in the code, and the name of the unit.
    with_binary : bool
        Whether to compile the binary for this machine.

    Raises
    ------
    NarxbenchError
        If the compiler is missing, or fails.
    """
    variables = _variables(model, program)
    step_time = model.step_time or 1.0
    guid = "{" + str(uuid.uuid5(uuid.NAMESPACE_URL, f"{code}{variables}{step_time}")) + "}"
    sources = {
        "model.c": code,
        "config.h": _config(program, name, step_time, guid, [start for _, _, start, _ in variables]),
        "fmu.c": _WRAPPER.read_text(encoding="utf-8"),
    }
    files: dict[str, str | bytes] = {"modelDescription.xml": _description(name, guid, step_time, variables)}
    for file, text in sources.items():
        files[f"sources/{file}"] = text
    if with_binary:
        folder, ending = _kind_of_binary()
        files[f"binaries/{folder}/{name}{ending}"] = _binary(sources)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in files.items():
            # ZipInfo has a fixed date.
            archive.writestr(zipfile.ZipInfo(file), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _variables(model: "Model", program: Program) -> list[_Variable]:
    """Return the values of a unit: output, inputs, past inputs and past outputs, in the order of ``fmu.c``."""
    output_lag, input_lag = program.lags
    inputs = [model.inputs[position] for position in program.arguments]
    starts = {model.output: program.offsets[0]}
    for name, position in zip(inputs, program.arguments, strict=True):
        starts[name] = program.offsets[1 + position]
    units = model.units
    variables: list[_Variable] = [(model.output, "output", starts[model.output], units.get(model.output))]
    for name in inputs:
        variables.append((name, "input", starts[name], units.get(name)))
    past = [(name, lag) for lag in range(1, input_lag + 1) for name in inputs]
    past += [(model.output, lag) for lag in range(1, output_lag + 1)]
    for name, lag in past:
        variables.append((f"past {name}(k-{lag})", "parameter", starts[name], units.get(name)))
    return variables


def _config(program: Program, name: str, step_time: float, guid: str, starts: list[float]) -> str:
    """Return the header that ``fmu.c`` includes."""
    output_lag, input_lag = program.lags
    n_inputs = len(program.arguments)
    definitions = {
        "N_INPUTS": str(n_inputs),
        "N_PAST_U": str(n_inputs * input_lag),
        "N_PAST_Y": str(output_lag),
        "STEP_TIME": repr(step_time),
        "GUID": f'"{guid}"',
        "MODEL_STEP(y, u)": f"{name}_step(y, u)" if n_inputs else f"{name}_step(y)",
        "START": "{" + ", ".join(map(repr, starts)) + "}",
    }
    return "".join(f"#define {key} {value}\n" for key, value in definitions.items())


def _description(name: str, guid: str, step_time: float, variables: list[_Variable]) -> str:
    """Return the description of a unit in XML."""
    root = ElementTree.Element("fmiModelDescription")
    root.attrib |= {"fmiVersion": "2.0", "modelName": name, "guid": guid, "variableNamingConvention": "flat"}
    root.attrib["generationTool"] = f"narxbench {__version__}"
    unit = ElementTree.SubElement(root, "CoSimulation", modelIdentifier=name, canGetAndSetFMUstate="true")
    unit.attrib["canHandleVariableCommunicationStepSize"] = "true"
    files = ElementTree.SubElement(unit, "SourceFiles")
    ElementTree.SubElement(files, "File", name="fmu.c")
    units = list(dict.fromkeys(unit for _, _, _, unit in variables if unit))
    if units:
        definitions = ElementTree.SubElement(root, "UnitDefinitions")
        for text in units:
            ElementTree.SubElement(definitions, "Unit", name=text)
    ElementTree.SubElement(root, "DefaultExperiment", startTime="0", stepSize=repr(step_time))
    listed = ElementTree.SubElement(root, "ModelVariables")
    for reference, (variable, causality, start, unit_name) in enumerate(variables):
        attributes = {"name": variable, "valueReference": str(reference), "causality": causality}
        attributes["variability"] = "fixed" if causality == "parameter" else "discrete"
        entry = ElementTree.SubElement(listed, "ScalarVariable", attributes)
        real = ElementTree.SubElement(entry, "Real")
        if causality != "output":
            real.attrib["start"] = repr(start)
        if unit_name:
            real.attrib["unit"] = unit_name
    structure = ElementTree.SubElement(root, "ModelStructure")
    for section in ("Outputs", "InitialUnknowns"):
        ElementTree.SubElement(ElementTree.SubElement(structure, section), "Unknown", index="1")
    return ElementTree.tostring(root, "unicode", xml_declaration=True)


def _kind_of_binary() -> tuple[str, str]:
    """Return the folder and the ending of binaries for this machine."""
    is_known = sys.platform in _BINARIES and platform.machine() in ("x86_64", "AMD64", "arm64")
    if not is_known or (sys.platform == "linux" and platform.machine() != "x86_64"):
        machine = f"{sys.platform} on {platform.machine()}"
        raise NarxbenchError(f"with_binary: found {machine}, which FMI 2.0 has no name for; allowed: False")
    return _BINARIES[sys.platform]


def _binary(sources: Mapping[str, str]) -> bytes:
    """Return the binary that the C compiler of this machine makes of the sources."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NarxbenchError("with_binary: found no C compiler, cc; allowed: False, for tools that compile the sources")
    with TemporaryDirectory() as folder:
        for file, text in sources.items():
            Path(folder, file).write_text(text, encoding="utf-8")
        command = [compiler, *_FLAGS, "-o", "unit", "fmu.c", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NarxbenchError(f"with_binary: {compiler} failed: {done.stderr.strip().splitlines()[-1]}")
        return Path(folder, "unit").read_bytes()
