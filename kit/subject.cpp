#include "kit/subject.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

#include "app/backends.h"
#include "backends/plugin/backend.h"
#include "core/json/parse.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/text/quote.h"
#include "kit/raw/watching_host.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// Whether the argument is a path rather than a name.
bool is_path(std::string_view argument) {
  return argument.find('/') != std::string_view::npos || argument.find('\\') != std::string_view::npos ||
         argument.find('.') != std::string_view::npos;
}

Result<std::filesystem::path> library_of(const std::string& argument) {
  std::error_code error;
  const auto file = std::filesystem::absolute(platform::path_from_utf8(argument), error);
  if (error || !std::filesystem::is_regular_file(file, error)) {
    return Status(StatusCode::kNotFound, fmt::format("there is no file {}", core::quoted(argument)));
  }
  if (file.extension() != ".json") return file;
  constexpr std::size_t kManifestMax = std::size_t{64} << 10;
  LB_ASSIGN_OR_RETURN(const std::string text, platform::read_small_file(file, kManifestMax));
  LB_ASSIGN_OR_RETURN(const core::Json manifest, core::parse_json(text, argument));
  const std::string library = manifest.value("library", "");
  if (library.empty()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} names no \"library\"", core::quoted(argument)));
  }
  return file.parent_path() / platform::path_from_utf8(library);
}

std::string names_of(const core::Registry& registry) {
  std::string names;
  for (const auto& backend : registry.all())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", backend->name());
  return names;
}

}  // namespace

Result<Subject> Subject::find(const Options& options) {
  Subject subject;
  for (const auto& [key, value] : options.settings)
    subject.settings_[key] = value;
  if (is_path(options.subject)) {
    LB_ASSIGN_OR_RETURN(subject.library_, library_of(options.subject));
    return subject;
  }
  const core::Registry registry = app::make_registry({});
  if (registry.find(options.subject) == nullptr) {
    return Status(StatusCode::kNotFound,
                  fmt::format("there is no backend {}; known: {}; a plug-in is named by the path "
                              "of its library or of its manifest",
                              core::quoted(options.subject), names_of(registry)));
  }
  subject.name_ = options.subject;
  return subject;
}

std::string Subject::label() const {
  return is_plugin() ? platform::path_to_utf8(library_) : name_;
}

Result<plugin::PluginPointer> Subject::open() const {
  return plugin::load_plugin(library_, {}, watching_host());
}

Result<std::shared_ptr<core::Backend>> Subject::make_backend(const plugin::PluginPointer& opened) const {
  if (is_plugin()) {
    plugin::PluginSource source;
    source.name = opened->name;
    source.open = [opened]() -> Result<plugin::PluginPointer> { return opened; };
    return std::static_pointer_cast<core::Backend>(
        std::make_shared<plugin::PluginBackend>(std::move(source), settings_));
  }
  core::BackendSettingTexts texts;
  for (const auto& [key, value] : settings_)
    texts[key.find('.') == std::string::npos ? fmt::format("{}.{}", name_, key) : key] = value;
  auto backend = app::make_registry(texts).find(name_);
  if (backend == nullptr) return Status(StatusCode::kNotFound, fmt::format("there is no backend {}", name_));
  return backend;
}

}  // namespace latebind::kit
