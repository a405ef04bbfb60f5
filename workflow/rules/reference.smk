# Time spent, digests of all results, and what the repository keeps of them: the reference results.


rule run_info:
    """Write machine, commit and time spent, which would make the page differ from one rebuild to the next."""
    input:
        PLAN.page,
    output:
        PLAN.run_info,
    log:
        f"{PLAN.logs}/run_info.log",
    localrule: True
    params:
        logs=lambda w: PLAN.at(PLAN.logs),
        files=lambda w: PLAN.results(),
        code=PLAN.code("run_info"),
    run:
        call("run_info", output=output, params=params, log=log)


rule manifest:
    """Write settings, versions and the digest of every result."""
    input:
        results=PLAN.from_summaries,
        memory=lambda w: local(PLAN.memory),
    output:
        manifest=PLAN.manifest,
        record=PLAN.record,
    log:
        f"{PLAN.logs}/manifest.log",
    localrule: True
    params:
        files=lambda w: {path: PLAN.at(path) for path in PLAN.results()},
        made_with=lambda w: PLAN.made_with,
        complete=not PLAN.finished_only,
        code=PLAN.code("manifest"),
    run:
        call("manifest", input=input, output=output, params=params, log=log)


rule verify:
    """Compare every result with the reference results, or with what it was when the study was finished."""
    input:
        lambda w: PLAN.to_verify(),
    log:
        f"{PLAN.logs}/verify.log",
    localrule: True
    conda:
        "../envs/narxbench.yaml"
    params:
        files=lambda w: {path: PLAN.at(path) for path in PLAN.results()},
        # No input: it would be made again from the results.
        reference=lambda w: PLAN.reference,
        made_with=lambda w: PLAN.made_with,
    script:
        "../../scripts/verify.py"


# In the project's own folder only.
if not HERE:

    rule update_reference:
        """Make the results of this study the reference results that the repository keeps."""
        input:
            list(PLAN.kept_files().values()),
        output:
            list(PLAN.kept_files()),
        log:
            f"{PLAN.logs}/update_reference.log",
        localrule: True
        conda:
            "../envs/narxbench.yaml"
        params:
            code=PLAN.code("update_reference"),
        script:
            "../../scripts/update_reference.py"
