"""The table at the end, also as the Markdown that the docs show."""


def table(yardstick, runs, new_files):
    header = ("target", "executions", "exec/s", "of empty", "guest op/s", "cov", "ft", "new ft",
              "new files", "findings")
    rows = [header]
    for run in ([yardstick] if yardstick else []) + runs:
        ratio = run.speed / yardstick.speed if yardstick and yardstick.speed else 0.0
        rows.append((run.target, f"{run.executions:,}", f"{run.speed:,.0f}", f"1/{1 / ratio:,.0f}"
                     if ratio else "-", f"{run.operation_speed:,.0f}" if run.operations else "-",
                     str(run.coverage), str(run.features), str(run.new_features),
                     str(new_files.get(run.target, 0)), str(len(run.artifacts) or run.failed * 1)))
    widths = [max(len(row[at]) for row in rows) for at in range(len(header))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("| " + " | ".join(cells) + " |")
        if row is header:
            lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
