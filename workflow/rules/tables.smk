# The paper's tables in CSV, Markdown and LaTeX, and the tidy tables of all cells.
from narxbench.tables import shared_criterion

PUBLISHED = "data/reference/published_tables.csv"
SYSTEM_TERMS = "data/reference/system_terms.csv"
# The criterion under which searches are compared.
CRITERION = shared_criterion({name: search.criteria for name, search in EXPERIMENT.searches.items()})
TABLE_CODE = code_of("narxbench.tables", "narxbench.published", "narxbench.csv_files", "narxbench.terms")


rule table_test_systems:
    """Tabulate the equations, lags, degree and number of candidate terms of the test systems."""
    input:
        systems=[system_file(name) for name in EXPERIMENT.systems],
    output:
        csv=report("reports/tables/test_systems.csv", caption="../report/test_systems.rst", category="Tables"),
        md="reports/tables/test_systems.md",
        tex="reports/tables/test_systems.tex",
    log:
        "logs/tables/test_systems.log",
    params:
        code=[TABLE_CODE, code_of("narxbench.systems")],
    script:
        "../../scripts/tables.py"


rule table_search_settings:
    """Tabulate the settings of every configured search."""
    output:
        csv=report("reports/tables/search_settings.csv", caption="../report/search_settings.rst", category="Tables"),
        md="reports/tables/search_settings.md",
        tex="reports/tables/search_settings.tex",
    log:
        "logs/tables/search_settings.log",
    params:
        searches=EXPERIMENT.model_dump(mode="json")["searches"],
        runs=len(EXPERIMENT.seeds),
        evaluations=EXPERIMENT.evaluations,
        code=TABLE_CODE,
    script:
        "../../scripts/tables.py"


rule table_fitness:
    """Tabulate the effect of the fitness function on one system: criteria and SNRs against selection frequencies."""
    input:
        cells=lambda w: cells(system=w.system),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        csv=report("reports/tables/fitness_{system}.csv", caption="../report/fitness.rst", category="Tables"),
        md="reports/tables/fitness_{system}.md",
        tex="reports/tables/fitness_{system}.tex",
    log:
        "logs/tables/fitness_{system}.log",
    params:
        definitions=definitions,
        system=lambda w: w.system,
        code=TABLE_CODE,
    script:
        "../../scripts/tables.py"


rule table_comparison:
    """Tabulate the comparison of searches on one system under the criterion that they share."""
    input:
        cells=lambda w: cells(system=w.system, criterion=CRITERION),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        csv=report("reports/tables/comparison_{system}.csv", caption="../report/comparison.rst", category="Tables"),
        md="reports/tables/comparison_{system}.md",
        tex="reports/tables/comparison_{system}.tex",
    log:
        "logs/tables/comparison_{system}.log",
    params:
        definitions=definitions,
        system=lambda w: w.system,
        criterion=CRITERION,
        code=TABLE_CODE,
    script:
        "../../scripts/tables.py"


rule tidy_tables:
    """Tabulate every candidate term of every cell, and one row for each cell."""
    input:
        cells=cells(),
        published=PUBLISHED,
        system_terms=SYSTEM_TERMS,
    output:
        selection_frequency="reports/tables/selection_frequency.csv",
        cell_summaries=report("reports/tables/cells.csv", caption="../report/cells.rst", category="Tables"),
    log:
        "logs/tables/tidy_tables.log",
    params:
        definitions=definitions,
        code=TABLE_CODE,
    script:
        "../../scripts/tables.py"
