# The sensitivity experiment: every reading of what the paper leaves open, against the published tables.


rule fidelity_cells:
    """Run the sensitivity experiment and collect its cells in one table."""
    input:
        cells=lambda w: reading_cells(),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        "data/fidelity/cells.csv",
    log:
        "logs/fidelity/cells.log",
    params:
        code=code_of("narxbench.fidelity", "scripts.fidelity_cells"),
    script:
        "../../scripts/fidelity_cells.py"


rule reading_cell:
    """Run one algorithm with every seed on one system and SNR under one reading."""
    input:
        recorded_input(),
    output:
        READING_CELL,
    log:
        READING_CELL_LOG,
    wildcard_constraints:
        choices=r"[A-Za-z0-9._=+-]+",
        algorithm=r"[a-z0-9_]+",
        data_seed=r"[0-9]+",
    params:
        system=lambda w: described(w.system),
        settings=lambda w: reading_settings_of(w.algorithm, w.choices, int(w.data_seed)),
        seeds=EXPERIMENT.seeds,
        evaluations=EXPERIMENT.evaluations,
        code=lambda w: reading_code(w.algorithm),
    run:
        run_reading_cell(
            output[0],
            log[0],
            axes={**dict(wildcards.items()), "data_seed": int(wildcards.data_seed)},
            system=params.system,
            seeds=params.seeds,
            evaluations=params.evaluations,
            **params.settings,
        )
