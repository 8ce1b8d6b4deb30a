#!/usr/bin/env bash
# The second opinion (docs/second-opinion.md): SPIN's verdicts on tests/spin/lazy_tlb.pml against
# those of `hvtlb explore` on the litmuses that say the same.
# Usage: spin_test.sh PROGRAM
set -u
hvtlb=$1
here=$(cd "$(dirname "$0")" && pwd)
litmuses=$here/../zoo/litmus
. "$here/spin/verdicts.sh"

# A verifier runs for milliseconds. Compiling it takes tcc 0.06 s and gcc -O1 3 s, so tcc if it is
# there; SPIN_CC=gcc for another.
compiler=${SPIN_CC:-$(command -v tcc || echo gcc)}
for tool in spin "$compiler"; do
  command -v "$tool" >/dev/null && continue
  echo "FAILED: '$tool' is not installed: there is no second opinion without it (scripts/packages)"
  exit 1
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
compared=0

# The rows: LITMUS of zoo/litmus, or LITMUS@ERA for the same under the rules of another era, or
# LITMUS@ERA:native on another path; what lazy_tlb.pml is compiled with.
rows() {
  sed 's/#.*//' <<'END'
# natively: a switch to an mm against its flush
Z02@v6.4                  -DV6_13 -DSCENE_SWITCH
Z01a                      -DZ01a -DSCENE_SWITCH
Z01b                      -DZ01b -DSCENE_SWITCH
Z01c                      -DZ01c -DSCENE_SWITCH
Z02                       -DZ02 -DSCENE_SWITCH
Z02@v6.12.117             -DV6_12_117 -DSCENE_SWITCH
Z03                       -DZ03 -DSCENE_SWITCH
switch@v6.17.5:native       -DV6_17_5 -DSCENE_SWITCH
trim@v6.17.5:native         -DV6_17_5 -DSCENE_SWITCH -DTRIM=1
lazy-other@v6.17.5:native   -DV6_17_5 -DSCENE_LAZY_OTHER
lazy-same@v6.17.5:native    -DV6_17_5 -DSCENE_LAZY_SAME
foreign@v6.17.5:native      -DV6_17_5 -DSCENE_FOREIGN
two-flushers@v6.17.5:native -DV6_17_5 -DSCENE_TWO_FLUSHERS -DPAGES=2
# by hypercall
Z04@v6.4                  -DV6_13 -DSCENE_LAZY_OTHER -DHYPERV=1
Z04                       -DZ03 -DSCENE_LAZY_OTHER -DHYPERV=1
lazy-other@v6.17.5    -DV6_17_5 -DSCENE_LAZY_OTHER -DHYPERV=1
Z30                       -DV6_17_5 -DSCENE_STAY -DHYPERV=1 -DRETURNS_EARLY=1
# by hypercall, with the fix under review
lazy-other       -DV6_17_5 -DSCENE_LAZY_OTHER -DFILTERED=1
two-flushers     -DV6_17_5 -DSCENE_TWO_FLUSHERS -DPAGES=2 -DFILTERED=1
Z42-check                 -DZ01b -DSCENE_SWITCH_OF_THREE -DCPUS=3 -DFILTERED=1
Z42-marker                -DZ02_LAZY_BITS -DSCENE_SWITCH_OF_THREE -DCPUS=3 -DFILTERED=1
Z42-fence                 -DZ03 -DSCENE_SWITCH_OF_THREE -DCPUS=3 -DFILTERED=1
END
}

# explorer LITMUS[@ERA[:PATH]] MEMORY
explorer() {
  local file=$litmuses/${1%@*}.yaml
  if [[ $1 == *@* ]]; then
    local rules=${1#*@} path=
    [[ $rules == *:* ]] && path=${rules#*:}
    sed -e "s/^rules:.*/rules: {era: ${rules%:*}}/" ${path:+-e "s/path: [a-z]*/path: $path/"} \
      -e '/^expect:/d' "$file" >"$dir/litmus.yaml"
    file=$dir/litmus.yaml
  fi
  explorer_verdict "$hvtlb" "$file" "$2"
}

# by_spin FLAGS...
by_spin() {
  spin_source "$@" && spin_compile "$compiler" -O1 && spin_run -m10000 -w18
  spin_verdict
}

printf '%-28s %-6s %-20s %s\n' litmus memory "explorer, states" "SPIN, states"
while read -r litmus flags; do
  [ -n "$litmus" ] || continue
  for memory in sc tso; do
    ours=$(explorer "$litmus" "$memory")
    read -ra options <<<"$flags -D${memory^^}"
    theirs=$(by_spin "${options[@]}")
    printf '%-28s %-6s %-20s %s\n' "$litmus" "$memory" "$ours" "$theirs"
    compared=$((compared + 1))
    case "${ours%% *} ${theirs%% *}" in
      "holds holds"|"P1 P1") ;;
      "P8 P1") ;; # the model knows nothing of completion, only what comes of a return too early
      *)
        failed=$((failed + 1))
        echo "FAILED: $litmus under $memory: the explorer says '$ours', SPIN says '$theirs'" \
          "(${options[*]})"
        ;;
    esac
  done
done < <(rows)
echo "$compared verdicts compared, $failed differ"
[ "$failed" -eq 0 ] && [ "$compared" -gt 0 ]
