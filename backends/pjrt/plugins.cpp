#include "backends/pjrt/plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/platform/system_info.h"
#include "core/text/name_character.h"
#include "core/text/quote.h"
#include "core/vendor/library_names.h"

namespace latebind::pjrt {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr const char* kSource = "plugin.pjrt.plugins";

// The platform as the first part of a device's name: "CPU".
std::string word_of_platform(const std::string& platform) {
  std::string word;
  for (const char c : platform)
    word += core::is_name_character(c) ? core::ascii_upper(c) : '_';
  return word.empty() ? "DEVICE" : word;
}

Result<OpenedPlugin> open_plugin(const std::string& path) {
  LB_ASSIGN_OR_RETURN(auto api, Api::open(platform::path_from_utf8(path)));
  LB_ASSIGN_OR_RETURN(auto client, Client::create(std::move(api)));
  if (client->devices().empty())
    return Status(StatusCode::kDeviceNotFound, fmt::format("{} has no device here", core::quoted(path)));
  auto constants = std::make_shared<Constants>(client);
  return OpenedPlugin{.client = std::move(client), .constants = std::move(constants)};
}

}  // namespace

std::string version_of(const Client& client) {
  constexpr std::size_t kDigits = 12;
  return fmt::format("PJRT {}, {}", client.api().version(), client.api().digest().substr(0, kDigits));
}

core::DeviceKind kind_of(const Client& client) {
  const std::string& platform = client.platform();
  if (platform == "cpu") return core::DeviceKind::kCpu;
  const bool is_gpu = platform == "cuda" || platform == "rocm" || platform == "sycl" || platform == "gpu";
  return is_gpu ? core::DeviceKind::kGpu : core::DeviceKind::kOther;
}

std::string full_name_of(const PluginDevice& device) {
  const Client& client = *device.plugin.client;
  if (kind_of(client) == core::DeviceKind::kCpu) {
    if (std::string name = platform::cpu_name(); !name.empty()) return name;
  }
  return client.devices()[device.number].kind;
}

Plugins::Plugins(std::string_view paths) {
  for (std::string& path : core::split_paths(paths, core::own_system()))
    places_.push_back({.path = std::move(path), .opened = {}, .status = {}});
}

void Plugins::open() {
  for (Place& place : places_) {
    if (place.opened.client != nullptr) continue;
    auto opened = open_plugin(place.path);
    place.status = opened.status();
    if (opened.ok()) place.opened = *std::move(opened);
  }
}

Result<std::vector<PluginDevice>> Plugins::devices() {
  const core::MutexLock lock(mutex_);
  open();
  std::vector<PluginDevice> devices;
  std::map<std::string, std::size_t> count;
  for (const Place& place : places_) {
    if (place.opened.client == nullptr) continue;
    const std::string word = word_of_platform(place.opened.client->platform());
    for (std::size_t i = 0; i < place.opened.client->devices().size(); ++i) {
      const std::size_t number = count[word]++;
      devices.push_back(
          {.name = number == 0 ? word : fmt::format("{}.{}", word, number), .plugin = place.opened, .number = i});
    }
  }
  if (!devices.empty()) return devices;
  if (places_.empty()) {
    return Status(StatusCode::kLibraryNotFound,
                  fmt::format("no PJRT plug-in is named; set {} to the full path of one, such as libtpu.so or "
                              "xla_cuda_plugin.so",
                              kSource));
  }
  return places_.front().status;
}

Result<PluginDevice> Plugins::device(std::string_view name) {
  LB_ASSIGN_OR_RETURN(const std::vector<PluginDevice> all, devices());
  std::string names;
  for (const PluginDevice& device : all) {
    if (device.name == name) return device;
    names += (names.empty() ? "" : ", ") + device.name;
  }
  return Status(StatusCode::kDeviceNotFound,
                fmt::format("pjrt has no device {}; it has {}", core::quoted(name), names));
}

std::vector<core::UnavailablePart> Plugins::unavailable() {
  const core::MutexLock lock(mutex_);
  std::vector<core::UnavailablePart> parts;
  for (const Place& place : places_)
    if (!place.status.ok()) parts.push_back({.name = place.path, .reason = place.status.to_string()});
  return parts;
}

std::vector<core::SearchStep> Plugins::search() {
  const core::MutexLock lock(mutex_);
  open();
  std::vector<core::SearchStep> steps;
  for (const Place& place : places_) {
    const bool is_open = place.opened.client != nullptr;
    steps.push_back({.place = place.path,
                     .source = kSource,
                     .outcome = is_open ? "opened" : place.status.to_string(),
                     .opened = is_open});
  }
  if (steps.empty()) steps.push_back({.place = kSource, .source = "the setting", .outcome = "not set"});
  return steps;
}

}  // namespace latebind::pjrt
