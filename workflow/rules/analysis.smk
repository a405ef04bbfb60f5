# The paper's claims as predicates, and the statistics over the runs.


rule claims:
    """Test the paper's claims on the published values and on the cells."""
    input:
        cells=cells(),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        verdicts="reports/claims.json",
        md=report("reports/tables/claims.md", caption="../report/claims.rst", category="Agreement"),
    log:
        "logs/analysis/claims.log",
    params:
        definitions=definitions,
        snr_db=EXPERIMENT.figures.snr_db,
        code=code_of(
            "narxbench.claims", "narxbench.tables", "narxbench.published", "narxbench.csv_files", "narxbench.terms"
        ),
    script:
        "../../scripts/claims.py"


rule statistics:
    """Compare the searches run by run: final fitness, exact recovery, run length, budget and gaps."""
    input:
        cells=cells(),
    output:
        all_statistics="reports/statistics.json",
        recovery=report("reports/tables/recovery.csv", caption="../report/recovery.rst", category="Tables"),
        search_comparison=report(
            "reports/tables/search_comparison.csv", caption="../report/search_comparison.rst", category="Tables"
        ),
    log:
        "logs/analysis/statistics.log",
    params:
        definitions=definitions,
        code=code_of("narxbench.statistics", "narxbench.metrics", "narxbench.tables"),
    script:
        "../../scripts/statistics.py"
