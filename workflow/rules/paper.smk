# The paper's tables and figures.


rule tables:
    """Write the paper's tables as CSV, Markdown and LaTeX."""
    input:
        **{name: PLAN.frames[name] for name in ("metrics", "selection", "agreement", "agreement_values", "claims")},
        **{name: PLAN.frames[name] for name in ("comparisons", "recovery", "gaps")},
        system_files=PLAN.system_files,
        claim_texts=f"{REFERENCE}/claims.yaml",
    output:
        report(PLAN.tables["csv"], category="Tables", caption="../report/tables.rst"),
        PLAN.tables["md"],
        PLAN.tables["tex"],
    log:
        f"{PLAN.logs}/tables.log",
    localrule: True
    params:
        settings=PLAN.settings,
        code=PLAN.code("tables"),
    run:
        call("tables", input=input, output=output, params=params, log=log)


rule figures:
    """Draw the paper's figures as PDF and SVG."""
    input:
        **{name: PLAN.frames[name] for name in ("convergence", "selection", "gaps")},
    output:
        report(PLAN.figures["svg"], category="Figures", caption="../report/figures.rst"),
        PLAN.figures["pdf"],
    log:
        f"{PLAN.logs}/figures.log",
    localrule: True
    conda:
        "../envs/narxbench.yaml"
    params:
        settings=PLAN.settings,
        code=PLAN.code("figures"),
    script:
        "../../scripts/figures.py"
