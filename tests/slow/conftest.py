from tests.workflow.conftest import copy, empty, finished

__all__ = ["copy", "empty", "finished"]
