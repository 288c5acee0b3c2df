# The stages of scripts/test for other platforms: built here, run in emulation. Sourced, never run.
# shellcheck shell=bash disable=SC2154 # what scripts/common.sh sets

stage_platforms_setup() { scripts/setup build runtime test platforms; }

stage_windows() {
  build windows
  # Fewer random requests, because threads are slow in Wine.
  export LATEBIND_TEST_REQUESTS=20000
  on_windows ""
}

# The tests that depend on the system, as cmake/LatebindTargets.cmake defines for each test program.
stage_windows_system() {
  build windows system_tests
  # Also less work for tests that need a busy device, and fewer random encoders.
  export LATEBIND_TEST_REQUESTS=5000 LATEBIND_CONFORMANCE_EDGE=320 LATEBIND_TEST_ENCODERS_ONE_IN=4
  on_windows '|computes'
  say "not run here but by the stage windows, since they compute and no more:"
  ctest --preset windows --show-only --label-regex '^computes$' | sed -nE 's/^ +Test +#[0-9]+: /  /p'
}

# on_windows LEFT_OUT: runs what was built, without tests of this label, which is given after "|".
on_windows() {
  # This machine's program reads its output.
  build release latebind_program
  export WINEPREFIX=$root/build/wine
  mkdir -p "$WINEPREFIX"
  # A persistent server makes programs start twenty times faster. It ends with this stage.
  local wineserver
  for wineserver in /usr/lib/wine/wineserver64 wineserver; do
    if command -v "$wineserver" >/dev/null; then break; fi
  done
  "$wineserver" -k || true  # left by an interrupted run
  "$wineserver" -p
  # shellcheck disable=SC2064 # expanded now
  trap "'$wineserver' -k" EXIT
  # Starts the services that Windows always runs now. Otherwise they would keep the first program's output open, and
  # start again for the next one.
  scripts/platforms/wine wineboot --init </dev/null >/dev/null 2>&1
  # Waits for the explorer of that start to end, because only one can run.
  for _ in {1..60}; do
    grep -qsa 'explorer\.exe' /proc/[0-9]*/cmdline || break
    sleep 0.5
  done
  scripts/platforms/wine explorer /desktop </dev/null >/dev/null 2>&1 &
  sleep 2  # until it owns the desktop, which nothing reports
  say "tests that need no vendor's library"
  wine_tests --label-exclude "^(real$1)\$"
  tests_of_last_run windows
  say "tests on the vendors' runtimes for Windows"
  LATEBIND_OPENVINO_LIBRARY=Z:$runtime/windows/openvino-$OPENVINO_VERSION/openvino/libs \
    LATEBIND_ONNXRUNTIME_LIBRARY=Z:$runtime/windows/onnxruntime-$ONNXRUNTIME_VERSION/onnxruntime/capi \
    wine_tests --label-regex '^real$' --label-exclude "^(none$1)\$"
  # Each waits for one process after the other.
  side_by_side "$jobs" windows_program "wheel_of windows scripts/platforms/wine"
  say "not run on Windows, and why: tests/platforms/not_on_windows.txt, and every *_posix_test.cpp"
}

windows_program() {
  say "the program"
  XDG_CACHE_HOME=$root/build/windows/cache XDG_CONFIG_HOME=$root/build/windows/no-config PYTHONDONTWRITEBYTECODE=1 \
    LATEBIND_TEST_SOURCE_DIR=$root LATEBIND_TEST_BINARY_DIR=$root/build/windows LATEBIND_TEST_NATIVE=$root/build/release \
    "$runtime/oracle/bin/python" -m pytest -p no:cacheprovider -q --durations=5 tests/platforms/windows_test.py
}

# wine_tests ARGUMENT…: runs ctest in the build for Windows. About one start of Wine in a thousand ends silently before
# the program begins. GoogleTest always prints something, so failed tests without any output are run again.
wine_tests() {
  local command=(ctest --preset windows --parallel "$jobs" --output-on-failure "$@")
  ! "${command[@]}" || return 0
  awk '/^Output:$/ { getline; silent = (getline line) > 0 && line == "<end of output>" }
    /^Test Failed/ { if (silent) started_nothing = 1; else said = 1 }
    END { exit said || !started_nothing }' build/windows/Testing/Temporary/LastTest.log || return
  say "Wine did not start the tests that failed: once more"
  "${command[@]}" --rerun-failed
}

# For aarch64, everything is built here and run by qemu, which is ten to a hundred times slower than the processor.
prepare_aarch64() {
  # As in cmake/toolchains/aarch64.cmake.
  export emulator="qemu-aarch64 -cpu neoverse-n1 -L $runtime/aarch64/sysroot"
  # A processor with every instruction set that has kernels.
  export emulator_of_all_sets="qemu-aarch64 -cpu max,pauth-impdef=on -L $runtime/aarch64/sysroot"
  # Fewer random requests, because qemu leaks a quarter of a MiB per thread; a matrix that takes seconds; and fewer
  # random encoders.
  export LATEBIND_TEST_REQUESTS=3000 LATEBIND_CONFORMANCE_EDGE=128 LATEBIND_TEST_ENCODERS_ONE_IN=8
}

