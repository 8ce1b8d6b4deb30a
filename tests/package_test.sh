#!/usr/bin/env bash
# Installs the build and builds another project against the installed package.
# Usage: package_test.sh CMAKE BUILD_DIR SOURCE_DIR
set -euo pipefail
cmake=$1 build=$2 source=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cmake" --install "$build" --prefix "$dir/prefix" >"$dir/log" || { cat "$dir/log"; exit 1; }
"$cmake" -S "$source/tests/package" -B "$dir/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$dir/prefix" \
  -DCMAKE_BUILD_TYPE=Debug >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
"$cmake" --build "$dir/consumer" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
"$dir/consumer/consumer"
"$dir/prefix/bin/hvtlb" compare threads --cpus 8 >/dev/null
echo "3 passed, 0 failed"
