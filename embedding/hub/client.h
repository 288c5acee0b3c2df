// The hub's protocol: a model's files, a file's metadata, and its bytes. Redirects are followed here (the token is only
// sent to the hub), and temporary failures are retried, a bounded number of times and with growing pauses.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/platform/files/partial_file.h"
#include "core/result.h"
#include "embedding/hub/answers.h"
#include "embedding/hub/http.h"
#include "embedding/hub/name.h"
#include "embedding/hub/settings.h"

namespace latebind::embedding::hub {

class Client {
 public:
  // Tells the user the cause of a delay: "the hub asks to wait 20 s".
  using Note = std::function<void(std::string_view)>;

  // kLibraryNotFound when there is no libcurl. `settings` must outlive the client.
  static core::Result<Client> make(const Settings& settings, Note note);

  // Ends requests with kCancelled.
  void set_cancellation(core::Cancellation cancellation) { cancellation_ = std::move(cancellation); }

  // How often a request may fail before it is abandoned; 5 until set. `unreached`: how often without any answer.
  void set_attempts_max(unsigned attempts, unsigned unreached) {
    attempts_max_ = attempts;
    unreached_max_ = unreached;
  }
  void set_attempts_max(unsigned attempts) { set_attempts_max(attempts, attempts); }

  // The commit and the list of files; with `blobs` also what each of them is, where the hub tells. kNotFound,
  // kPermissionDenied (with what to do), kBusy (asked to come later), kIo, kDeadlineExceeded.
  [[nodiscard]] core::Result<ModelInfo> model_info(const ModelName& name, bool blobs);

  [[nodiscard]] core::Result<FileInfo> file_info(const ModelName& name, const std::string& commit,
                                                 const std::string& file);

  // Downloads what `partial` lacks of the file. What was received is kept, whatever the outcome; the caller checks the
  // digest. `on_bytes` receives the number of bytes so far.
  [[nodiscard]] core::Status load(const ModelName& name, const std::string& commit, const std::string& file,
                                  const FileInfo& info, platform::PartialFile& partial,
                                  const std::function<core::Status(std::uint64_t)>& on_bytes);

  // True when the last call failed because the hub could not be reached or does not work: the cache may be used
  // instead.
  [[nodiscard]] bool unreachable() const { return unreachable_; }

 private:
  struct Question {
    bool head = false;
    std::string url;
    std::string what;          // for messages: "'org/name'", "model.safetensors of 'org/name'"
    std::uint64_t from = 0;    // first byte wanted
    bool at_hub_only = false;  // a redirect to another host is an answer
    std::chrono::seconds whole_timeout{0};
    std::chrono::seconds stall_timeout{10};
  };

  Client(const Settings& settings, Http http, Note note);

  [[nodiscard]] HttpOutcome ask(const Question& question, const HttpBody& body);
  // Ok when the answer is final; otherwise waits and is ok with `again` set, or is the error. `failures` counts.
  [[nodiscard]] core::Status judge(const Question& question, const HttpOutcome& outcome, unsigned& failures,
                                   bool& again);
  [[nodiscard]] core::Result<HttpAnswer> ask_until_answered(const Question& question, const HttpBody& body);
  [[nodiscard]] core::Status refusal(const Question& question, const HttpAnswer& answer) const;
  [[nodiscard]] std::string file_url(const ModelName& name, const std::string& commit, const std::string& file) const;

  const Settings* settings_;
  Http http_;
  Note note_;
  std::string hub_origin_;
  std::string model_id_;  // of the last request, for messages
  core::Cancellation cancellation_;
  unsigned attempts_max_ = 5;
  unsigned unreached_max_ = 5;
  std::chrono::steady_clock::time_point attempt_began_{};
  bool unreachable_ = false;
};

}  // namespace latebind::embedding::hub
