# shellcheck shell=bash disable=SC2154
# One protocol, two tools: sourced by tests/spin_test.sh and bench/explore-against-spin, which set
# `dir`, a folder for what is made on the way. A verdict is printed as "VERDICT STATES": `holds`,
# the property that is violated, `stuck`, `bounded`, or "failed: WHY".
spin_model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/lazy_tlb.pml

# explorer_verdict PROGRAM FILE MEMORY
explorer_verdict() {
  "$1" explore "$2" --memory "$3" --json >"$dir/explorer.json" 2>"$dir/explorer.err"
  case $? in
    0|2|3) ;;  # 3: not what the litmus expects, which explore_test judges
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

# spin_source FLAGS...: the verifier's source, pan.c, for the model with these macros.
spin_source() {
  (cd "$dir" && rm -f pan* && spin -a "$@" "$spin_model" && [ -f pan.c ]) >"$dir/spin.out" 2>&1
}
# spin_compile COMPILER FLAGS...
spin_compile() { (cd "$dir" && "$1" -w -DSAFETY "${@:2}" -o pan pan.c) >"$dir/spin.out" 2>&1; }
# spin_run FLAGS...
spin_run() { (cd "$dir" && ./pan "$@") >"$dir/spin.out" 2>&1; }

# spin_verdict: of the last run, or why there was none.
spin_verdict() {
  local said verdict states='([0-9]+) states, stored'
  said=$'\n'$(<"$dir/spin.out")
  case $said in
    *$'\npan:1: assertion violated'*) verdict=P1 ;;
    *$'\npan:1: invalid end state'*) verdict=stuck ;;
    *$'\nerror: '*|*$'\npan: reached '*|*$'\npan: out of memory'*) verdict=bounded ;;
    *'errors: 0'$'\n'*) verdict=holds ;;
    *) echo "failed: ${said:1:200}"; return ;;
  esac
  [[ $said =~ $states ]] || { echo "failed: no number of states"; return; }
  echo "$verdict ${BASH_REMATCH[1]}"
}
