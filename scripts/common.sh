# Functions shared by the scripts of this folder. Sourced, never run.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C.UTF-8

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
runtime=$root/build/runtime
# shellcheck source=scripts/versions.env
source "$root/scripts/versions.env"
# The number of parallel jobs for builds and tests.
jobs=${LATEBIND_JOBS:-$(nproc)}
# Not exported, because the program rejects unknown variables with its prefix.
export -n LATEBIND_JOBS LATEBIND_FUZZ_SECONDS LATEBIND_PACKAGES

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

say() { printf '%s==>%s %s\n' "$bold" "$plain" "$*"; }
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}
# side_by_side COUNT COMMAND…: runs functions with their arguments in separate processes, COUNT at a time. Fails if any
# of them failed, after all have ended. Must not be called in a condition, where the shell would continue a command
# after a failed step.
side_by_side() {
  local at_once=$1 command ended failed=0
  local -A running=()
  shift
  # Ignores other children of the shell. "wait -n" does not report those that ended earlier (bash 5.2), but their status
  # is kept.
  end_of_one() {
    local status=0 all=("${!running[@]}")
    wait -n -p ended "${all[@]}" || status=$?
    if [ -z "${ended:-}" ]; then
      ended=${all[0]}
      status=0
      wait "$ended" || status=$?
    fi
    [ "$status" -eq 0 ] || failed=1
    unset "running[$ended]"
  }
  for command in "$@"; do
    [ ${#running[@]} -lt "$at_once" ] || end_of_one
    $command &
    running[$!]=$command
  done
  while [ ${#running[@]} -gt 0 ]; do
    end_of_one
  done
  return "$failed"
}

# misuse ARGUMENT: reports a wrong argument. For scripts that define usage().
misuse() {
  usage >&2
  printf "%s: unknown argument '%s'\n" "$(basename "$0")" "$1" >&2
  exit 2
}

# build PRESET [TARGET…]: builds. Configures first if that was never done or the presets have changed. CMake itself
# configures again if its files change or optional parts become available.
build() {
  local preset=$1
  shift
  local folder=$root/build/$preset
  # The build directory stores the path of its sources, so it starts again after a move.
  if [ -f "$folder/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    rm -rf "$folder"
  fi
  if [ ! -f "$folder/build.ninja" ] || [ "$root/CMakePresets.json" -nt "$folder/build.ninja" ]; then
    (cd "$root" && cmake --preset "$preset" --log-level=NOTICE) || return
  fi
  local targets=()
  [ $# -eq 0 ] || targets=(--target "$@")
  (cd "$root" && cmake --build --preset "$preset" --parallel "$jobs" "${targets[@]}")
}

# The Rust compiler of the distribution, which is older than most, or else the one in PATH.
rust_compiler() {
  if [ -x /usr/bin/rustc ]; then echo /usr/bin/rustc; else command -v rustc; fi
}

# with_progress LOG COMMAND…: runs a command with its output in LOG. On a terminal, a line shows the elapsed time and
# the completed steps of ninja.
with_progress() {
  local log=$1 status=0 line=
  shift
  : >"$log"
  if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    progress_line "$log" &
    line=$!
  fi
  "$@" >"$log" 2>&1 || status=$?
  if [ -n "$line" ]; then
    kill "$line" 2>/dev/null || true
    wait "$line" 2>/dev/null || true
    printf '\r\e[K'
  fi
  return "$status"
}

# progress_line LOG: draws that line until it or the script is ended.
progress_line() {
  local steps start=$SECONDS
  while kill -0 $$ 2>/dev/null; do
    steps=$(grep -oE '^\[[0-9]+/[0-9]+\]' "$1" | tail -n 1) || true
    printf '\r\e[K    %d s   %s' $((SECONDS - start)) "${steps:-starting}"
    sleep 1
  done
}

# sanitized COMMAND…: runs a command with the sanitizer settings that all checks share.
sanitized() {
  # gcc 12's address sanitizer mistakes a block of thread-local memory that begins 16 bytes into a page for an old
  # glibc's and crashes when it searches it for leaks, so it must not record such blocks. Its thread sanitizer does not
  # support the randomised address layouts of newer kernels.
  local fixed=()
  if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
  ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:intercept_tls_get_addr=0 \
    UBSAN_OPTIONS=print_stacktrace=1 \
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0 \
    "${fixed[@]}" "$@"
}
