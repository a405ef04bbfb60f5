# The plan of the study that the settings ask for; the rules' questions are answered in
# src/narxbench/pipeline/plan.py, and for measured data in measured_plan.py beside it.
import sys

sys.path.insert(0, f"{workflow.basedir}/src")

try:
    from narxbench.pipeline.plan import DOOR, REFERENCE, SCREENSHOT
    from narxbench.pipeline.session import Watch, begin, plan
    from narxbench.pipeline.steps import call
except ModuleNotFoundError as missing:
    from narxbench.pipeline.config_files import no_module

    sys.exit(no_module(missing))

PLAN = plan(workflow)


wildcard_constraints:
    data_set=".+",
    condition=".+",
    problem=".+",
    seeds=r"seeds?-[0-9]+(-to-[0-9]+)?",
