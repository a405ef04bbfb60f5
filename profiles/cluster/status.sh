#!/bin/sh
# Print the state of the Slurm job $1 for Snakemake: running, success or failed.
state=$(squeue --noheader --states=all --format=%T --job "$1" 2>/dev/null)
# Slurm forgets finished jobs after some minutes (MinJobAge); its accounting, where there is any, does not.
[ -n "$state" ] || state=$(sacct --noheader --allocations --parsable2 --format=State --job "$1" 2>/dev/null)
case $state in
COMPLETED*) echo success ;;
PENDING* | CONFIGURING* | RUNNING* | COMPLETING* | SUSPENDED* | REQUEUED* | STOPPED* | SIGNALING* | STAGE_OUT*) echo running ;;
# Where even the controller does not answer, nothing is known.
"") scontrol ping >/dev/null 2>&1 && echo failed || echo running ;;
*) echo failed ;;
esac
