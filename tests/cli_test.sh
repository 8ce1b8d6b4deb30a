#!/usr/bin/env bash
# The program as a user meets it: exit codes, streams, and one line for what is wrong.
# Usage: cli_test.sh PROGRAM
set -u
hvtlb=$1
most_cpus=${HVTLB_TEST_CPUS:-4096}  # with sanitizers fewer: the run takes seconds
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
passed=0

# expect NAME EXIT PATTERN COMMAND...: the exit code, and a line of the output that matches.
expect() {
  local name=$1 exit=$2 pattern=$3
  shift 3
  "$@" >"$dir/out" 2>"$dir/err" </dev/null
  local got=$?
  if [ $got -eq "$exit" ] && cat "$dir/out" "$dir/err" | grep -qE -- "$pattern"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: exit $got (expected $exit), expected a line with: $pattern"
    head -5 "$dir/out" "$dir/err"
  fi
}
# one_line NAME: the last command wrote nothing on standard output and one line on standard error.
one_line() {
  if [ -s "$dir/out" ] || [ "$(wc -l <"$dir/err")" -ne 1 ]; then
    failed=$((failed + 1))
    echo "FAILED: $1: not one line on standard error"
  else
    passed=$((passed + 1))
  fi
}

expect "version" 0 '^hvtlb [0-9]' "$hvtlb" --version
expect "help" 0 'Exit codes' "$hvtlb" --help
expect "every subcommand's help has an example" 0 'Example' "$hvtlb" compare --help
expect "limits in the help" 0 'Limits: 4096 CPUs' "$hvtlb" compare --help
expect "no subcommand" 1 'expected one of|required' "$hvtlb"
one_line "no subcommand"
expect "unknown subcommand" 1 "found 'bogus', expected one of" "$hvtlb" bogus
one_line "unknown subcommand"
expect "unknown option" 1 'bogus' "$hvtlb" compare --bogus
one_line "unknown option"

expect "the regression" 0 '2000 all-processor calls with 96 targets each' "$hvtlb" compare
expect "a sweep" 0 "^ *$most_cpus +threads" "$hvtlb" compare threads --cpus "8,$most_cpus"
expect "one built-in" 0 '1 immediate trim with 95 IPIs' "$hvtlb" compare regression-busy
expect "list" 0 'sparse-vps' "$hvtlb" compare --list
expect "cost model" 0 'cost model.*hypercall 1' "$hvtlb" compare threads --cost hypercall=1,target=0.5
expect "bad cost" 1 "found 'x=1'" "$hvtlb" compare --cost x=1
expect "too many CPUs" 1 "found '1000000', expected numbers from 1 to 4096" "$hvtlb" compare --cpus 1000000
one_line "too many CPUs"
expect "unknown era" 1 "found the era 'v9'" "$hvtlb" compare --era v9
expect "unknown field" 1 "found the field 'x'" "$hvtlb" compare --set x=1
expect "a set field is marked" 0 'filtered\*' "$hvtlb" compare regression-init --era v6.17.5 --era filtered --set hv_immediate_trim=false
expect "no such file" 1 'cannot be opened' "$hvtlb" compare "$dir/none.yaml"
expect "json" 0 '"schema": "hvtlb-compare-1"' "$hvtlb" compare --json
expect "eras" 0 'native_predicate' "$hvtlb" eras v6.17.5 filtered
expect "eras json" 0 '"hvtlb-eras-1"' "$hvtlb" eras --json
expect "explore" 0 'VIOLATES P1, as expected' "$hvtlb" explore Z03
expect "a litmus that holds" 0 'tso +holds, exhausted, as expected' "$hvtlb" explore switch --memory tso
expect "without symmetry" 0 'sc +VIOLATES P1' "$hvtlb" explore Z01a --no-symmetry --memory sc
expect "without reduction" 0 'sc +VIOLATES P1' "$hvtlb" explore Z01a --no-reduction --memory sc
expect "a matrix" 0 '^v6.12.29 \+ fix +- +P1 ' "$hvtlb" matrix porting
expect "any number of CPUs, alone" 0 '^native +batch +initiator alone +tso +holds, exhausted: [0-9]+ states' \
  "$hvtlb" environment --alone --flush batch --path native
expect "any number of CPUs, broken" 3 'P2 \(no walk of a freed table\) is broken on CPU 0, B' \
  "$hvtlb" environment --alone --flush tables --path native --memory sc --set freed_tables=skip_lazy
expect "any number of CPUs, too little memory" 2 'bounded: the memory limit is reached' \
  "$hvtlb" environment --alone --flush page --path native --memory sc --memory-limit 1