# The tests that depend on the processor: the kernels and the layers that all others use.
stage_aarch64_native() {
  prepare_aarch64
  build aarch64 latebind_program lb_native_tests lb_platform_tests lb_core_tests lb_tokenizer_tests
  say_left_out tests/platforms/aarch64/not_emulated.txt
  # Each mostly has one thread. The longest comes first.
  side_by_side "$jobs" "emulated_all_sets 1" "emulated_all_sets 2" emulated_layers
}

# All other tests, including those on the vendors' runtimes.
stage_aarch64() {
  prepare_aarch64
  build aarch64
  # shellcheck disable=SC2086 # a list of words
  unit_tests_but aarch64 tests/platforms/aarch64/not_emulated.txt $emulator
  side_by_side "$jobs" emulated_openvino emulated_onnxruntime emulated_native
  # Makes the bundle that the other machine opens.
  build release latebind_program
  ctest --preset aarch64 --parallel "$jobs" --output-on-failure --label-regex '^emulated$'
  # shellcheck disable=SC2086
  wheel_of aarch64 $emulator
}

# emulated_all_sets SHARD: runs one half of the kernels' tests, 1 or 2.
# shellcheck disable=SC2086,SC2154 # the emulators are lists of words, which prepare_aarch64 exports
emulated_all_sets() {
  GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$(($1 - 1)) \
    suite aarch64 lb_native_tests "native, all sets, $1" $emulator_of_all_sets
}

emulated_layers() {
  ctest --preset aarch64 --output-on-failure --tests-regex '^(lb_(platform|core|tokenizer)_tests|BackgroundWorkTest\..*)$'
}

# shellcheck disable=SC2086
emulated_openvino() {
  LATEBIND_CONFORMANCE_BACKENDS=openvino \
    LATEBIND_OPENVINO_LIBRARY=$runtime/aarch64/openvino-$OPENVINO_VERSION/openvino/libs \
    conformance aarch64 "OpenVINO $OPENVINO_VERSION" $emulator
}

# shellcheck disable=SC2086
emulated_onnxruntime() {
  LATEBIND_CONFORMANCE_BACKENDS=onnxruntime \
    LATEBIND_ONNXRUNTIME_LIBRARY=$runtime/aarch64/onnxruntime-$ONNXRUNTIME_VERSION/onnxruntime/capi \
    conformance aarch64 "ONNX Runtime $ONNXRUNTIME_VERSION" $emulator
}

# shellcheck disable=SC2086
emulated_native() { LATEBIND_CONFORMANCE_BACKENDS=native conformance aarch64 native $emulator; }

# wheel_of PRESET EMULATOR…: builds and tests the Python package for that platform.
wheel_of() {
  local interpreter=$runtime/aarch64/sysroot/usr/bin/python3 numpy=$runtime/aarch64/numpy-$AARCH64_NUMPY_VERSION
  if [ "$1" = windows ]; then
    interpreter=$runtime/windows/python/python.exe numpy=$runtime/windows/numpy-$WINDOWS_NUMPY_VERSION
  fi
  say "the Python package"
  PYTHONDONTWRITEBYTECODE=1 LATEBIND_TEST_PYTHON=$interpreter LATEBIND_TEST_NUMPY=$numpy LATEBIND_TEST_SOURCE_DIR=$root LATEBIND_TEST_PRESET=$1 LATEBIND_TEST_EMULATOR=${*:2} \
    "$runtime/python/bin/python" -m pytest -p no:cacheprovider -q tests/platforms/wheel_test.py
}

# unit_tests_but PRESET LIST EMULATOR…: runs the tests that need no vendor's runtime, except those in LIST, each of
# which has a reason. CMake also reads LIST, for GoogleTest programs.
unit_tests_but() {
  local preset=$1 list=$2 program name known
  shift 2
  known=$(ctest --preset "$preset" --show-only --label-exclude real | sed -nE 's/^ +Test +#[0-9]+: //p')
  for program in "build/$preset/bin"/lb_*_tests; do
    known+=$'\n'$("$@" "$program" --gtest_list_tests | sed -E 's/ +#.*//' |
      awk '/^[^ ]/ { suite = $1 } /^ / { print suite $1 }') || return
  done
  for name in $(sed -E '/^(#|$)/d; s/ .*//' "$list"); do
    grep -qxF "$name" <<<"$known" || fail "$list names $name, which is no test"
  done
  say_left_out "$list"
  # The entries that do not name GoogleTest tests, since their names contain no slash or star.
  ctest --preset "$preset" --parallel "$jobs" --output-on-failure --label-exclude real \
    --exclude-regex "^($(sed -E '/^(#|$)/d; s/ .*//; s/\./\\./g' "$list" | paste -sd '|'))\$" || return
  tests_of_last_run "$preset"
}

say_left_out() {
  say "left out, as $1 says"
  sed -E '/^(#|$)/d; s/^/  /' "$1"
}

# tests_of_last_run PRESET: prints how many tests the programs contain that ctest counts as one each.
tests_of_last_run() {
  awk '/^\[  PASSED  \]/ { tests += $4; ++programs } END { printf "  %d tests of %d programs passed\n", tests, programs }' \
    "build/$1/Testing/Temporary/LastTest.log"
}
