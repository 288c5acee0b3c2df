// A service with a toy model, for tests of protocols: requests go through the router to their handlers, without
// sockets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "server/router.h"
#include "server/service.h"
#include "server/transport/target.h"
#include "tests/embedding/support.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::server::testing {

inline constexpr std::size_t kDimension = 32;
inline constexpr std::size_t kTokensMax = 20;  // of a text, special tokens included

struct ToyOptions {
  // The model: its vectors have length 1, unless `is_raw`: then they are twice as long and nothing normalises them.
  std::string name = "toy";
  std::vector<std::string> aliases{};
  std::filesystem::path folder = embedding::testing::tiny_bert("f32");
  bool is_raw = false;
  std::function<core::Status(const core::TensorView& ids)> on_run{};
  ServiceLimits limits{};
  bool is_loaded = true;
  bool token_vectors = false;  // are served too
};

class ToyBackend final : public test::ScriptedBackend {
 public:
  explicit ToyBackend(test::ToyScript script) : ScriptedBackend("toy"), script_(std::move(script)) {
    with("CPU", core::DeviceKind::kCpu);
  }
  using ScriptedBackend::load;
  core::Result<std::unique_ptr<core::Executable>> load(const core::Model& /*model*/, std::string_view /*device*/,
                                                       const core::CompileOptions& /*options*/) override {
    return std::unique_ptr<core::Executable>(std::make_unique<test::ToyEncoder>(script_));
  }
  // What is loaded from now on.
  void give_token_vectors() { script_.pooled = false; }

 private:
  test::ToyScript script_;
};

// One thread: that of the test, which also runs what is posted while it waits for an answer.
class ToyServer {
 public:
  explicit ToyServer(const ToyOptions& options = {})
      : service_(options.limits, [this](std::function<void()> work, bool /*is_large*/) { post(std::move(work)); }) {
    test::ToyScript script{.pooled = true, .dimension = kDimension};
    script.on_run = options.on_run;
    if (options.is_raw) {
      script.spoil = [](float, float value) { return 2 * value; };
    }
    const auto backend = std::make_shared<ToyBackend>(std::move(script));
    EXPECT_TRUE(registry_.add(backend).ok());
    embedding::EmbedderOptions opening;
    if (options.token_vectors) {
      backend->give_token_vectors();
      opening.outputs = {"dense", "token_vectors"};
    }
    auto embedder = embedding::Embedder::open(core::Engine(registry_), options.folder,
                                              *core::Placement::parse("auto", registry_), opening);
    EXPECT_TRUE(embedder.ok()) << embedder.status().to_string();
    auto model = std::make_shared<ServedModel>();
    model->name = options.name;
    model->aliases = options.aliases;
    model->commit = std::string(40, 'c');
    model->digest = digest_of_model(options.folder, {});
    model->encoders.push_back(*std::move(embedder));
    EXPECT_TRUE(service_.add(std::move(model)).ok());
    if (options.is_loaded) service_.set_ready();
  }
  ToyServer(const ToyServer&) = delete;
  ToyServer& operator=(const ToyServer&) = delete;
  ~ToyServer() {
    EXPECT_TRUE(service_.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::minutes(1)));
    run_posted([] { return true; });
  }

  [[nodiscard]] Service& service() { return service_; }
  // Of the latest answer.
  [[nodiscard]] const RequestRecord& record() const { return record_; }

  // The answer of the handler for this method and path, or that of a path that does not exist.
  HttpResponse ask(std::string method, std::string path, std::string body = {}, HttpHeaders headers = {}) {
    std::optional<HttpResponse> answer;
    HttpRequest request{.method = std::move(method), .path = std::move(path), .query = {}};
    request.headers = std::move(headers);
    request.body = std::move(body);
    request.arrived = std::chrono::steady_clock::now();
    request.arrived_at = std::chrono::system_clock::now();
    const auto target = Target::parse(request.path);
    if (!target) throw std::invalid_argument(request.path);
    const Router::Match match = router_.find(request.method, target->segments);
    auto exchange = std::make_shared<Exchange>(std::move(request), [&](HttpResponse response) {
      const std::lock_guard lock(mutex_);
      answer = std::move(response);
      changed_.notify_all();
    });
    exchange->before_answer([this](const Exchange& answered, HttpResponse&) { record_ = answered.record(); });
    if (match.route == nullptr) {
      refuse(*exchange, *match.protocol,
             Router::refusal_of(match, exchange->request().method, exchange->request().path));
    } else {
      match.route->handle(exchange, match.values, service_);
    }
    exchange.reset();
    while (!run_posted([&] { return answer.has_value() || !posted_.empty(); }))
      continue;
    return *std::move(answer);
  }
  HttpResponse post_json(std::string path, const nlohmann::json& body) {
    return ask("POST", std::move(path), body.dump());
  }

  // What the toy model gives for these ids.
  [[nodiscard]] static std::vector<float> vector_of(const std::vector<std::int32_t>& ids) {
    return test::toy_vector(ids, kDimension);
  }
  // The ids of a text.
  [[nodiscard]] std::vector<std::int32_t> ids_of(std::string_view text, std::size_t max_tokens = kTokensMax) const {
    std::vector<std::int32_t> ids;
    EXPECT_TRUE(service_.models().front()->texts()->tokenizer()->encode(text, max_tokens, ids).ok());
    return ids;
  }

 private:
  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    changed_.notify_all();
  }

  // Waits until `is_due`, which is asked under the lock, and runs what was posted; true when there was nothing to run.
  template <class IsDue>
  bool run_posted(const IsDue& is_due) {
    std::deque<std::function<void()>> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, is_due);
      work.swap(posted_);
    }
    for (const auto& one : work)
      one();
    return work.empty();
  }

  core::Registry registry_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> posted_;  // guarded by mutex_
  RequestRecord record_;
  const Router router_;
  Service service_;
};