expect "merged states" 0 'alone +sc +[0-9]+ states, [0-9]+ merges: all go on alike' \
  "$hvtlb" environment --alone --flush batch --path native --memory sc --check-merges 100000
expect "no such layout" 1 'layout: high not in' "$hvtlb" environment --layout high
expect "no such matrix" 1 'TABLE: nothing not in' "$hvtlb" matrix nothing
expect "no litmus" 1 'found no litmus, expected' "$hvtlb" explore
expect "a litmus that is nowhere" 1 'none: cannot be opened' "$hvtlb" explore "$dir/none"
sed 's/^expect:.*/expect: {sc: holds, tso: holds}/' "$(dirname "$0")/../zoo/litmus/Z03.yaml" >"$dir/wrong.yaml"
expect "not as expected" 3 'VIOLATES P1, NOT AS EXPECTED' "$hvtlb" explore "$dir/wrong.yaml"
cat >"$dir/three.yaml" <<'YAML'
hvtlb-litmus: 1
machine: {cpus: 3, path: native}
processes: [A]
before: [run A on 0, run A on 1, run A on 2]
cpus: {0: mprotect A 1 page, 1: mprotect A 1 page, 2: mprotect A 1 page}
YAML
expect "a bound is no proof" 2 'bounded: the memory limit is reached' "$hvtlb" explore "$dir/three.yaml" --memory-limit 1
cat >"$dir/stale.yaml" <<'YAML'
hvtlb-litmus: 1
machine: {cpus: 3, path: hyperv}
rules: {era: v6.14}
processes: [A, B]
before: [run B on 0, run B on 1, run A on 1, run B on 2, tick 2000]
cpus: {0: mprotect B 1 page, 2: mprotect B 1 page}
YAML
expect "what is measured" 0 'at most, at one moment: CPUs reached on another mm 1 \(P5\), bits left by a trim round 1 \(P6\)$' \
  "$hvtlb" explore "$dir/stale.yaml" --memory tso
"$hvtlb" explore Z03 --json >"$dir/z03.json"
expect "a counterexample again" 3 '^The same as in the file, after the last step.' "$hvtlb" explore --replay "$dir/z03.json"
expect "a counterexample from standard input" 3 '^The same' sh -c '"$0" explore --replay - <"$1"' "$hvtlb" "$dir/z03.json"
expect "replay and a litmus" 1 '--replay excludes LITMUS|LITMUS excludes --replay' "$hvtlb" explore Z03 --replay "$dir/z03.json"
expect "replay of what is no JSON" 1 'three.yaml: found no JSON' "$hvtlb" explore --replay "$dir/three.yaml"
one_line "replay of what is no JSON"
expect "the whole catalogue" 0 '^Steps of the guest.s routines reached: [0-9]+ of [0-9]+' "$hvtlb" explore --all --memory sc
expect "steps not reached" 0 'not reached: model/lam.h:[0-9]+ enable_lam' "$hvtlb" explore switch --steps
for part in 1 2; do
  "$hvtlb" explore switch --shard $part/2 --json >"$dir/$part.json"
done
expect "merged shards" 0 'tso +holds, exhausted, as expected: 2 shards' "$hvtlb" explore --merge "$dir/1.json" "$dir/2.json"
expect "a shard is missing" 1 'found 1 of 2 shards, expected shard 1, too' "$hvtlb" explore --merge "$dir/2.json"
one_line "a shard is missing"
for part in 0/2 3/2 2 x/2 1/2x 1/ 1/10001; do
  expect "shard $part" 1 "found '$part', expected a part such as 2/8" "$hvtlb" explore Z03 --shard $part
  one_line "shard $part"
done
expect "completion" 0 'complete -F _hvtlb hvtlb' "$hvtlb" completion

