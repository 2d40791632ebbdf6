"""Every row of the speed table against its peer or its limit, by one command.

    pip install -e ".[bench]"
    python -m benchmarks.speed

Each row runs in a process of its own, ours and the peer in turns. The ratios go to
``results/speed.md``, and one line per run to ``results/speed-history.jsonl``; the exit code is 1
when a ratio is 20 % worse than in the last run on the same kind of machine. A peer that is not
installed is skipped by its name: R's praznik needs Rscript, FEAST the shared library FSToolbox.
"""
