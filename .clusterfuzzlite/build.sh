#!/bin/bash -eu
# Builds the fuzz targets as ClusterFuzzLite and OSS-Fuzz ask for them: with $CC, $CXX, $CFLAGS,
# $CXXFLAGS and $LIB_FUZZING_ENGINE, into $OUT. Run from the root of the repository.
work=${WORK:-$(mktemp -d)}
source=$PWD
libraries=${SRC:-/nowhere}/libraries
common=(-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=
  "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_CXX_COMPILER=$CXX"
  "-DCMAKE_C_FLAGS=$CFLAGS" "-DCMAKE_CXX_FLAGS=$CXXFLAGS")

# Where the image brings their sources, the libraries are built like the targets: the same C++
# library, the same sanitizer (memory needs that), and nothing to be loaded where they run.
if [ -d "$libraries" ]; then
  for library in fmt yaml-cpp; do
    cmake -S "$libraries/$library" -B "$work/$library" "${common[@]}" \
      -DBUILD_SHARED_LIBS=OFF -DFMT_TEST=OFF -DFMT_DOC=OFF -DYAML_CPP_BUILD_TESTS=OFF \
      -DYAML_CPP_BUILD_TOOLS=OFF "-DCMAKE_INSTALL_PREFIX=$work/installed"
    cmake --build "$work/$library" --target install
  done
fi

targets=(ops roundtrip decode scenario eras schedules)
cmake -S "$source" -B "$work/hvtlb" "${common[@]}" "-DCMAKE_PREFIX_PATH=$work/installed" \
  -DHVTLB_TESTS=OFF -DHVTLB_BENCH=OFF "-DHVTLB_FUZZ_ENGINE=$LIB_FUZZING_ENGINE"
cmake --build "$work/hvtlb" --target "${targets[@]/#/fuzz_}"

for target in "${targets[@]}"; do
  cp "$work/hvtlb/fuzz/fuzz_$target" "$OUT/"
  cp "fuzz/options/$target.options" "$OUT/fuzz_$target.options"
  if [ -f "fuzz/dictionaries/$target.dict" ]; then
    cp "fuzz/dictionaries/$target.dict" "$OUT/fuzz_$target.dict"
  fi
  seeds=$OUT/fuzz_${target}_seed_corpus.zip
  rm -f "$seeds"
  zip -q -j -r "$seeds" "fuzz/corpus/$target" "fuzz/regressions/$target"
done
