#include "backends/pjrt/api.h"

#include <fmt/format.h>

#include <utility>

#include "core/cache/compile_entry.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"

namespace latebind::pjrt {

using abi::Function;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

Status unusable(const std::filesystem::path& file, std::string_view why) {
  return Status(StatusCode::kLibraryUnusable, fmt::format("{} {}", core::quoted(platform::path_to_utf8(file)), why));
}

// Checks the table before any function is called.
Status check_table(const abi::Api* table, const std::filesystem::path& file) {
  if (table == nullptr) return unusable(file, fmt::format("gives no table: {}() returned null", abi::kEntry));
  if (table->head.size < abi::kTableLeast) {
    return unusable(file, fmt::format("has a table of {} bytes, and {} are needed: install a newer version of it",
                                      table->head.size, abi::kTableLeast));
  }
  if (table->major != abi::kMajor || table->minor < abi::kMinorLeast) {
    return unusable(file, fmt::format("has version {}.{} of PJRT's interface, and Latebind knows {}.{} and later ones",
                                      table->major, table->minor, abi::kMajor, abi::kMinorLeast));
  }
  for (std::size_t i = 0; abi::kTableLeast > offsetof(abi::Api, functions) + i * sizeof(void*); ++i) {
    switch (static_cast<Function>(i)) {
      case Function::kErrorDestroy:
      case Function::kErrorMessage:
      case Function::kErrorGetCode:
      case Function::kPluginInitialize:
      case Function::kEventDestroy:
      case Function::kEventAwait:
      case Function::kClientCreate:
      case Function::kClientDestroy:
      case Function::kClientPlatformName:
      case Function::kClientPlatformVersion:
      case Function::kClientAddressableDevices:
      case Function::kClientCompile:
      case Function::kClientBufferFromHostBuffer:
      case Function::kDeviceDescriptionKind:
      case Function::kDeviceGetDescription:
      case Function::kExecutableDestroy:
      case Function::kExecutableNumOutputs:
      case Function::kExecutableSerialize:
      case Function::kLoadedExecutableDestroy:
      case Function::kLoadedExecutableGetExecutable:
      case Function::kLoadedExecutableExecute:
      case Function::kExecutableDeserializeAndLoad:
      case Function::kBufferDestroy:
      case Function::kBufferToHostBuffer:
        if (table->functions[i] != nullptr) break;
        return unusable(file, fmt::format("lacks function {} of PJRT's table", i));
    }
  }
  return {};
}

}  // namespace

StatusCode code_of(int plugin_code, Doing doing) {
  constexpr int kInvalidArgument = 3;
  constexpr int kPermissionDenied = 7;
  constexpr int kResourceExhausted = 8;
  constexpr int kUnimplemented = 12;
  if (plugin_code == kResourceExhausted) return StatusCode::kOutOfMemory;
  switch (doing) {
    case Doing::kOpening:
      return plugin_code == kPermissionDenied ? StatusCode::kPermissionDenied : StatusCode::kLibraryUnusable;
    case Doing::kCompiling:
      return plugin_code == kInvalidArgument || plugin_code == kUnimplemented ? StatusCode::kUnsupported
                                                                              : StatusCode::kDeviceFailed;
    case Doing::kLoadingBlob:
      return StatusCode::kIncompatibleBlob;
    case Doing::kRunning:
      break;
  }
  return StatusCode::kDeviceFailed;
}

Result<std::shared_ptr<const Api>> Api::open(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(platform::DynamicLibrary library, platform::DynamicLibrary::open(file));
  library.leak();
  const auto get = reinterpret_cast<abi::GetApi>(library.symbol(abi::kEntry));
  if (get == nullptr) return unusable(file, fmt::format("is no PJRT plug-in: it does not export {}()", abi::kEntry));
  const abi::Api* const table = get();
  LB_RETURN_IF_ERROR(check_table(table, file));
  LB_ASSIGN_OR_RETURN(const platform::MappedFile bytes, platform::MappedFile::open(file));
  const std::shared_ptr<const Api> api(new Api(table, file, core::payload_sum(bytes.bytes())));
  abi::NoArgs none;
  const Status initialized = api->call(Function::kPluginInitialize, none, Doing::kOpening);
  if (!initialized.ok()) return initialized.with_context(core::quoted(platform::path_to_utf8(file)));
  return api;
}

std::string Api::version() const {
  return fmt::format("{}.{}", table_->major, table_->minor);
}

abi::Error* Api::call_raw(Function function, void* args) const {
  return reinterpret_cast<abi::Error* (*)(void*)>(table_->functions[static_cast<std::size_t>(function)])(args);
}

Status Api::check(abi::Error* error, Function function, Doing doing) const {
  if (error == nullptr) return {};
  abi::ErrorMessageArgs message;
  message.head.size = offsetof(abi::ErrorMessageArgs, spare);
  message.error = error;
  (void)call_raw(Function::kErrorMessage, &message);
  abi::ErrorCodeArgs code;
  code.head.size = offsetof(abi::ErrorCodeArgs, code) + sizeof(code.code);
  code.error = error;
  (void)call_raw(Function::kErrorGetCode, &code);
  std::string text = message.text == nullptr ? "" : std::string(message.text, message.length);
  free(Function::kErrorDestroy, error);
  StatusCode means = code_of(code.code, doing);
  if (means == StatusCode::kDeviceFailed && core::reports_out_of_memory(text)) means = StatusCode::kOutOfMemory;
  constexpr const char* kDoing[] = {"cannot be opened", "does not compile this model", "does not load the blob",
                                    "failed in a run"};
  return Status::from_vendor(means,
                             fmt::format("the PJRT plug-in {} (function {})", kDoing[static_cast<std::size_t>(doing)],
                                         static_cast<std::size_t>(function)),
                             code.code, core::one_line(text));
}

void Api::free(Function function, void* handle) const {
  if (handle == nullptr) return;
  abi::DoneArgs args;
  args.head.size = offsetof(abi::DoneArgs, spare);
  args.handle = handle;
  // Errors of this kind have no text that could be read safely, as this function frees errors, too.
  (void)call_raw(function, &args);
}

Result<void*> Api::handle(Function function, void* of) const {
  abi::HandleArgs args;
  args.handle = of;
  LB_RETURN_IF_ERROR(call(function, args, Doing::kOpening));
  return args.out;
}

Result<std::string> Api::text(Function function, void* of) const {
  abi::TextArgs args;
  args.handle = of;
  LB_RETURN_IF_ERROR(call(function, args, Doing::kOpening));
  return args.text == nullptr ? std::string() : core::one_line({args.text, args.length});
}

Status Api::wait(abi::Event* event, Doing doing) const {
  if (event == nullptr) return {};
  abi::DoneArgs args;
  args.handle = event;
  Status status = call(Function::kEventAwait, args, doing);
  free(Function::kEventDestroy, event);
  return status;
}

}  // namespace latebind::pjrt
