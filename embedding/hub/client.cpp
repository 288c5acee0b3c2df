#include "embedding/hub/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "core/platform/random.h"
#include "core/text/quote.h"

namespace latebind::embedding::hub {
namespace {

using core::header_value;
using core::HttpAnswer;
using core::HttpBody;
using core::HttpClient;
using core::HttpFailure;
using core::HttpHeaders;
using core::HttpMethod;
using core::HttpOutcome;
using core::HttpRequest;
using core::parse_range_start;
using core::parse_retry_after;
using core::printable;
using core::Result;
using core::shown_url;
using core::Status;
using core::StatusCode;

constexpr unsigned kRedirectsMax = 10;
constexpr std::size_t kAnswerBytesMax = std::size_t{16} << 20;
constexpr std::uint64_t kFileBytesMax = std::uint64_t{1} << 40;
// The limit for the answer to a query, however slowly its bytes arrive.
constexpr std::chrono::seconds kAnswerTimeout{60};
// If a server asks for a longer wait, it gets no more requests.
constexpr std::chrono::seconds kLongestWait{60};
constexpr std::chrono::milliseconds kSlice{50};  // interval within a pause, after which a cancellation is noticed
// Pauses and failed attempts of at least this length are reported to the user.
constexpr std::chrono::seconds kLongWait{2};
// After this many bytes of a file without a failure, the count of failures restarts.
constexpr std::uint64_t kProgressBytes = std::uint64_t{1} << 20;

bool is_redirect(const HttpAnswer& answer) {
  return answer.status >= 300 && answer.status < 400 && !answer.redirect.empty();
}

HttpOutcome permanent(StatusCode code, std::string text) {
  return {.answer = {}, .failure = HttpFailure::kPermanent, .status = Status(code, std::move(text))};
}

// Machines that failed together should not retry together.
std::chrono::milliseconds jittered(std::chrono::milliseconds pause) {
  thread_local std::mt19937_64 random(platform::random_number());
  return pause + pause * static_cast<int>(random() % 26) / 100;
}

}  // namespace

Result<Client> Client::make(const Settings& settings, Note note) {
  LB_ASSIGN_OR_RETURN(HttpClient http,
                      HttpClient::make({.authorities = settings.authorities,
                                        .purpose = "downloading from the hub",
                                        .alternative = "give the folder of a model on this machine",
                                        .address_setting = "HF_ENDPOINT",
                                        .timeout_setting = "HF_HUB_DOWNLOAD_TIMEOUT and HF_HUB_ETAG_TIMEOUT"}));
  return Client(settings, std::move(http), std::move(note));
}

Client::Client(const Settings& settings, HttpClient http, Note note)
    : settings_(&settings),
      http_(std::move(http)),
      note_(std::move(note)),
      hub_origin_(http_.origin_of(settings.endpoint)) {}

// Makes one attempt, following all redirects.
HttpOutcome Client::ask(const Question& question, const HttpBody& body) {
  attempt_began_ = std::chrono::steady_clock::now();
  HttpRequest request;
  request.method = question.head ? HttpMethod::kHead : HttpMethod::kGet;
  request.url = question.url;
  request.from = question.from;
  request.stall_timeout = question.stall_timeout;
  request.whole_timeout = question.whole_timeout;
  request.is_cancelled = [this] { return cancellation_.is_requested(); };
  HttpHeaders first;
  for (unsigned redirects = 0;; ++redirects) {
    const std::string origin = http_.origin_of(request.url);
    if (origin.empty()) {
      return permanent(StatusCode::kIo,
                       fmt::format("the hub redirects to {}, which is not an HTTP address", shown_url(request.url)));
    }
    request.headers.clear();
    // Only the hub gets the token.
    if (settings_->token && origin == hub_origin_) {
      request.headers.push_back("Authorization: Bearer " + *settings_->token);
    }
    // Sizes and digests apply to the uncompressed file.
    request.headers.emplace_back("Accept-Encoding: identity");
    HttpOutcome outcome = http_.exchange(request, body);
    // The hub's metadata of a file is in its first response, not in those of redirect targets.
    for (const auto& [name, value] : outcome.answer.headers) {
      if (name == "x-repo-commit" || name == "x-linked-etag" || name == "x-linked-size") first.emplace(name, value);
    }
    const bool goes_on = outcome.failure == HttpFailure::kNone && is_redirect(outcome.answer);
    const std::string next = goes_on ? http_.origin_of(outcome.answer.redirect) : std::string();
    if (!goes_on || (question.at_hub_only && next != origin && parse_file_info(outcome.answer.headers, false))) {
      for (const auto& [name, value] : first) {
        outcome.answer.headers.insert_or_assign(name, value);
      }
      return outcome;
    }
    if (redirects == kRedirectsMax) {
      return permanent(StatusCode::kIo,
                       fmt::format("{} is redirected more than {} times", question.what, kRedirectsMax));
    }
    if (origin.starts_with("https:") && next.starts_with("http:")) {
      return permanent(StatusCode::kPermissionDenied,
                       fmt::format("{} is redirected from an encrypted connection to {}, which is not encrypted",
                                   question.what, shown_url(outcome.answer.redirect)));
    }
    request.url = outcome.answer.redirect;
  }
}

Status Client::refusal(const Question& question, const HttpAnswer& answer) const {
  const std::string_view reason = header_value(answer.headers, "x-error-code");
  const bool gated = reason == "GatedRepo";
  const auto says = [&](StatusCode code, std::string_view words) {
    return Status(code, fmt::format("{} answers {} for {}: {}", shown_url(settings_->endpoint), answer.status,
                                    question.what, words));
  };
  switch (answer.status) {
    case 401:
    case 403:
      if (gated || answer.status == 403) {
        return says(
            StatusCode::kPermissionDenied,
            fmt::format("access requires accepting its terms at {}/{}{}", shown_url(settings_->endpoint), model_id_,
                        settings_->token
                            ? "; the token's owner has not accepted them, or the token does not allow reading it"
                            : ", and setting HF_TOKEN to a token"));
      }
      return says(
          StatusCode::kPermissionDenied,
          settings_->token
              ? "the hub does not accept the token, or there is no such model; check HF_TOKEN and the model's name"
              : "there is no such model, or it is private; check its name, or set HF_TOKEN to a token");
    case 404:
      if (reason == "RevisionNotFound") return says(StatusCode::kNotFound, "it has no such revision");
      if (reason == "EntryNotFound") return says(StatusCode::kNotFound, "it has no such file");
      return says(StatusCode::kNotFound, "there is no such model or revision; check the name");
    case 429:
      return says(StatusCode::kBusy, "too many requests; try again later, or set HF_TOKEN to a token");
    case 407:
      return says(StatusCode::kPermissionDenied, "the proxy requires a user and a password; check https_proxy");
    default:
      return says(StatusCode::kIo, answer.status >= 500 ? "the hub has a failure; try again later"
                                                        : "this is not an answer of a model hub; check HF_ENDPOINT");
  }
}

Status Client::judge(const Question& question, const HttpOutcome& outcome, unsigned& failures, bool& again) {
  again = false;
  unreachable_ = false;
  const int status = outcome.answer.status;
  if (outcome.failure == HttpFailure::kNone && status >= 200 && status < 400) return {};
  const bool is_transient = outcome.failure == HttpFailure::kTransient;
  const bool answered = outcome.failure == HttpFailure::kNone;
  const bool busy = answered && (status == 429 || status == 408);
  const bool broken = answered && status >= 500;
  unreachable_ = is_transient || broken || (outcome.failure == HttpFailure::kPermanent && status == 0);
  Status error = answered ? refusal(question, outcome.answer) : outcome.status.with_context(question.what);
  if (!is_transient && !busy && !broken) return error;
  if (++failures >= (answered ? attempts_max_ : unreached_max_)) return error;

  std::chrono::milliseconds pause = jittered(backoff_after(failures));
  if (answered) {
    const auto asked =
        parse_retry_after(header_value(outcome.answer.headers, "retry-after"), std::chrono::system_clock::now());
    if (asked && *asked > kLongestWait) {
      return Status(error.code(), fmt::format("{}; the hub asks to wait {} s", error.message(), asked->count()));
    }
    if (asked) pause = std::max(pause, std::chrono::milliseconds(*asked));
  }
  if (note_ && (busy || pause >= kLongWait || std::chrono::steady_clock::now() - attempt_began_ >= kLongWait)) {
    const bool is_known = error.message() == std::exchange(noted_, error.message());
    note_(fmt::format("{}; trying again in {:.1f} s", is_known ? "the same again" : error.message(),
                      static_cast<double>(pause.count()) / 1000));
  }
  for (const auto end = std::chrono::steady_clock::now() + pause; std::chrono::steady_clock::now() < end;) {
    if (cancellation_.is_requested()) return {StatusCode::kCancelled, "cancelled"};
    std::this_thread::sleep_for(std::min(pause, kSlice));
  }
  again = true;
  return {};
}

Result<HttpAnswer> Client::ask_until_answered(const Question& question, const HttpBody& body) {
  for (unsigned failures = 0;;) {
    HttpOutcome outcome = ask(question, body);
    bool again = false;
    LB_RETURN_IF_ERROR(judge(question, outcome, failures, again));
    if (!again) return std::move(outcome.answer);
  }
}

Result<ModelInfo> Client::model_info(const ModelName& name, bool blobs) {
  model_id_ = name.id;
  Question question;
  question.url = fmt::format("{}/api/models/{}/revision/{}{}", settings_->endpoint, name.id,
                             percent_encoded(name.revision), blobs ? "?blobs=true" : "");
  question.what = fmt::format("'{}'", name.text());
  question.stall_timeout = settings_->answer_timeout;
  question.whole_timeout = kAnswerTimeout;
  std::string text;
  LB_ASSIGN_OR_RETURN(const HttpAnswer answer, ask_until_answered(question, core::body_into(text, kAnswerBytesMax)));
  LB_ASSIGN_OR_RETURN(ModelInfo info, parse_model_info(text, question.what));
  if (is_commit(name.revision) && name.revision != info.commit) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{} was requested, but the hub returns the commit {}", question.what, info.commit));
  }
  return info;
}

