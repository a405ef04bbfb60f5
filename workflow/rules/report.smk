# The comparison with the published values, and the report.
from importlib.metadata import version as version_of


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
        definitions=definitions,
        code=code_of(
            "narxbench.compare",
            "narxbench.statistics",
            "narxbench.tables",
            "narxbench.published",
            "narxbench.csv_files",
            "narxbench.terms",
        ),
    script:
        "../../scripts/compare.py"


rule report:
    """Write one page: verdicts, published beside reproduced values, an explorer of every cell, statistics, settings."""
    input:
        cells=cells(),
        systems=[system_file(name) for name in EXPERIMENT.systems],
        figures=["reports/figures/convergence.svg", "reports/figures/term_frequency.svg"],
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
        claims="reports/claims.json",
        statistics="reports/statistics.json",
        errata="docs/errata.md",
        method="docs/method.md",
        fidelity="reports/fidelity.md",
        fidelity_figures=expand("reports/fidelity/{name}.svg", name=FIDELITY_FIGURES),
        citation="CITATION.cff",
        templates=expand("src/narxbench/templates/report.{kind}", kind=["html.j2", "css", "js"]),
    output:
        html=report("reports/report.html", caption="../report/report.rst", category="Agreement"),
    log:
        "logs/report/report.log",
    params:
        definitions=definitions,
        config=EXPERIMENT.model_dump(mode="json"),
        plotly=version_of("plotly"),
        code=code_of(
            "narxbench.report",
            "narxbench.views",
            "narxbench.explorer",
            "narxbench.markup",
            "narxbench.templating",
            "narxbench.plots",
            "narxbench.compare",
            "narxbench.statistics",
            "narxbench.tables",
            "narxbench.published",
            "narxbench.csv_files",
            "narxbench.terms",
            "narxbench.systems",
        ),
    script:
        "../../scripts/report.py"


rule made:
    """Write machine, commit and time spent, which would make the report differ from one rebuild to the next."""
    input:
        "reports/report.html",
    output:
        "reports/made.md",
    log:
        "logs/report/made.log",
    params:
        logs=logs(),
        code=code_of("scripts.made"),
    script:
        "../../scripts/made.py"
