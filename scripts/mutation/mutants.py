"""The mutants of a C++ file, formatted by clang-format: lines changed as by a slip of the pen.

Text is never changed: comments and strings are masked before anything is looked for.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    file: str  # relative to the root
    line: int  # counted from 1
    original: str  # trimmed; two swapped lines are joined by " / "
    mutated: str
    new_lines: tuple  # what stands at `line` and after it instead

    def __str__(self):
        return f"{self.file}:{self.line}: {self.original} -> {self.mutated}"


# Binary operators have blanks on both sides, or end the line: `u32& x` and `vector<u32>` have not.
BINARY = {
    "<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="],
    "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["&"],
    "|=": ["&=", "="], "&=": ["|=", "="], "+=": ["-=", "="], "-=": ["+=", "="],
}
BINARY_AT = re.compile(r"(?<=\s)(" + "|".join(
    re.escape(op) for op in sorted(BINARY, key=len, reverse=True)) + r")(?=\s|$)")
TEXTUAL = [  # (what, instead of it)
    (re.compile(r"\btrue\b"), ["false"]),
    (re.compile(r"\bfalse\b"), ["true"]),
    (re.compile(r"\+\+"), ["--"]),
    (re.compile(r"--"), ["++"]),
    (re.compile(r"!(?=[\w(*])"), [""]),
    (re.compile(r"~(?=[\w(])"), [""]),
    (re.compile(r"\bstd::max\b"), ["std::min"]),
    (re.compile(r"\bstd::min\b"), ["std::max"]),
    (re.compile(r"\bcontinue;"), ["break;"]),
    (re.compile(r"\bbreak;"), ["continue;"]),
]
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-f]+|\d+)(?![\w.'])")
ENUM_HEAD = re.compile(r"\benum class (\w+)[^{]*\{")
ENUM_VALUE = re.compile(r"\b(\w+)::(k\w+)\b")
CONDITION = re.compile(r"\b(if|while) \((?!const |auto )")
SKIPPED = re.compile(r"^\s*(#|static_assert|assert\(|template <|using |friend |namespace |enum |"
                     r"class |struct |concept |public:|private:|case [^:]*(::\w+)*:$|default:$|"
                     r".*\b(asks|answered)\()")  # only the explorer listens to these
# What may be deleted: an assignment, a call, a step, a jump; not what declares a name.
STATEMENT = re.compile(r"^(?:(?:\+\+|--|\*)?[a-z_][\w.\->:]*(?:\[.*?\])*(?:\.[\w.]+)*"
                       r"(?: (?:[|&+\-^]|<<|>>)?= .*|\(.*\)|\+\+|--)|return|break|continue)$")
ACCESS = re.compile(r"\bmem_?\.(load|store|locked|fence|write_cr3|invlpg|irq_)|\bcpumask_\w+_cpu\(")


def masked(text):
    """The text with comments blanked and the insides of strings replaced, of the same length."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'',
                  lambda m: m.group()[0] + "s" * (len(m.group()) - 2) + m.group()[-1], text)
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r"//[^\n]*", blank, text)


def enums_of(texts):
    """The values of every `enum class` by its name."""
    enums = {}
    for text in map(masked, texts):
        for head in ENUM_HEAD.finditer(text):
            body = text[head.end():text.index("}", head.end())]
            enums[head.group(1)] = re.findall(r"\bk\w+", body)
    return enums


def instead_of_number(text):
    value = int(text, 0)
    if value == 0:
        return ["1"]
    write = hex if text.startswith("0x") else str
    return [write(value - 1), write(value + 1)]


def end_of(code, begin, ends):
    """Where the first of `ends` stands at or after `begin` outside brackets opened since, or -1."""
    depth = 0
    for at in range(begin, len(code)):
        if depth == 0 and code.startswith(ends, at):
            return at
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(code[at], 0)
        if depth < 0:
            return -1
    return -1


def says_the_same_negated(condition):
    """Whether to negate the one operator is to negate all of it: that is a mutant already."""
    one_term = "&&" not in condition and "||" not in condition
    return one_term and re.search(r" [=!]= |^!", condition) is not None


def is_complete(code, before):
    """Whether the line is a statement of its own: nothing before it is left open."""
    begins = (before == "" or before[-1] in ";{}:" or before.endswith("else") or
              re.match(r"(\} else )?(if|for|while)\b.*\)$", before) is not None)
    return begins and code.endswith(";")


def edits(line, code, enums):
    """(begin, end, replacement) for all that may be changed in a line, masked in `code`."""
    for m in BINARY_AT.finditer(code):
        for op in BINARY[m.group()]:
            yield m.start(), m.end(), op
    for what, instead in TEXTUAL:
        for m in what.finditer(code):
            for each in instead:
                yield m.start(), m.end(), each
    for m in NUMBER.finditer(code):
        for each in instead_of_number(m.group()):
            yield m.start(), m.end(), each
    for m in ENUM_VALUE.finditer(code):
        for value in enums.get(m.group(1), []):
            if value != m.group(2):
                yield m.start(2), m.end(2), value
    for m in CONDITION.finditer(code):
        begin, end = m.end(), end_of(code, m.end(), ")")
        condition = code[begin:end]
        if end > 0 and ";" not in condition and not says_the_same_negated(condition):
            yield begin, end, f"!({line[begin:end]})"
    for m in re.finditer(r" \? ", code):
        colon = end_of(code, m.end(), " : ")
        end = end_of(code, colon + 3, (",", ";", ")", "}", "]"))
        if 0 < colon < end:
            yield m.end(), end, f"{line[colon + 3:end]} : {line[m.end():colon]}"


def mutants_of(file, text, enums):
    lines = text.split("\n")
    codes = [code.rstrip() for code in masked(text).split("\n")]
    found = {}

    def add(at, new_lines):
        old = lines[at:at + len(new_lines)]
        show = lambda some: " / ".join(line.strip() for line in some)
        found.setdefault((at, tuple(new_lines)),
                         Mutant(file, at + 1, show(old), show(new_lines), tuple(new_lines)))

    before, before_at, before_is_statement, in_assert = "", -1, False, False
    for at, (line, code) in enumerate(zip(lines, codes)):
        stripped = code.strip()
        if not stripped:
            continue
        in_assert = in_assert or re.match(r"(static_)?assert\(", stripped) is not None
        skip = in_assert or SKIPPED.match(code) is not None
        in_assert = in_assert and not stripped.endswith(";")
        is_statement = False
        if not skip:
            for begin, end, new in edits(line, code, enums):
                add(at, [line[:begin] + new + line[end:]])
            indent = line[:len(line) - len(line.lstrip())]
            statement = re.sub(r"^(case [^:]*(::\w+)*: |default: )", "", stripped)
            label = stripped[:len(stripped) - len(statement)]
            complete = is_complete(statement, before) and indent != ""
            is_statement = complete and STATEMENT.match(statement[:-1]) is not None
            if is_statement or (complete and statement.startswith("if (")):
                add(at, [indent + label + ";"])
            value = re.match(r"(.*\breturn )(.+);$", code)
            if value and value.group(2) not in ("true", "false", "{}", "0", "nullptr", "std::nullopt"):
                add(at, [line[:value.end(1)] + "{};"])
            if (is_statement and before_is_statement and before_at == at - 1 and
                    ACCESS.search(code) and ACCESS.search(codes[at - 1]) and
                    re.match(r"\s*", codes[at - 1]).group() == indent):
                add(at - 1, [line, lines[at - 1]])
        before, before_at = stripped, at
        before_is_statement = is_statement
    return list(found.values())