std::string Client::file_url(const ModelName& name, const std::string& commit, const std::string& file) const {
  std::string url = fmt::format("{}/{}/resolve/{}", settings_->endpoint, name.id, commit);
  for (std::string_view rest = file; !rest.empty();) {
    const auto slash = std::min(rest.find('/'), rest.size());
    url += "/" + percent_encoded(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return url;
}

Result<FileInfo> Client::file_info(const ModelName& name, const std::string& commit, const std::string& file) {
  model_id_ = name.id;
  Question question;
  question.head = true;
  question.url = file_url(name, commit, file);
  question.what = fmt::format("{} of '{}'", printable(file), name.text());
  question.at_hub_only = true;
  question.stall_timeout = settings_->answer_timeout;
  question.whole_timeout = kAnswerTimeout;
  LB_ASSIGN_OR_RETURN(const HttpAnswer answer, ask_until_answered(question, {}));
  const std::string_view of = header_value(answer.headers, "x-repo-commit");
  if (!of.empty() && of != commit) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: the hub returns the file of commit {}, but {} was requested", question.what,
                              printable(of), commit));
  }
  auto info = parse_file_info(answer.headers, answer.status == 200);
  if (!info) {
    return Status(
        StatusCode::kInvalidModel,
        fmt::format("{}: the answer has no ETag, which names the file in the cache; does HF_ENDPOINT name a model hub?",
                    question.what));
  }
  if (info->size.value_or(0) > kFileBytesMax) {
    return Status(StatusCode::kInvalidModel, fmt::format("{} has {} bytes, which is above the limit of {}",
                                                         question.what, *info->size, kFileBytesMax));
  }
  return *std::move(info);
}