inline nlohmann::json json_of(const HttpResponse& response) {
  auto json = nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << response.body;
  return json;
}

inline std::string header_of(const HttpResponse& response, std::string_view name) {
  for (const auto& [given, value] : response.headers) {
    if (given == name) return value;
  }
  return "(none)";
}

inline void expect_near(const nlohmann::json& found, const std::vector<float>& expected, float factor = 1) {
  ASSERT_TRUE(found.is_array()) << found;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found[i].get<float>(), factor * expected[i], 1e-5) << "number " << i;
}

// The models of a test: copies of the tiny one.
class ProtocolTest : public ::testing::Test {
 protected:
  // A refusal whose body has one member, with a message that has this reason.
  static void expect_one_message(const HttpResponse& response, unsigned status, std::string_view member,
                                 std::string_view reason) {
    EXPECT_EQ(response.status, status) << response.body;
    const nlohmann::json body = json_of(response);
    EXPECT_EQ(body.size(), 1U);
    EXPECT_THAT(body[std::string(member)].get<std::string>(), ::testing::HasSubstr(std::string(reason)));
  }
  // Without the module that normalises.
  [[nodiscard]] ToyOptions raw_model() {
    auto modules = nlohmann::json::parse(embedding::testing::read_file(copy() / "modules.json"));
    modules.erase(2);
    scratch_->write("modules.json", modules.dump());
    return {.folder = scratch_->path(), .is_raw = true};
  }
  // With prompts: "query", which is "the ", unless others are given.
  [[nodiscard]] ToyOptions prompt_model(std::string_view config = R"({"prompts":{"query":"the "}})") {
    copy();
    scratch_->write("config_sentence_transformers.json", config);
    return {.folder = scratch_->path()};
  }

 private:
  const std::filesystem::path& copy() {
    scratch_.emplace();
    scratch_->copy_tiny_bert();
    return scratch_->path();
  }
  std::optional<embedding::testing::ScratchFolder> scratch_;
};

}  // namespace latebind::server::testing
