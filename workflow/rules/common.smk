# The plan of the study that the settings ask for; its questions are answered in src/narxbench/pipeline/plan.py.
import os
import sys

CODE = f"{workflow.basedir}/src"
sys.path.insert(0, CODE)
# Steps that are processes of their own use this checkout too, not a copy of the library that is installed elsewhere.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [CODE, os.environ.get("PYTHONPATH")]))

try:
    from narxbench.pipeline.plan import REFERENCE
    from narxbench.pipeline.session import begin, plan
    from narxbench.pipeline.steps import call
except ModuleNotFoundError as missing:
    sys.exit(
        f"narxbench: Python finds no module {missing.name!r}; set up the environment: "
        "python3 -m pip install uv && python3 -m uv sync, then uv run snakemake ..."
    )

PLAN = plan(workflow)


wildcard_constraints:
    data_set=".+",
    condition=".+",
    seeds=r"seeds?-[0-9]+(-to-[0-9]+)?",
