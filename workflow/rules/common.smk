# What a cluster does are the searches; all else is short, and costs less in the main process than to start it elsewhere.
# Hence the rules with "localrule".
#
# The plan of the study that the settings ask for; the rules' questions are answered in
# src/narxbench/_pipeline/, one module NAME_plan.py for each kind of study.
import sys

import checkout

try:
    from narxbench._pipeline.plan import HERE, REFERENCE, digests
    from narxbench._pipeline.session import begin, end, plan, settle
    from narxbench._pipeline.steps import call
except ModuleNotFoundError as missing:
    sys.exit(checkout.missing(missing))

PLAN = plan(workflow, config)


wildcard_constraints:
    data_set=".+",
    condition=".+",
    problem=".+",
    seeds=r"seeds?-[0-9]+(-to-[0-9]+)?",
