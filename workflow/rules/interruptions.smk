# What happens when a run is told to end.
import os
import signal
import sys
import threading

# What a batch system and a terminal that is closed send; nohup keeps the latter off.
ENDS = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]


def heed_signals_while_planning():
    """Exit in an orderly way: the signals would end Python at once and leave the folder locked."""
    for number in ENDS:
        signal.signal(number, lambda *_: sys.exit("narxbench: terminated while planning; repeat the command to go on."))


def heed_signals_while_working():
    """End with the jobs under way."""
    # Snakemake's handler takes a lock that the interrupted thread may hold, and would then wait for ever.
    for number in ENDS:
        signal.signal(number, lambda *_: threading.Thread(target=workflow.scheduler.exit_gracefully).start())
    if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)


def interrupted(*_):
    """Heed Ctrl-C once: a search cannot be stopped, and Snakemake would lose its way if it were interrupted again."""
    told = f"narxbench: it ends with the steps under way; kill -9 {os.getpid()} ends it at once.\n"
    signal.signal(signal.SIGINT, lambda *_: os.write(sys.stderr.fileno(), told.encode()))
    raise KeyboardInterrupt


heed_signals_while_planning()