expect "one era an option" 0 '^a multi-threaded process' "$hvtlb" compare --era v6.4 threads --cpus 4
expect "one field an option" 0 'filtered\*' "$hvtlb" compare --set hv_immediate_trim=false threads --cpus 4
expect "an era is not the trace" 1 'none: No such file' "$hvtlb" replay --era v6.4 "$dir/none"
expect "an era twice" 1 "found 'v6.4' twice" "$hvtlb" compare --era v6.4 --era v6.4
expect "an era twice in replay" 1 "found 'v6.4' twice" "$hvtlb" replay --era v6.4 --era v6.4 "$dir/none"
expect "an era twice in eras" 1 "found the era 'v6.4' twice" "$hvtlb" eras v6.4 v6.4
expect "an era that is a release" 1 'hvtlb eras says which releases' "$hvtlb" compare --era v6.16
expect "no CPUs" 1 "--cpus: found ''" "$hvtlb" compare --cpus ""
expect "no cost" 1 "--cost: found ''" "$hvtlb" compare --cost ""
expect "a cost twice" 1 'found hypercall twice' "$hvtlb" compare --cost hypercall=1,hypercall=2
expect "no built-in" 1 'no built-in scenario has this name' "$hvtlb" compare "$dir/none"
expect "a group is not printed" 1 'expected one scenario' "$hvtlb" compare --print-scenario
one_line "a group is not printed"
expect "a sweep is not printed" 1 'found 2 numbers of CPUs' "$hvtlb" compare threads --cpus 8,9 --print-scenario
expect "a page on standard output" 0 '^<!doctype html>' "$hvtlb" compare threads --cpus 8 --html -
expect "two results on standard output" 1 'expected one of them' "$hvtlb" compare threads --html - --json
expect "control characters" 1 'foo.nbar: cannot be opened' "$hvtlb" compare $'foo\nbar'
one_line "control characters"
for subcommand in compare replay encode decode step explore; do
  expect "$subcommand of a directory" 1 'is a directory, expected' "$hvtlb" $subcommand "$dir"
  one_line "$subcommand of a directory"
done
if [ -e /dev/full ]; then
  for arguments in "eras" "eras --json" "compare threads --cpus 8" "compare threads --cpus 8 --json" \
      "--help" "zoo list" "explore --list" "completion"; do
    # shellcheck disable=SC2086
    expect "$arguments cannot be written" 1 'standard output cannot be written' \
      bash -c '"$@" >/dev/full' bash "$hvtlb" $arguments
    one_line "$arguments cannot be written"
  done
fi

# complete WORDS...: what bash completion offers for the last word.
complete_words() {
  "$hvtlb" completion >"$dir/completion"
  bash -c '. "$1"; shift; COMP_WORDS=(hvtlb "$@"); COMP_CWORD=$#; _hvtlb; echo "${COMPREPLY[@]}"' \
    bash "$dir/completion" "$@"
}
expect "completion: subcommands" 0 '^encode eras explore environment$' complete_words e
expect "completion: litmuses" 0 '^Z42-check$' complete_words explore Z42-c
expect "completion: eras" 0 '^v6.15$' complete_words compare --era v6.15
expect "completion: the recorded era" 0 '^filtered$' complete_words replay --recorded-era f
expect "completion: the second of two eras" 0 '^filtered$' complete_words eras v6.4 f
expect "completion: built-ins" 0 '^threads$' complete_words compare thr
expect "completion: the zoo" 0 '^list show run$' complete_words zoo ""
expect "completion: entries" 0 '^Z14$' complete_words zoo show Z14
expect "completion: more entries" 0 '^Z15$' complete_words zoo run Z14 Z15
expect "completion: options" 0 '^--print-scenario$' complete_words compare --pr

cat >"$dir/finding.yaml" <<'YAML'
hvtlb-scenario: 1
machine: {cpus: 4}
processes: {A: {threads: 2}, B: {threads: 1}}
steps:
  - run A on 0
  - run A on 1, then idle on 1
  - munmap A 1 page freeing tables on 0
YAML
expect "a verdict holds" 0 'violations +0 +0' "$hvtlb" compare "$dir/finding.yaml"
cat >"$dir/z14.yaml" <<'YAML'
hvtlb-scenario: 1
machine: {cpus: 4, vp: {offset: 70, stride: 1}, hv_max_vp_index: 4096, host: kvm}
processes: {A: {threads: 2}}
steps:
  - run A on 0
  - run A on 1
  - mprotect A 1 page on 0
