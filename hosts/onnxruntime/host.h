// Host: the ONNX Runtime that has registered this library, with its tables, its log, and errors in its form.
//
// One for each registration, constant after construction; any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "hosts/onnxruntime/abi.h"
#include "latebind/latebind.hpp"

namespace latebind::provider {

// The exception within this library, caught at its boundary: an error with its code for the host.
class Failure : public std::exception {
 public:
  Failure(abi::ErrorCode code, std::string text, lb_code cause = LB_INTERNAL)
      : code_(code), cause_(cause), text_(std::move(text)) {}
  [[nodiscard]] abi::ErrorCode code() const { return code_; }
  // Latebind's code, as passed to failure_of().
  [[nodiscard]] lb_code cause() const { return cause_; }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  abi::ErrorCode code_;
  lb_code cause_;
  std::string text_;
};

// A failure with the text "WHAT: MESSAGE (NAME)".
[[nodiscard]] Failure failure_of(const std::string& what, const latebind::Status& status);
// Throws Failure with the status's text unless it is ok.
void require(const core::Status& status);

class Host {
 public:
  // A host that is too old has no table of this version: `tables` is then null, and Failure says so. `logger` lives as
  // long as the registration.
  Host(const abi::ApiBase& base, const abi::Logger* logger);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  [[nodiscard]] const abi::Tables* operator->() const { return &tables_; }

  // The host's library if it can be opened as a file, UTF-8; "" if it is part of another module, as in Python.
  [[nodiscard]] std::string library_file() const;
  // The folder of the host's code if ONNX Runtime's library is there as well, UTF-8; otherwise "". The Python package
  // has such a library beside its module.
  [[nodiscard]] std::string library_folder() const;

  void log(abi::LoggingLevel level, const std::string& text, const abi::Logger* logger = nullptr) const noexcept;

  // Throws the status as a Failure, and releases it.
  void check(abi::Status* status) const {
    if (status != nullptr) fail(status);
  }
  [[noreturn]] void fail(abi::Status* status) const;
  [[nodiscard]] abi::Status* status(abi::ErrorCode code, const char* text) const noexcept;

  // Checks what the host must provide even though it reports success: throws Failure for null, and for counts beyond
  // those of any graph.
  template <class T>
  static T* need(T* given, const char* what) {
    if (given == nullptr) lacks(what);
    return given;
  }
  static std::size_t need_count(std::size_t count, const char* what) {
    if (count > kCountMax) lacks(what);
    return count;
  }

  // Converts every exception to a status at the boundary.
  template <class Body>
  abi::Status* guarded(Body&& body) const noexcept {
    try {
      std::forward<Body>(body)();
      return nullptr;
    } catch (const Failure& failure) {
      return status(failure.code(), failure.what());
    } catch (const std::bad_alloc&) {
      return status(abi::kFail, "Latebind: out of memory");
    } catch (const std::exception& error) {
      return status(abi::kFail, error.what());
    } catch (...) {
      return status(abi::kFail, "Latebind: unknown exception");
    }
  }

 private:
  static constexpr std::size_t kCountMax = std::size_t{1} << 24U;
  [[noreturn]] static void lacks(const char* what);

  abi::Tables tables_;
  // Returned if the host has no memory for another one, since null would mean success.
  mutable std::atomic<abi::Status*> last_status_{nullptr};
  const abi::Logger* logger_;
  const void* code_;  // an address in the host's code
};

// An owned map of texts of the host.
class Pairs {
 public:
  explicit Pairs(const Host& host) : host_(host) {
    host_->CreateKeyValuePairs(&raw_);
    Host::need(raw_, "map");
  }
  Pairs(const Host& host, abi::KeyValuePairs* raw) : host_(host), raw_(raw) {}
  Pairs(const Pairs&) = delete;
  Pairs& operator=(const Pairs&) = delete;
  ~Pairs() {
    if (raw_ != nullptr) host_->ReleaseKeyValuePairs(raw_);
  }
  void add(const std::string& key, const std::string& value) {
    host_->AddKeyValuePair(raw_, key.c_str(), value.c_str());
  }
  [[nodiscard]] const abi::KeyValuePairs* get() const { return raw_; }
  // Keys and values, which live as long as this object. Throws Failure if they are not texts.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string_view>> entries() const;

 private:
  const Host& host_;
  abi::KeyValuePairs* raw_ = nullptr;
};

// The value of a key; "" if it is missing. `pairs` may be null.
[[nodiscard]] std::string value_of(const Host& host, const abi::KeyValuePairs* pairs, const char* key);

}  // namespace latebind::provider
