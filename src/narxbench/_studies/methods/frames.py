"""The frames of a comparison of methods."""

from narxbench._studies.methods.metrics import COMPARISON
from narxbench._study.frames import FrameSchemas

_METHODS = ["scenario", "system", "method"]
_OF_RUNS = " ".join(f"{metric.name}:{metric.kind}" for metric in COMPARISON)
_OVERALL = " ".join(column for metric in COMPARISON for column in metric.columns)
_COLUMNS = {
    "scores": "*scenario:text *system:text *snr_db:known *data_seed:whole *criterion:text part:text *method:text "
    "algorithm:text *seed:whole reference:truth searches:truth n_terms:whole samples:whole "
    f"n_validation:whole budget:whole evaluations:whole fitness best_known true_fitness {_OF_RUNS} failure:text",
    "ranking": "*part:text *group:text *method:text reference:truth searches:truth ranked:truth runs:whole "
    f"data_sets:whole systems:whole failures:whole not_run:whole {_OVERALL}",
    "pairs": "*part:text *measure:text *best:text *rival:text systems:whole difference p verdict:text detectable",
    "systems": f"*part:text *scenario:text *system:text *method:text {' '.join(metric.name for metric in COMPARISON)}",
}

SCHEMAS = FrameSchemas(_COLUMNS, shared=((_METHODS, ("scores", "systems")), (["method"], ("scores", "ranking"))))
framed, read_frame, read_frames = SCHEMAS.framed, SCHEMAS.read_frame, SCHEMAS.read_frames
