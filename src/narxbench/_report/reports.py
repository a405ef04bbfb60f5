"""The report of an identification, of one output or of several together."""

from pathlib import Path

from narxbench._identification.joint import JointIdentification
from narxbench._identification.result import Identification
from narxbench._io.files import StrPath
from narxbench._report.joint_page import write_joint_report
from narxbench._report.model_page import write_report as write_report_of_one


def write_report(identification: Identification | JointIdentification, folder: StrPath) -> Path:
    """Write the page, the model, all numbers as JSON and CSV, and the programs into a folder, and return the page.

    ``model.json`` is what :meth:`narxbench.Model.load`, or of several outputs together
    :meth:`narxbench.JointModel.load`, reads. Each of several outputs also has a report in a subfolder. A new folder
    appears with all files or not at all. In the folder of an earlier report, the page is removed first and written
    last, so that a mixture never looks whole. Other files in it are kept.

    Raises
    ------
    NarxbenchError
        If a file cannot be written.

    Examples
    --------
    >>> import narxbench
    >>> from tempfile import TemporaryDirectory
    >>> u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    >>> settings = {"decimation": 1, "degree": 1, "y_lags": 1, "u_lags": 1, "effort": 0.1}
    >>> with TemporaryDirectory() as folder:
    ...     write_report(narxbench.identify(u, y, **settings), folder).name
    'report.html'
    """
    if isinstance(identification, JointIdentification):
        return write_joint_report(identification, folder)
    return write_report_of_one(identification, folder)
