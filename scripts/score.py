"""Score the results of all methods on one problem."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.steps import as_script
from narxbench._studies.methods.scores import score


def main(job: Any) -> None:
    """Write the score file."""
    write_atomically(job.output[0], score(data=job.input.data[0], **job.params.scoring))


as_script(main, globals())
