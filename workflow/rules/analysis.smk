# From summaries to frames: one step reads all conditions once.


rule analyse:
    """Compute metrics, performance, tests, agreement with the published values and the paper's claims."""
    input:
        summaries=PLAN.summaries,
        published=f"{REFERENCE}/published_tables.csv",
        system_terms=f"{REFERENCE}/system_terms.csv",
        claims=f"{REFERENCE}/claims.yaml",
    output:
        **PLAN.frames,
    log:
        f"{PLAN.logs}/analyse.log",
    localrule: True
    params:
        confidence=PLAN.study.statistics.confidence,
        figure_snr_db=PLAN.study.figures.snr_db,
        code=PLAN.code("analyse"),
    run:
        call("analyse", input=input, output=output, params=params, log=log)
