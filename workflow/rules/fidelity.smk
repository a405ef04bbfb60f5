# The sensitivity experiment: every reading of what the paper leaves open, against the published tables.


rule fidelity:
    """Answer from the kept cells of the experiment which open point does what, and which reading is closest."""
    input:
        cells="docs/fidelity/cells.csv",
        readings="config/readings.yaml",
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
        template="src/narxbench/templates/fidelity.md.j2",
    output:
        **{name: f"reports/fidelity/{name}.svg" for name in FIDELITY_FIGURES},
        **{f"{name}_csv": f"reports/fidelity/{name}.csv" for name in FIDELITY_TABLES},
        document="reports/fidelity.md",
        summary="reports/fidelity/summary.json",
    log:
        "logs/fidelity/fidelity.log",
    params:
        default=EXPERIMENT.reading,
        code=code_of(
            "scripts.fidelity",
            "narxbench.fidelity",
            "narxbench.fidelity_answers",
            "narxbench.fidelity_document",
            "narxbench.fidelity_figures",
            "narxbench.templating",
            "narxbench.distance",
            "narxbench.compare",
            "narxbench.claims",
            "narxbench.readings",
            "narxbench.tables",
            "narxbench.published",
            "narxbench.csv_files",
            "narxbench.terms",
        ),
    script:
        "../../scripts/fidelity.py"


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
        cell=lambda w: cell_of_reading(w),
        code=lambda w: reading_code(w.algorithm),
    run:
        run_reading_cell(output[0], log[0], **params.cell)
