# What people read: tables, figures, the document on interpretations, the pages.

if PLAN.study.page == "paper":

    localrules:
        tables,
        figures,

    rule tables:
        """Write the paper's tables as CSV, Markdown and LaTeX."""
        input:
            **PLAN.frames("metrics", "selection", "agreement", "agreement_values", "claims", "comparisons"),
            **PLAN.frames("recovery", "gaps"),
            system_files=PLAN.system_files(),
            claim_texts=f"{REFERENCE}/claims.yaml",
        output:
            report(PLAN.table_files("csv"), category="Tables", caption="../report/tables.rst"),
            PLAN.table_files("md"),
            PLAN.table_files("tex"),
        log:
            f"{PLAN.logs}/tables.log",
        params:
            settings=PLAN.settings(),
            code=PLAN.code("tables"),
        run:
            call("scripts/tables.py", input=input, output=output, params=params, log=log)

    rule figures:
        """Draw the paper's figures as PDF and SVG."""
        input:
            **PLAN.frames("convergence", "selection", "gaps"),
        output:
            report(PLAN.figure_files("svg"), category="Figures", caption="../report/figures.rst"),
            PLAN.figure_files("pdf"),
        log:
            f"{PLAN.logs}/figures.log",
        params:
            settings=PLAN.settings(),
            code=PLAN.code("figures"),
        script:
            "../../scripts/figures.py"


if PLAN.study.page != "methods":

    rule interpretations:
        """Tell what each answer to what the paper leaves open does to the results."""
        input:
            conditions=PLAN.interpretations_frame,
            choices="config/design_choices.yaml",
            published=f"{REFERENCE}/published_tables.csv",
            system_terms=f"{REFERENCE}/system_terms.csv",
            claims=f"{REFERENCE}/claims.yaml",
        output:
            PLAN.interpretation_files(),
        log:
            f"{PLAN.logs}/interpretations.log",
        params:
            code=PLAN.code("interpretations"),
        script:
            "../../scripts/interpretations.py"

    rule page:
        """Write the pages of the study."""
        input:
            **PLAN.page_files(),
        output:
            report(PLAN.page, category="Page", caption="../report/page.rst"),
            PLAN.pages[1:],
        log:
            f"{PLAN.logs}/page.log",
        params:
            settings=PLAN.settings(),
            code=PLAN.code("page"),
        run:
            call("scripts/page.py", input=input, output=output, params=params, log=log)