YAML
expect "a known fault" 0 'violated, but a known fault of the era \(Z14\): exit 0' "$hvtlb" compare "$dir/z14.yaml"
expect "a missed flush is seen" 0 'MISSED: needed and not reached +2 +2' "$hvtlb" compare "$dir/z14.yaml"
expect "a sweep without measure" 0 '^Whole runs:' "$hvtlb" compare "$dir/finding.yaml" --cpus 4,8
expect "a finding" 3 'P1 \(no missed flush\): CPU' "$hvtlb" compare "$dir/z14.yaml" --era filtered --set hv_immediate_trim=false
"$hvtlb" compare regression-busy --print-scenario >"$dir/printed.yaml"
expect "a printed scenario runs" 0 '1 immediate trim with 95 IPIs' "$hvtlb" compare "$dir/printed.yaml"
printf 'hvtlb-scenario: 1\nmachine: {cpus: 2}\nprocesses: [A]\nsteps:\n  - run A on 7\n' >"$dir/bad.yaml"
expect "a bad scenario" 1 'bad.yaml:5:5: found CPU 7, expected CPUs below 2' "$hvtlb" compare "$dir/bad.yaml"
one_line "a bad scenario"
sed -i 's/^machine/rules: {era: v6.14}\nmachine/' "$dir/finding.yaml"
expect "the scenario's own era is not used" 0 'note: the rules of .*finding.yaml \(v6.14\) are not used' "$hvtlb" compare "$dir/finding.yaml" --era v6.4
expect "it is used" 0 '^0$' sh -c '"$0" compare "$1" --era v6.4 --era v6.14 2>&1 | grep -c note:; true' "$hvtlb" "$dir/finding.yaml"
expect "a scenario from standard input, swept" 0 '^ *3 +standard input' sh -c '"$0" compare - --cpus 4,3 <"$1"' "$hvtlb" "$dir/finding.yaml"
"$hvtlb" compare threads --html "$dir/page.html" >/dev/null
expect "the page is self-contained" 1 '^0$' grep -cE 'src=|href=|<script' "$dir/page.html"
expect "the page has a picture" 0 '<rect class="needed"' cat "$dir/page.html"

visit=$(dirname "$0")/data/traces/linux-6.12.117-8cpu-visit.txt
grep -v ntm: "$visit" >"$dir/trace"
expect "replay" 0 'mask before flush: 103 of 103 equal \(100 %\)' "$hvtlb" replay "$visit"
expect "replay without masks says so" 0 'NO MASKS WERE RECORDED .* 103 flushes' "$hvtlb" replay "$dir/trace"

request='{"id":1,"nr_cpus":4,"cur_cpu":0,"present":"0xf","cpus":"0x7","lazy":"0x4","vp_of_cpu":[0,1,2,3],"hv_max_vp_index":3,"pgd_phys":"0x1000","start":"0x7f0000000000","end":"0x7f0000001000"}'
echo "$request" >"$dir/request"
expect "encode" 0 '"processor_mask":"0x3"' "$hvtlb" encode "$dir/request"
printf '%s\n{"id":2}\n%s\n' "$request" "$request" >"$dir/request"
expect "a refused line" 1 '"error":"nr_cpus: missing"' "$hvtlb" encode "$dir/request"
[ "$(wc -l <"$dir/out")" -eq 3 ] || { echo "FAILED: every line is answered"; failed=$((failed + 1)); }
printf '%s\n' '{"nr_cpus":2,"nr_mms":1,"era":"v6.12.117","path":"native"}' '{"op":"switch_mm","cpu":0,"mm":1}' '{"op":"switch_mm","cpu":5,"mm":1}' >"$dir/script"
expect "step" 1 '"pgd":"0x100000"' "$hvtlb" step "$dir/script"
expect "step refuses" 1 'cpu: found 5' "$hvtlb" step "$dir/script"
expect "no such script" 1 'cannot be opened' "$hvtlb" step "$dir/none"

printf '{"id":%s%s}\n%s\n' "$(printf '%20000s' | tr ' ' '[')" "$(printf '%20000s' | tr ' ' ']')" "$request" >"$dir/deep"
expect "a deep line is refused in its place" 1 'more than 64 objects and lists' "$hvtlb" encode "$dir/deep"
[ "$(wc -l <"$dir/out")" -eq 2 ] || { echo "FAILED: the line after a deep one"; failed=$((failed + 1)); }

# The examples of docs/jsonl.md: every command that begins with `$ ` and the lines below it.
mkdir "$dir/bin" && ln -s "$(realpath "$hvtlb")" "$dir/bin/hvtlb"
examples=0 command='' wanted=''
while IFS= read -r line; do
  case $line in
    '$ '*) command=${line#'$ '} wanted='' ;;
    '```')
      if [ -n "$command" ]; then
        examples=$((examples + 1))
        [ "$(PATH=$dir/bin:$PATH bash -c "$command")" = "${wanted%$'\n'}" ] ||
          { echo "FAILED: the example in docs/jsonl.md: $command"; failed=$((failed + 1)); }
      fi
      command='' ;;
    *) wanted+=$line$'\n' ;;
  esac
done <"$(dirname "$0")/../docs/jsonl.md"
expect "examples in docs/jsonl.md" 0 '^3$' echo $examples

"$hvtlb" compare threads --cpus "$most_cpus" --json 2>"$dir/err" | head -1 >/dev/null
[ -s "$dir/err" ] && { echo "FAILED: a closed pipe is no error"; failed=$((failed + 1)); }

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
