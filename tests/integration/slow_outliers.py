"""`outliers` the slow way: medians of lists. The rule stands in cli/answers/tables/outliers.cpp."""
from statistics import median_low

import slow_tables

MADS, FEWEST, STEP_SHARE, KERNEL_SHARE, MOST, LEAST_COST = 5, 8, 20, 4, 10, 1000


def usual(values, share):
    """median, MAD, and what no value that is not an outlier exceeds."""
    middle = median_low(values)
    mad = median_low([abs(value - middle) for value in values])
    limit = middle + max(MADS * mad, middle // share)
    return middle, mad, limit if len(values) >= FEWEST else float("inf")


def step_of(steps, work):
    """That launched it."""
    return next((step.number for step in steps if work in step.works), None)


def parts(row):
    """Disjoint parts of a step."""
    return {"idle": row["idle_ns"], "compute": row["compute_ns"], "exposed_comm": row["exposed_comm_ns"],
            "memory": row["busy_ns"] - row["compute_ns"] - row["exposed_comm_ns"]}


def steps_of(ranks):
    """`ranks`: [(rank, works, steps of slow_steps)]. Rows of steps."""
    lengths = [step.end - step.begin for _, _, steps in ranks for step in steps]
    if not lengths:
        return []
    middle, mad, limit = usual(lengths, STEP_SHARE)
    rows = []
    for rank, works, steps in ranks:
        for i, (number, _, _, begin, end, _) in enumerate(steps):
            if end - begin <= limit:
                continue
            each = [parts(slow_tables.temporal(slow_tables.clipped(works, a, b), b - a)) for _, _, _, a, b, _ in steps]
            grew = {name: each[i][name] - median_low([part[name] for part in each]) for name in each[i]}
            differs = max(grew, key=lambda name: grew[name])
            sums = {}
            for at, step in enumerate(steps):
                for work in step.works:
                    if work.launch is not None and work.kind != "comm":
                        sums.setdefault(work.name, [0] * len(steps))[at] += work.end - work.start
            most = max(((some[i] - median_low(some), name) for name, some in sums.items()), default=(0, None))
            known = grew[differs] > 0
            rows.append({"what": "step", "rank": rank, "step": number, "name": None, "count": 1, "of_count": len(lengths), "median_ns": middle,
                         "mad_ns": mad, "longest_ns": end - begin, "excess_ns": end - begin - middle, "differs": differs if known else None,
                         "grew_ns": grew[differs] if known else None, "kernel_grew_ns": most[0] if most[0] > 0 else None})
    return sorted(rows, key=lambda row: -row["excess_ns"])


def kernels_of(ranks):
    kinds, total = {}, {}
    for rank, works, steps in ranks:
        for work in works:
            if work.launch is not None and work.kind != "comm":
                kinds.setdefault((work.name, work.launch[:2] or ((), ())), []).append((work.end - work.start, rank, work, steps))
                total[rank] = total.get(rank, 0) + work.end - work.start
    rows = []
    for (name, (grid, block)), some in kinds.items():
        middle, mad, limit = usual([each[0] for each in some], KERNEL_SHARE)
        found = [each for each in some if each[0] > limit]
        if not found or len(found) * MOST > len(some):
            continue
        for rank in sorted({each[1] for each in found}):
            own = [each for each in found if each[1] == rank]
            excess = sum(each[0] - middle for each in own)
            longest = max(each[0] for each in own)
            work, steps = next((work, steps) for length, _, work, steps in own if length == longest)
            if excess >= total[rank] // LEAST_COST:
                rows.append({"what": "kernel", "rank": rank, "step": step_of(steps, work), "name": name, "grid": list(grid) or None,
                             "block": list(block) or None, "count": len(own), "of_count": len(some), "median_ns": middle, "mad_ns": mad,
                             "longest_ns": longest, "excess_ns": excess, "differs": None, "kernel": None})
    return sorted(rows, key=lambda row: (-row["excess_ns"], row["name"], row["rank"]))
