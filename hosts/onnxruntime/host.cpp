#include "hosts/onnxruntime/host.h"

#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"

namespace latebind::provider {

namespace {

template <class Function>
void take(Function& function, const abi::Slot* table, std::size_t slot) {
  function = reinterpret_cast<Function>(table[slot]);
}

// The host's code for Latebind's.
abi::ErrorCode error_of(lb_code code) {
  switch (code) {
    case LB_OK:
      return abi::kOk;
    case LB_INVALID_ARGUMENT:
    case LB_SHAPE_MISMATCH:
    case LB_TYPE_MISMATCH:
    case LB_COUNT_MISMATCH:
    case LB_BUFFER_TOO_SMALL:
      return abi::kInvalidArgument;
    case LB_NOT_FOUND:
      return abi::kNoSuchFile;
    case LB_INVALID_MODEL:
      return abi::kInvalidGraph;
    case LB_UNSUPPORTED:
      return abi::kNotImplemented;
    case LB_INTERNAL:
      return abi::kRuntimeException;
    default:
      return abi::kEpFail;
  }
}

}  // namespace

Failure failure_of(const std::string& what, const latebind::Status& status) {
  return {error_of(status.code()), what + ": " + status.message() + " (" + status.name() + ")", status.code()};
}

void require(const core::Status& status) {
  if (!status.ok()) throw Failure(abi::kFail, "Latebind: " + std::string(status.message()));
}

Host::Host(const abi::ApiBase& base, const abi::Logger* logger)
    : logger_(logger), code_(reinterpret_cast<const void*>(base.GetApi)) {
  const abi::Slot* api = base.GetApi(abi::kVersion);
  if (api == nullptr) {
    // Slots 0 and 1 are the same in every version; the caller creates the error with them.
    throw Failure(abi::kNotImplemented, "Latebind needs ONNX Runtime 1." + std::to_string(abi::kVersion) +
                                            " or newer; this is " + base.GetVersionString());
  }
#define LB_TAKE(slot, name, since, result, parameters) take(tables_.name, api, slot);
  LB_PROVIDER_API(LB_TAKE)
#undef LB_TAKE
  const auto* ep = reinterpret_cast<const abi::Slot*>(tables_.GetEpApi());
  const auto* editor = reinterpret_cast<const abi::Slot*>(tables_.GetModelEditorApi());
  if (ep == nullptr)
    throw Failure(abi::kNotImplemented, "Latebind: this ONNX Runtime does not support plugin providers");
#define LB_TAKE(slot, name, since, result, parameters) take(tables_.name, ep, slot);
  LB_PROVIDER_EP_API(LB_TAKE)
#undef LB_TAKE
  last_status_ = tables_.CreateStatus(abi::kFail, "Latebind: the host has not enough memory for an error's text");
  // Null in minimal builds, where no compiled models are written.
  if (editor == nullptr) return;
#define LB_TAKE(slot, name, since, result, parameters) take(tables_.name, editor, slot);
  LB_PROVIDER_EDITOR_API(LB_TAKE)
#undef LB_TAKE
}

Host::~Host() {
  if (abi::Status* unused = last_status_.load()) tables_.ReleaseStatus(unused);
}

std::string Host::library_file() const {
  const auto file = platform::module_file_of(code_);
  if (!file.ok()) return {};
  const auto library = platform::DynamicLibrary::open(*file);
  return library.ok() && library->symbol("OrtGetApiBase") != nullptr ? platform::path_to_utf8(*file) : std::string();
}

std::string Host::library_folder() const {
  const auto file = platform::module_file_of(code_);
  if (!file.ok()) return {};
  const auto folder = file->parent_path();
  const std::string plain = platform::library_file_name("onnxruntime");
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = platform::path_to_utf8(entry->path().filename());
    // A version may follow.
    if (name == plain || name.starts_with(plain + ".")) return platform::path_to_utf8(folder);
  }
  return {};
}

void Host::log(abi::LoggingLevel level, const std::string& text, const abi::Logger* logger) const noexcept {
  const abi::Logger* to = logger != nullptr ? logger : logger_;
  if (to == nullptr) return;
#ifdef _WIN32
  const abi::PathChar* file = L"latebind";
#else
  const abi::PathChar* file = "latebind";
#endif
  if (abi::Status* failed = tables_.Logger_LogMessage(to, level, text.c_str(), file, 0, "Latebind")) {
    tables_.ReleaseStatus(failed);
  }
}

void Host::fail(abi::Status* status) const {
  const auto release = [this](abi::Status* owned) { tables_.ReleaseStatus(owned); };
  const std::unique_ptr<abi::Status, decltype(release)> owned(status, release);
  const char* text = tables_.GetErrorMessage(status);
  throw Failure(abi::kFail,
                text != nullptr && *text != '\0' ? text : "Latebind: the host reports an error without a text");
}

void Host::lacks(const char* what) {
  throw Failure(abi::kFail, std::string("Latebind: the host returns an invalid ") + what);
}

abi::Status* Host::status(abi::ErrorCode code, const char* text) const noexcept {
  abi::Status* made = tables_.CreateStatus(code, text);
  return made != nullptr ? made : last_status_.exchange(nullptr);
}

std::vector<std::pair<std::string_view, std::string_view>> Pairs::entries() const {
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  std::size_t count = 0;
  host_->GetKeyValuePairs(raw_, &keys, &values, &count);
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  for (std::size_t i = 0; i < Host::need_count(count, "number of entries"); ++i) {
    entries.emplace_back(Host::need(Host::need(keys, "keys")[i], "key"),
                         Host::need(Host::need(values, "values")[i], "value"));
  }
  return entries;
}

std::string value_of(const Host& host, const abi::KeyValuePairs* pairs, const char* key) {
  const char* value = pairs != nullptr ? host->GetKeyValue(pairs, key) : nullptr;
  return value != nullptr ? value : "";
}

}  // namespace latebind::provider
