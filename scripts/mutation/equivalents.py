"""tests/mutation/equivalent.txt: mutants that no test can kill, each with the reason."""

PATH = "tests/mutation/equivalent.txt"


def read_equivalents(text, sources):
    """Returns {(file, original, mutated): reason} and a list of complaints about the text.

    Blocks of four lines: the file, `- ` and the line, `+ ` and what becomes of it, `= ` and why.
    """
    known, complaints = {}, []
    lines = [(number, line.rstrip()) for number, line in enumerate(text.split("\n"), 1)
             if line.strip() and not line.startswith("#")]
    while lines:
        block, lines = lines[:4], lines[4:]
        number = block[0][0]
        marks = [line[:2] for _, line in block[1:]]
        if marks != ["- ", "+ ", "= "]:
            complaints.append(f"{PATH}:{number}: found a block that is not FILE, '- ', '+ ', '= '")
            break
        file = block[0][1]
        original, mutated, reason = (line[2:].strip() for _, line in block[1:])
        here = {line.strip() for line in sources.get(file, "").split("\n")}
        swapped = original.split(" / ")  # two lines, unless it divides
        if original not in here and not here.issuperset(swapped):
            complaints.append(f"{PATH}:{number}: {file} has no such line any more: {original}")
        known[file, original, mutated] = reason
    return known, complaints
