# Digests of all results, and their comparison with those that the repository keeps.


rule manifest:
    """Write digest and value of every result, and versions and configuration that they were made with."""
    input:
        results(),
    output:
        "reports/manifest.csv",
    log:
        "logs/manifest/manifest.log",
    params:
        config=EXPERIMENT.model_dump(mode="json"),
        code=code_of("narxbench.manifest", "scripts.manifest"),
    script:
        "../../scripts/manifest.py"


rule verify:
    """Compare every result with the manifest that the repository keeps."""
    input:
        lambda w: manifest_to_verify(),
        # A result that is missing would not be missed while the manifest is there.
        results(),
    log:
        "logs/manifest/verify.log",
    params:
        config=EXPERIMENT.model_dump(mode="json"),
        # Not an input: it would be made anew from the results.
        kept=KEPT_MANIFEST,
    script:
        "../../scripts/verify.py"


rule keep_manifest:
    """Copy the manifest."""
    input:
        "reports/manifest.csv",
    output:
        KEPT_MANIFEST,
    log:
        "logs/publish/manifest.csv.log",
    shell:
        "cp {input} {output} 2> {log}"


ruleorder: keep_manifest > keep_table
