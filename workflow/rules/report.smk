# The comparison with the published values, and the report.


rule compare:
    """Compare every published value with the reproduced one."""
    input:
        cells=cells(),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        rows="reports/tables/published_and_reproduced.csv",
        csv=report("reports/tables/agreement.csv", caption="../report/agreement.rst", category="Agreement"),
        md="reports/tables/agreement.md",
        tex="reports/tables/agreement.tex",
    log:
        "logs/report/compare.log",
    params:
        code=code_of("narxbench.compare", "narxbench.tables", "narxbench.published", "narxbench.terms"),
    script:
        "../../scripts/compare.py"


rule report:
    """Write one page with all tables beside the published values, all figures, settings and errata."""
    input:
        cells=cells(),
        systems=[system_file(name) for name in EXPERIMENT.systems],
        figures=["reports/figures/convergence.svg", "reports/figures/term_frequency.svg"],
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
        errata="docs/errata.md",
        template="src/narxbench/templates/report.html.j2",
    output:
        html=report("reports/report.html", caption="../report/report.rst", category="Agreement"),
    log:
        "logs/report/report.log",
    params:
        config=EXPERIMENT.model_dump(mode="json"),
        code=code_of(
            "narxbench.report",
            "narxbench.compare",
            "narxbench.tables",
            "narxbench.published",
            "narxbench.terms",
            "narxbench.systems",
        ),
    script:
        "../../scripts/report.py"
