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
        experiment=data_experiment,
        realisation=lambda w: int(w.seed) if OWN_DATA else None,
        code=modules(DATA_CODE, "simulate"),
    run:
        simulate(output[0], log[0], **params.experiment, realisation=params.realisation)


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
                # No parameter: when the experiment changes, the data set does.
                experiment=data_experiment(wildcards),
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
        definition=lambda w: definition_digest(**cell_definition(w)),
        code=modules(CELL_CODE, "aggregate"),
    run:
        aggregate(
            input.runs,
            input.data,
            output[0],
            log[0],
            **cell_definition(wildcards),
        )
