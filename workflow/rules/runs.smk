# From systems to summaries: data sets, one job for each run, one summary for each cell.


rule simulate:
    """Simulate one system at one SNR."""
    input:
        recorded_input(),
    output:
        DATA,
    log:
        DATA_LOG,
    params:
        experiment=lambda w: {
            "system": described(w.system),
            "snr_db": float(w.snr_db),
            "data": EXPERIMENT.data.model_dump(mode="json", exclude={"validation_samples"}),
            "realisation": int(w.seed) if OWN_DATA else None,
        },
        code=modules(DATA_CODE, "simulate"),
    run:
        simulate(output[0], log[0], **params.experiment)


# Run one search on one data set with one seed, or with several seeds in turn.
for search_rule, data, outputs, timings in search_jobs():

    rule:
        name:
            search_rule
        input:
            data=data,
        output:
            outputs,
        log:
            timings,
        params:
            orders=lambda w: orders(w.system),
            algorithm=lambda w: EXPERIMENT.searches[w.search].algorithm,
            settings=lambda w: search_settings(w.search),
            evaluations=EXPERIMENT.evaluations,
            code=lambda w: run_code(w.search),
        run:
            run_searches(
                input.data,
                output,
                log,
                axes=dict(wildcards.items()),
                orders=params.orders,
                algorithm=params.algorithm,
                settings=params.settings,
                evaluations=params.evaluations,
            )


rule aggregate:
    """Summarise the runs of one cell: selection frequencies, spurious terms, final structure, convergence."""
    input:
        runs=lambda w: expand(RUN, seed=EXPERIMENT.seeds, **w),
        data=lambda w: data_files(w.system, w.snr_db),
    output:
        CELL,
    log:
        CELL_LOG,
    params:
        system=lambda w: described(w.system),
        summary=lambda w: {
            "orders": orders(w.system),
            "settings": search_settings(w.search),
            "seeds": EXPERIMENT.seeds,
            "evaluations": EXPERIMENT.evaluations,
            **EXPERIMENT.statistics.model_dump(),
        },
        code=modules(CELL_CODE, "aggregate"),
    run:
        aggregate(
            input.runs,
            input.data,
            output[0],
            log[0],
            system=params.system,
            criterion=wildcards.criterion,
            **params.summary,
        )
