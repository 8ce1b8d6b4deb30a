#!/usr/bin/env bash
# The second opinion (docs/second-opinion.md): SPIN's verdicts on tests/spin/lazy_tlb.pml against
# those of `hvtlb explore` on the litmuses that say the same.
# Usage: spin_test.sh PROGRAM
set -u
hvtlb=$1
here=$(cd "$(dirname "$0")" && pwd)
litmuses=$here/../zoo/litmus

# A verifier runs for milliseconds and compiles for longer: with clang -O0 0.5 s, with gcc -O1 2 s.
compiler=$(command -v clang-14 || command -v gcc)
for tool in spin "${compiler:-gcc}"; do
  command -v "$tool" >/dev/null && continue
  echo "FAILED: '$tool' is not installed: there is no second opinion without it (scripts/packages)"
  exit 1
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
compared=0

# The rows: LITMUS of zoo/litmus, or LITMUS@ERA for the same under the rules of another era; the
# memory models; what lazy_tlb.pml is compiled with. Every row runs under SC, and those where the
# store buffer or a fence decides also under TSO.
rows() {
  sed 's/#.*//' <<'END'
# natively: a switch to an mm against its flush
Z02@v6.4                  sc      -DV6_13 -DSCENE_SWITCH
Z01a                      sc      -DZ01a -DSCENE_SWITCH
Z01b                      sc      -DZ01b -DSCENE_SWITCH
Z01c                      sc      -DZ01c -DSCENE_SWITCH
Z02                       sc      -DZ02 -DSCENE_SWITCH
Z02@v6.12.117             sc,tso  -DV6_12_117 -DSCENE_SWITCH
Z03                       sc,tso  -DZ03 -DSCENE_SWITCH
switch-new-native         sc,tso  -DV6_17_5 -DSCENE_SWITCH
trim-new-native           sc      -DV6_17_5 -DSCENE_SWITCH -DTRIM=1
lazy-other-new-native     sc      -DV6_17_5 -DSCENE_LAZY_OTHER
lazy-same-new-native      sc      -DV6_17_5 -DSCENE_LAZY_SAME
foreign-new-native        sc      -DV6_17_5 -DSCENE_FOREIGN
two-flushers-new-native   sc      -DV6_17_5 -DSCENE_TWO_FLUSHERS -DPAGES=2
# by hypercall
Z04@v6.4                  sc      -DV6_13 -DSCENE_LAZY_OTHER -DHYPERV=1
Z04                       sc,tso  -DZ03 -DSCENE_LAZY_OTHER -DHYPERV=1
lazy-other-new-hyperv     sc,tso  -DV6_17_5 -DSCENE_LAZY_OTHER -DHYPERV=1
Z30                       sc      -DV6_17_5 -DSCENE_STAY -DHYPERV=1 -DRETURNS_EARLY=1
# by hypercall, with the fix under review
lazy-other-filtered       sc      -DV6_17_5 -DSCENE_LAZY_OTHER -DFILTERED=1
two-flushers-filtered     sc      -DV6_17_5 -DSCENE_TWO_FLUSHERS -DPAGES=2 -DFILTERED=1
Z42-check                 sc      -DZ01b -DSCENE_SWITCH_OF_THREE -DCPUS=3 -DFILTERED=1
Z42-marker                sc      -DZ02_LAZY_BITS -DSCENE_SWITCH_OF_THREE -DCPUS=3 -DFILTERED=1
Z42-fence                 sc,tso  -DZ03 -DSCENE_SWITCH_OF_THREE -DCPUS=3 -DFILTERED=1
END
}

# explorer LITMUS[@ERA] MEMORY: "VERDICT STATES", VERDICT being `holds` or a property.
explorer() {
  local file=$litmuses/${1%@*}.yaml
  if [[ $1 == *@* ]]; then
    sed -e "s/^rules:.*/rules: {era: ${1#*@}}/" -e '/^expect:/d' "$file" >"$dir/litmus.yaml"
    file=$dir/litmus.yaml
  fi
  "$hvtlb" explore "$file" --memory "$2" --json >"$dir/explorer.json" 2>"$dir/explorer.err"
  case $? in
    0|3) ;;  # 3: not what the litmus expects, which explore_test judges
    *) echo "failed: $(head -1 "$dir/explorer.err")"; return ;;
  esac
  local verdict="" property="" states="" key value
  while IFS=': ' read -r key value; do
    value=${value%,}
    value=${value//\"/}
    case $key in
      '"verdict"') verdict=$value ;;
      '"property"') property=$value ;;
      '"states"') states=$value ;;
    esac
  done <"$dir/explorer.json"
  [ "$verdict" = violated ] && verdict=$property
  echo "$verdict $states"
}

# by_spin FLAGS...: the same of SPIN, for the model compiled with these flags.
by_spin() {
  rm -f "$dir"/pan*
  if ! (cd "$dir" && spin -a "$@" "$here/spin/lazy_tlb.pml" &&
        "$compiler" -w -O0 -DSAFETY -o pan pan.c && ./pan -m10000 -w18) >"$dir/spin.out" 2>&1; then
    echo "failed: $(head -1 "$dir/spin.out")"
    return
  fi
  local verdict=unknown
  if grep -q '^pan:1: assertion violated' "$dir/spin.out"; then verdict=P1
  elif grep -q '^pan:1: invalid end state' "$dir/spin.out"; then verdict=stuck
  elif grep -q '^error: ' "$dir/spin.out"; then verdict=bounded
  elif grep -q 'errors: 0$' "$dir/spin.out"; then verdict=holds
  fi
  echo "$verdict $(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$dir/spin.out")"
}

printf '%-24s %-6s %-20s %s\n' litmus memory "explorer, states" "SPIN, states"
while read -r litmus memories flags; do
  [ -n "$litmus" ] || continue
  for memory in ${memories//,/ }; do
    ours=$(explorer "$litmus" "$memory")
    read -ra options <<<"$flags -D${memory^^}"
    theirs=$(by_spin "${options[@]}")
    printf '%-24s %-6s %-20s %s\n' "$litmus" "$memory" "$ours" "$theirs"
    compared=$((compared + 1))
    case "${ours%% *} ${theirs%% *}" in
      "holds holds"|"P1 P1") ;;
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
