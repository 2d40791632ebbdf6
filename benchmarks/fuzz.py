"""The long run of the fuzz suite: resumable, every failing case written down.

``python -m benchmarks.fuzz --cases 50000 --seed 0 --out fuzz.jsonl`` appends one line per failing
case and a mark every 100 cases; run again with the same arguments it goes on where it ended.
``--case '{"method": …}'`` looks at one case again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz.cases import Case, problems

MARK_EVERY = 100


def read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def failing(case: Case, number: int) -> dict[str, Any] | None:
    start = time.perf_counter()
    complaints = list(problems(case))
    seconds = round(time.perf_counter() - start, 2)
    if not complaints:
        return None
    return {"number": number, "problems": complaints, "seconds": seconds, "case": case.as_dict()}


def run(seed: int, n_cases: int, path: Path) -> None:
    first = max((entry.get("done", 0) for entry in read(path)), default=0)
    with path.open("a", encoding="utf-8") as out:
        for number in range(first, n_cases):
            entry = failing(Case.numbered(seed, number), number)
            if entry:
                out.write(json.dumps(entry) + "\n")
            if (number + 1) % MARK_EVERY == 0 or number + 1 == n_cases:
                out.write(json.dumps({"done": number + 1, "seed": seed}) + "\n")
                out.flush()


def summary(path: Path) -> str:
    entries = read(path)
    done = max((entry.get("done", 0) for entry in entries), default=0)
    numbers = {e["number"]: e for e in entries if "number" in e}  # a part may have run twice
    kinds = Counter(
        (e["case"]["method"], p.partition(":")[0]) for e in numbers.values() for p in e["problems"]
    )
    lines = [f"{done} cases, {len(numbers)} with problems"]
    return "\n".join(
        lines + [f"{n:6d}  {method}: {what}" for (method, what), n in kinds.most_common()]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("fuzz.jsonl"))
    parser.add_argument("--case", type=json.loads, help="one case as it was written down")
    given = parser.parse_args()
    if given.case is not None:
        print("\n".join(problems(Case.from_dict(given.case))) or "nothing")
        return
    run(given.seed, given.cases, given.out)
    print(summary(given.out))


if __name__ == "__main__":
    main()
