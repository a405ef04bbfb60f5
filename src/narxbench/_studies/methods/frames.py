"""The frames of a comparison of methods."""

from narxbench._studies.methods.metrics import COMPARISON, RANKED
from narxbench._study.frames import FrameSchemas

_SCORED = "*scenario:text *system:text *snr_db:known *data_seed:whole *criterion:text"
_METHODS = ["scenario", "system", "method"]
_OF_RUNS = " ".join(f"{metric.name}:{metric.kind}" for metric in COMPARISON if metric.kind)
_RANKS = " ".join(f"rank_{metric.name} rank_{metric.name}_low rank_{metric.name}_high" for metric in RANKED)
_COLUMNS = {
    "scores": f"{_SCORED} part:text *method:text algorithm:text *seed:whole deterministic:truth reference:truth "
    "minimises:truth n_terms:whole samples:whole n_validation:whole budget:whole evaluations:whole fitness best_known "
    f"true_fitness gap excess {_OF_RUNS} failure:text",
    "ranking": "*part:text *group:text *method:text reference:truth searches:truth runs:whole "
    f"data_sets:whole systems:whole failures:whole {_RANKS} "
    f"{' '.join(column for metric in COMPARISON for column in metric.columns)}",
    "pairs": "*part:text *group:text *measure:text *best:text *rival:text systems:whole least_p difference "
    "low high verdict:text p_value pairs:whole p",
    "ecdf": "*part:text *group:text *method:text *evaluations:whole reached:whole total:whole",
    "systems": "*part:text *scenario:text *system:text *method:text "
    f"{' '.join(metric.name for metric in COMPARISON if metric.by_system)}",
}

SCHEMAS = FrameSchemas(_COLUMNS, shared=((_METHODS, ("scores", "systems")), (["method"], ("scores", "ranking"))))
framed, read_frame, read_frames = SCHEMAS.framed, SCHEMAS.read_frame, SCHEMAS.read_frames
