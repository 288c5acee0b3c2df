// Client: the hub's protocol for a model's list of files, a file's metadata, and its bytes. Redirects are followed
// here, sending the token only to the hub. Temporary failures are retried a limited number of times with growing
// pauses.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/http/http_client.h"
#include "core/platform/files/partial_file.h"
#include "core/result.h"
#include "core/threads/cancellation.h"
#include "embedding/hub/answers.h"
#include "embedding/hub/name.h"
#include "embedding/hub/settings.h"

namespace latebind::embedding::hub {

class Client {
 public:
  // Reports the cause of a delay to the user: "the hub asks to wait 20 s".
  using Note = std::function<void(std::string_view)>;

  // Returns kLibraryNotFound if libcurl is missing. `settings` must outlive the client.
  static core::Result<Client> make(const Settings& settings, Note note);

  // A request on the cancellation ends requests with kCancelled.
  void set_cancellation(core::Cancellation cancellation) { cancellation_ = std::move(cancellation); }

  // Sets how often a request may fail before it is abandoned; `unreached` is the limit for failures without any answer.
  // Both are 5 by default.
  void set_attempts_max(unsigned attempts, unsigned unreached) {
    attempts_max_ = attempts;
    unreached_max_ = unreached;
  }
  void set_attempts_max(unsigned attempts) { set_attempts_max(attempts, attempts); }

  // The commit and its list of files, with `blobs` including the information about each file that the hub gives.
  // Returns kNotFound, kPermissionDenied (with a remedy), kBusy (the hub asks to come back later), kIo or
  // kDeadlineExceeded.
  [[nodiscard]] core::Result<ModelInfo> model_info(const ModelName& name, bool blobs);

  [[nodiscard]] core::Result<FileInfo> file_info(const ModelName& name, const std::string& commit,
                                                 const std::string& file);

  // Downloads the part of the file that `partial` lacks. Received bytes are kept even on failure; the caller checks the
  // digest. `on_bytes` receives the number of bytes so far.
  [[nodiscard]] core::Status load(const ModelName& name, const std::string& commit, const std::string& file,
                                  const FileInfo& info, platform::PartialFile& partial,
                                  const std::function<core::Status(std::uint64_t)>& on_bytes);

  // Whether the last call failed because the hub could not be reached or does not work, so that the cache may be used
  // instead.
  [[nodiscard]] bool unreachable() const { return unreachable_; }

 private:
  struct Question {
    bool head = false;
    std::string url;
    std::string what;          // for messages: "'org/name'", "model.safetensors of 'org/name'"
    std::uint64_t from = 0;    // the first byte to send
    bool at_hub_only = false;  // a redirect to another host counts as the answer
    std::chrono::seconds whole_timeout{0};
    std::chrono::seconds stall_timeout{10};
  };

  Client(const Settings& settings, core::HttpClient http, Note note);

  [[nodiscard]] core::HttpOutcome ask(const Question& question, const core::HttpBody& body);
  // Ok if the answer is final. Otherwise counts the failure in `failures`, and either waits and sets `again`, or
  // returns the error.
  [[nodiscard]] core::Status judge(const Question& question, const core::HttpOutcome& outcome, unsigned& failures,
                                   bool& again);
  [[nodiscard]] core::Result<core::HttpAnswer> ask_until_answered(const Question& question, const core::HttpBody& body);
  [[nodiscard]] core::Status refusal(const Question& question, const core::HttpAnswer& answer) const;
  [[nodiscard]] std::string file_url(const ModelName& name, const std::string& commit, const std::string& file) const;

  const Settings* settings_;
  core::HttpClient http_;
  Note note_;
  std::string hub_origin_;
  std::string model_id_;  // of the last request, for messages
  core::Cancellation cancellation_;
  unsigned attempts_max_ = 5;
  unsigned unreached_max_ = 5;
  std::chrono::steady_clock::time_point attempt_began_{};
  bool unreachable_ = false;
  std::string noted_;  // the failure that was reported last
};

}  // namespace latebind::embedding::hub
