"""The kinds of studies of simulated systems: one class each, by the value of ``page``."""

from narxbench.experiment.kinds.interpretations import InterpretationsStudy
from narxbench.experiment.kinds.methods import MethodsStudy
from narxbench.experiment.kinds.paper import PaperStudy
from narxbench.experiment.study import Study

KINDS: dict[str, type[Study]] = {"paper": PaperStudy, "interpretations": InterpretationsStudy, "methods": MethodsStudy}
