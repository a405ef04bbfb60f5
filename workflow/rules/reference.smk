# Record and digests of all results, their comparison, and what the repository keeps: the reference results.

MANIFEST = f"reports/{STUDY}/manifest.csv"


rule run_record:
    """Write by which command, when, where and in which time the results were made."""
    input:
        list(dict.fromkeys(result for result, _ in SOURCES)),
    output:
        RUN_RECORD,
    log:
        f"logs/{STUDY}/run_record.log",
    localrule: True
    params:
        logs=lambda w: PLAN.at(f"logs/{STUDY}"),
        files=lambda w: in_order_of_causes(SOURCES, [result for result, _ in SOURCES]),
    run:
        call("run_record", output=output, params=params, log=log)


rule manifest:
    """Write settings, versions and the digest of every result."""
    input:
        RESULTS,
    output:
        MANIFEST,
    log:
        f"logs/{STUDY}/manifest.log",
    localrule: True
    params:
        files=lambda w: PLAN.placed(in_order_of_causes(SOURCES, RESULTS)),
        made_with=lambda w: PLAN.made_with,
    run:
        call("manifest", output=output, params=params, log=log)


rule site:
    """Copy the pages with all that they link to, for Snakemake's own report (--report report.zip)."""
    input:
        RESULTS,
        READ,
        RUN_RECORD,
        MANIFEST,
        page=PLAN.page,
    output:
        report(
            directory(f"reports/{STUDY}/site"),
            htmlindex="report.html",
            category="Pages",
            caption="../report/page.rst",
            labels={"Page": f"study {STUDY}"},
        ),
    log:
        f"logs/{STUDY}/site.log",
    localrule: True
    run:
        call("site", input=input, output=output, log=log)


rule verify:
    """Compare every result with the reference results, or with what it was when the study was finished."""
    input:
        lambda w: PLAN.to_verify(SOURCES, RESULTS),
    log:
        f"logs/{STUDY}/verify.log",
    localrule: True
    params:
        files=lambda w: PLAN.placed(in_order_of_causes(SOURCES, RESULTS)),
        # No input: it would be made again from the results.
        reference=lambda w: PLAN.reference(),
        made_with=lambda w: PLAN.made_with,
    run:
        call("verify", params=params, log=log, check=lambda: PLAN.check_results(SOURCES))


# In the project's own folder only.
if not HERE:

    rule update_reference:
        """Make the results of this study the reference results that the repository keeps."""
        input:
            lambda w: PLAN.definitions(),
            lambda w: PLAN.lost(SOURCES),
            kept=[*KEPT, RUN_RECORD, MANIFEST],
        log:
            f"logs/{STUDY}/update_reference.log",
        localrule: True
        params:
            # No output, which would count as made: on a fresh clone the former results are there.
            copies=lambda w: PLAN.kept_files([*KEPT, RUN_RECORD, MANIFEST]),
        run:
            call("update_reference", params=params, log=log)