Status Client::load(const ModelName& name, const std::string& commit, const std::string& file, const FileInfo& info,
                    platform::PartialFile& partial, const std::function<Status(std::uint64_t)>& on_bytes) {
  model_id_ = name.id;
  Question question;
  question.url = file_url(name, commit, file);
  question.what = fmt::format("{} of '{}'", printable(file), name.text());
  question.stall_timeout = settings_->stall_timeout;
  const std::uint64_t most = info.size.value_or(kFileBytesMax);

  HttpBody body;
  body.begin = [&](const HttpAnswer& answer) -> Status {
    if (answer.status == 206 && parse_range_start(header_value(answer.headers, "content-range")) != partial.size()) {
      LB_RETURN_IF_ERROR(partial.clear());
      return Status(StatusCode::kIo,
                    fmt::format("{}: the server returns a different range than requested; try again", question.what));
    }
    // A server without support for ranges sends the whole file.
    return answer.status == 206 || partial.size() == 0 ? Status() : partial.clear();
  };
  bool misplaced = false;
  body.write = [&](std::string_view bytes) -> Status {
    if (bytes.size() > most - partial.size()) {
      misplaced = true;
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: the server sends more than the {} bytes that it announced", question.what, most));
    }
    LB_RETURN_IF_ERROR(partial.write(bytes));
    return on_bytes(partial.size());
  };

  if (partial.size() > most) LB_RETURN_IF_ERROR(partial.clear());
  std::uint64_t mark = partial.size();
  for (unsigned failures = 0; !info.size || partial.size() < *info.size || partial.size() == 0;) {
    question.from = partial.size();
    HttpOutcome outcome = ask(question, body);
    if (misplaced) {
      LB_RETURN_IF_ERROR(partial.clear());
      return outcome.status;
    }
    if (partial.size() >= mark + kProgressBytes) failures = 0;
    mark = partial.size();
    const bool ended =
        outcome.failure == HttpFailure::kNone && (outcome.answer.status == 200 || outcome.answer.status == 206);
    if (ended && (!info.size || partial.size() == *info.size)) break;
    if (ended) {
      outcome.failure = HttpFailure::kTransient;
      outcome.status = Status(StatusCode::kIo, fmt::format("only {} of {} bytes arrived", partial.size(), *info.size));
    } else if (outcome.failure == HttpFailure::kNone && outcome.answer.status == 416 && partial.size() > 0) {
      // The partial file cannot be continued.
      LB_RETURN_IF_ERROR(partial.clear());
      mark = 0;
      if (++failures < attempts_max_) continue;
    }
    bool again = false;
    LB_RETURN_IF_ERROR(judge(question, outcome, failures, again));
    if (!again) {
      return Status(StatusCode::kIo, fmt::format("{}: the hub answers {} instead of sending the file", question.what,
                                                 outcome.answer.status));
    }
  }
  unreachable_ = false;
  return Status();
}

}  // namespace latebind::embedding::hub
