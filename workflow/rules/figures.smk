# The paper's figures as PDF and SVG.
FIGURE_CODE = code_of(
    "narxbench.plots", "narxbench.tables", "narxbench.published", "narxbench.csv_files", "narxbench.terms"
)


rule figure_convergence:
    """Draw the best J over the evaluations, averaged over the runs, for every system and search."""
    input:
        cells=cells(snr_db=EXPERIMENT.figures.snr_db, criterion=CRITERION),
    output:
        pdf="reports/figures/convergence.pdf",
        svg=report("reports/figures/convergence.svg", caption="../report/convergence.rst", category="Figures"),
    log:
        "logs/figures/convergence.log",
    params:
        definitions=definitions,
        snr_db=EXPERIMENT.figures.snr_db,
        code=FIGURE_CODE,
    script:
        "../../scripts/figures.py"


rule figure_term_frequency:
    """Draw the selection frequency of every candidate term for every system and search."""
    input:
        cells=cells(snr_db=EXPERIMENT.figures.snr_db, criterion=CRITERION),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        pdf="reports/figures/term_frequency.pdf",
        svg=report("reports/figures/term_frequency.svg", caption="../report/term_frequency.rst", category="Figures"),
    log:
        "logs/figures/term_frequency.log",
    params:
        definitions=definitions,
        snr_db=EXPERIMENT.figures.snr_db,
        code=FIGURE_CODE,
    script:
        "../../scripts/figures.py"
