// Api: an opened PJRT plug-in, whose functions are called with the exact sizes of their structs, and whose errors
// become statuses. A plug-in stays in the process once it was opened, because its threads do. May be used from any
// thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "backends/pjrt/abi.h"
#include "core/result.h"

namespace latebind::pjrt {

// What a plug-in is doing when it fails, which decides what its error means.
enum class Doing { kOpening, kCompiling, kLoadingBlob, kRunning };

class Api {
 public:
  // Opens the library and initialises the plug-in. kInvalidArgument and kNotFound for the path, kLibraryUnusable for a
  // file that is no PJRT plug-in, has too few functions, or cannot be initialised.
  static core::Result<std::shared_ptr<const Api>> open(const std::filesystem::path& file);

  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // The sum of the file's bytes (core/cache/compile_entry.h), which tells plug-ins apart: their versions do not. A
  // cryptographic digest of 200 MB would make each start slow, and guard against nobody: who can choose the plug-in
  // need not forge a blob.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  // "0.115"
  [[nodiscard]] std::string version() const;

  // Sets the size of the struct, calls the function, and returns what the plug-in reports.
  template <class Args>
  [[nodiscard]] core::Status call(abi::Function function, Args& args, Doing doing) const {
    args.head.size = offsetof(Args, spare);
    return check(call_raw(function, &args), function, doing);
  }
  // Frees an object. Errors are not reported: nobody could act on them.
  void free(abi::Function function, void* handle) const;
  // Functions that give one handle or one text for another handle.
  [[nodiscard]] core::Result<void*> handle(abi::Function function, void* of) const;
  [[nodiscard]] core::Result<std::string> text(abi::Function function, void* of) const;
  // Waits for an event and frees it, also if it failed. Null is an event that has happened.
  [[nodiscard]] core::Status wait(abi::Event* event, Doing doing) const;

 private:
  Api(const abi::Api* table, std::filesystem::path file, std::string digest)
      : table_(table), file_(std::move(file)), digest_(std::move(digest)) {}

  [[nodiscard]] abi::Error* call_raw(abi::Function function, void* args) const;
  // Turns the plug-in's error into a status, and frees it.
  [[nodiscard]] core::Status check(abi::Error* error, abi::Function function, Doing doing) const;

  const abi::Api* const table_;
  const std::filesystem::path file_;
  const std::string digest_;
};

// Returns the code of a status for an error of a plug-in, whose codes are those of Abseil.
[[nodiscard]] core::StatusCode code_of(int plugin_code, Doing doing);

}  // namespace latebind::pjrt
