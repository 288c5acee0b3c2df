#include "backends/onnxruntime/needed_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/log.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"

namespace latebind::onnxruntime {
namespace {

using core::FileSystem;
using core::Status;
using core::StatusCode;
using core::System;

// Recognises names such as libcudart.so.13 and cudart64_13.dll.
bool is_of_stem(std::string_view name, std::string_view stem, System system) {
  if (system == System::kWindows) return name.starts_with(fmt::format("{}64_", stem)) && name.ends_with(".dll");
  return is_named(name, core::library_name(stem, system));
}

std::vector<std::string> sorted_names(const FileSystem& files, const std::string& folder) {
  auto names = files.names_in(folder);
  std::ranges::sort(names);
  return names;
}

// The provider's folder, followed by those of the vendor's packages: <site-packages>/nvidia/cu13/lib.
std::vector<std::string> folders_of(const KnownProvider& known, const std::string& provider_file,
                                    const std::string& runtime_file, System system, const FileSystem& files) {
  std::vector<std::string> folders{core::parent_folder(provider_file)};
  std::vector<std::string> packages;
  for (const std::string& base : {core::parent_folder(core::parent_folder(provider_file)),
                                  core::parent_folder(core::parent_folder(core::parent_folder(provider_file))),
                                  core::parent_folder(core::parent_folder(core::parent_folder(runtime_file)))}) {
    if (!base.empty() && std::ranges::find(packages, base) == packages.end()) packages.push_back(base);
  }
  for (const std::string& base : packages) {
    const std::string makers = fmt::format("{}/{}", base, known.needs.packages);
    for (const std::string& package : sorted_names(files, makers)) {
      if (system == System::kWindows) {
        folders.push_back(fmt::format("{}/{}/bin", makers, package));
        folders.push_back(fmt::format("{}/{}/bin/x86_64", makers, package));
      } else {
        folders.push_back(fmt::format("{}/{}/lib", makers, package));
      }
    }
  }
  return folders;
}

}  // namespace

std::vector<std::string> needed_libraries(const KnownProvider& known, const std::string& provider_file,
                                          const std::string& runtime_file, System system, const FileSystem& files) {
  if (known.needs.stems.empty()) return {};
  std::vector<std::pair<std::string, std::vector<std::string>>> folders;
  for (std::string& folder : folders_of(known, provider_file, runtime_file, system, files)) {
    auto names = sorted_names(files, folder);
    folders.emplace_back(std::move(folder), std::move(names));
  }
  std::vector<std::string> found;
  for (const std::string_view stem : known.needs.stems) {
    for (const auto& [folder, names] : folders) {
      for (const std::string& name : names) {
        std::string file = fmt::format("{}/{}", folder, name);
        if (!is_of_stem(name, stem, system) || files.kind_of(file) != FileSystem::Kind::kFile) continue;
        if (found.size() < kNeededMax && files.why_not_trusted(file).empty()) found.push_back(std::move(file));
      }
    }
  }
  return found;
}

Status check_driver(const KnownProvider& known) {
  const bool windows = core::own_system() == System::kWindows;
  const std::string name(windows ? known.needs.driver_on_windows : known.needs.driver);
  if (name.empty()) return {};
  const auto opened = platform::DynamicLibrary::open_system(name);
  if (opened.ok()) return {};
  return Status(
      StatusCode::kLibraryNotFound,
      fmt::format("{} needs NVIDIA's driver, but its library {} was not found: install the driver{}", known.provider,
                  name, windows ? "" : " (package nvidia-driver, in a container the NVIDIA Container Toolkit)"));
}

void open_needed_libraries(const KnownProvider& known, const std::string& provider_file,
                           const std::string& runtime_file) {
  for (const std::string& file :
       needed_libraries(known, provider_file, runtime_file, core::own_system(), FileSystem::real())) {
    auto library = platform::DynamicLibrary::open(platform::path_from_utf8(file));
    if (library.ok()) {
      library->leak();
    } else {
      core::log(core::LogLevel::kDebug, fmt::format("{}: {}", known.provider, library.status().to_string()));
    }
  }
}

Status with_remedy(const KnownProvider& known, Status failure) {
  const std::string text = failure.to_string();
  for (const std::string_view stem : known.needs.stems) {
    const auto at = text.find(fmt::format("lib{}.so", stem));
    if (at == std::string::npos || text.find("cannot open shared object", at) == std::string::npos) continue;
    const std::string name = text.substr(at, text.find_first_of(": ", at) - at);
    return Status(StatusCode::kLibraryNotFound,
                  fmt::format("{} needs {}, which was not found: {}", known.provider, name, install_command(known)));
  }
  return failure;
}

}  // namespace latebind::onnxruntime
