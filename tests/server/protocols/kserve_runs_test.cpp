// The Open Inference Protocol: how runs are queued and dropped, and models of texts.
#include "tests/server/protocols/kserve_fixture.h"

namespace latebind::server::kserve {
namespace {

using ::testing::HasSubstr;

TEST_F(KserveTest, RunsMakeWayAsMuchAsTheThreadThatAddedTheModel) {
  int nice = 0;
  int of_run = 0;
  std::thread([&] {
    platform::make_way(platform::thread_nice() + 4);
    nice = platform::thread_nice();
    add(echo_model("echo", {ElementType::kF32}, [&of_run](const core::RunOptions&) {
      of_run = platform::thread_nice();
      return core::Status();
    }));
  }).join();
  service.set_ready();
  EXPECT_EQ(infer("echo", {{"inputs", {tensor("x0", "FP32", {1, 2}, {1, 2})}}}).status, 200U);
  EXPECT_EQ(of_run, nice);
}

TEST_F(KserveTest, RunsAsManyAtOnceAsTheDeviceHasRequestsAndRefusesBeyondTheQueue) {
  test::Latch running(kRequests);
  Gate gate;
  std::atomic<int> runs{0};
  add(echo_model("slow", {ElementType::kI32}, [&](const core::RunOptions& options) {
    if (runs++ < static_cast<int>(kRequests)) running.count_down();
    return gate.wait(options);
  }));
  service.set_ready();
  const std::string body = Json{{"inputs", {tensor("x0", "INT32", {1, 1}, {1})}}}.dump();
  std::array<Answer, kRequests> first;
  std::vector<ExchangePtr> kept;
  for (Answer& answer : first)
    kept.push_back(send("POST", "/v2/models/slow/infer", body, answer));
  running.wait();
  Answer waits;
  kept.push_back(send("POST", "/v2/models/slow/infer", body, waits));
  const auto refused = ask("POST", "/v2/models/slow/infer", body);
  EXPECT_EQ(refused.status, 429U) << refused.body;
  EXPECT_EQ(header_of(refused, "Retry-After"), "1");
  EXPECT_EQ(service.requests_in_flight(), std::uint64_t{kRequests} + 1);
  EXPECT_EQ(runs, static_cast<int>(kRequests));
  gate.open();
  for (Answer& answer : first)
    EXPECT_EQ(answer.get().status, 200U);
  EXPECT_EQ(waits.get().status, 200U);
}

TEST_F(KserveTest, DropsRunsWhoseClientsHaveGone) {
  test::Latch running(kRequests);
  Gate gate;
  std::atomic<int> runs{0};
  add(echo_model("slow", {ElementType::kI32}, [&](const core::RunOptions& options) {
    if (runs++ < static_cast<int>(kRequests)) running.count_down();
    return gate.wait(options);
  }));
  service.set_ready();
  const std::string body = Json{{"inputs", {tensor("x0", "INT32", {1, 1}, {1})}}}.dump();
  std::array<Answer, kRequests> first;
  std::vector<ExchangePtr> kept;
  for (Answer& answer : first)
    kept.push_back(send("POST", "/v2/models/slow/infer", body, answer));
  running.wait();
  // One that waits makes room for another.
  Answer dropped;
  send("POST", "/v2/models/slow/infer", body, dropped)->gone().request();
  EXPECT_EQ(service.requests_in_flight(), kRequests);
  Answer next;
  kept.push_back(send("POST", "/v2/models/slow/infer", body, next));
  // One that runs gives its thread back.
  kept.front()->gone().request();
  kept.erase(kept.begin());
  EXPECT_EQ(first.front().get().status, 500U);
  gate.open();
  EXPECT_EQ(next.get().status, 200U);
  EXPECT_EQ(first.back().get().status, 200U);
  EXPECT_EQ(dropped.get().status, 500U);
  EXPECT_EQ(runs, static_cast<int>(kRequests) + 1);
}

// Texts.

class ToyBackend final : public test::ScriptedBackend {
 public:
  ToyBackend() : ScriptedBackend("toy") { with("CPU", core::DeviceKind::kCpu); }
  using ScriptedBackend::load;
  core::Result<std::unique_ptr<core::Executable>> load(const core::Model&, std::string_view,
                                                       const core::CompileOptions&) override {
    return std::unique_ptr<core::Executable>(
        std::make_unique<test::ToyEncoder>(test::ToyScript{.pooled = true, .requests = 1, .dimension = 32}));
  }
};

class KserveTextTest : public KserveTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(registry.add(std::make_shared<ToyBackend>()).ok());
    auto opened =
        embedding::Embedder::open(core::Engine(registry), fs::path(LATEBIND_SOURCE_DIR) / "tests/data/tiny-bert/f32",
                                  *core::Placement::parse("auto", registry), {});
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    auto model = std::make_shared<ServedModel>();
    model->name = "tiny";
    model->encoders.push_back(*std::move(opened));
    add(model);
    service.set_ready();
  }
  std::string length(std::uint32_t bytes) { return bytes_of<std::uint32_t>({bytes}); }

  core::Registry registry;
};

TEST_F(KserveTextTest, TakesTextsInJsonAndInBinaryAsOneAxisOrTwo) {
  const Json model = Json::parse(ask("GET", "/v2/models/tiny").body);
  EXPECT_EQ(model["inputs"], Json::array({{{"name", "text"}, {"datatype", "BYTES"}, {"shape", {-1}}}}));
  EXPECT_EQ(model["outputs"], Json::array({{{"name", "embedding"}, {"datatype", "FP32"}, {"shape", {-1, 32}}}}));
  const auto json = infer("tiny", {{"inputs", {tensor("text", "BYTES", {2}, {"a word", "b"})}}});
  ASSERT_EQ(json.status, 200U) << json.body;
  const Json output = Json::parse(json.body)["outputs"][0];
  EXPECT_EQ(output["name"], "embedding");
  EXPECT_EQ(output["shape"], Json({2, 32}));
  const auto vectors = output["data"].get<std::vector<float>>();
  ASSERT_EQ(vectors.size(), 64U);
  const std::string texts = length(6) + "a word" + length(1) + "b";
  const auto binary = infer("tiny",
                            {{"inputs", {binary_tensor("text", "BYTES", {2, 1}, texts.size())}},
                             {"parameters", {{"binary_data_output", true}}}},
                            texts);
  ASSERT_EQ(binary.status, 200U) << binary.body;
  const std::size_t json_bytes = std::stoul(header_of(binary, "Inference-Header-Content-Length"));
  EXPECT_EQ(binary.body.substr(json_bytes), bytes_of(vectors));
}

TEST_F(KserveTextTest, RefusesTextsThatAreDamaged) {
  const auto asked = [&](const Json& shape, const std::string& binary) {
    return error_of(infer("tiny", {{"inputs", {binary_tensor("text", "BYTES", shape, binary.size())}}}, binary), 400);
  };
  EXPECT_THAT(asked({1}, length(2) + "a"), HasSubstr("longer than the rest of its data"));
  EXPECT_THAT(asked({1}, length(0xFFFFFFFF) + "a"), HasSubstr("longer than the rest of its data"));
  EXPECT_THAT(asked({1}, length(1) + "ab"), HasSubstr("more data"));
  EXPECT_THAT(asked({2}, length(4) + "abcd"), HasSubstr("less data"));
  EXPECT_THAT(asked({1099511627776}, length(1) + "a"), HasSubstr("less data"));
  EXPECT_THAT(asked({1}, length(2) + "\xFF\xFE"), HasSubstr("UTF-8"));
  EXPECT_THAT(asked({1, 2}, length(0) + length(0)), HasSubstr("[n,1]"));
  EXPECT_THAT(error_of(infer("tiny", {{"inputs", {tensor("text", "BYTES", {0}, Json::array())}}}), 400),
              HasSubstr("at least one"));
  EXPECT_THAT(error_of(infer("tiny", {{"inputs", {tensor("text", "BYTES", {1}, {1})}}}), 400), HasSubstr("string"));
  EXPECT_THAT(error_of(infer("tiny", {{"inputs", {tensor("words", "BYTES", {1}, {"a"})}}}), 400), HasSubstr("text"));
  EXPECT_THAT(error_of(infer("tiny", {{"inputs", {tensor("text", "INT32", {1}, {1})}}}), 400), HasSubstr("BYTES"));
}

TEST_F(KserveTextTest, RefusesTextsBeyondTheLimitWithoutKeepingThem) {
  const std::size_t most = service.limits().texts_max;
  const std::vector<std::string> texts(most + 1, "a");
  EXPECT_THAT(error_of(infer("tiny", {{"inputs", {tensor("text", "BYTES", {texts.size()}, texts)}}}), 400),
              HasSubstr(std::to_string(most + 1) + " texts in one request; at most " + std::to_string(most)));
  std::string binary;
  for (const std::string& text : texts)
    binary += length(1) + text;
  EXPECT_THAT(
      error_of(infer("tiny", {{"inputs", {binary_tensor("text", "BYTES", {texts.size(), 1}, binary.size())}}}, binary),
               400),
      HasSubstr("at most " + std::to_string(most)));

  // Checked all the same, and all inputs together have one limit.
  const auto kept = [](const Json& inputs) {
    const auto parsed = parse_infer("", Json{{"inputs", inputs}}.dump(), 3);
    std::vector<std::size_t> counts;
    if (const auto* request = std::get_if<InferRequest>(&parsed)) {
      for (const auto& input : request->inputs)
        counts.push_back(std::get<TextTensor>(input).texts.size());
    }
    return counts;
  };
  const Json two = tensor("two", "BYTES", {2}, {"a", "b"});
  EXPECT_EQ(kept(Json::array({two})), std::vector<std::size_t>({2}));
  EXPECT_EQ(kept(Json::array({tensor("four", "BYTES", {2, 2}, {"a", "b", "c", "d"})})), std::vector<std::size_t>({0}));
  EXPECT_EQ(kept({two, tensor("more", "BYTES", {2}, {"a", "b"})}), std::vector<std::size_t>({2, 0}));
  EXPECT_EQ(kept(Json::array({tensor("four", "BYTES", {4}, {"a", "b", "c", 1})})), std::vector<std::size_t>());
  EXPECT_EQ(kept(Json::array({tensor("four", "BYTES", {4}, {"a", "b", "c"})})), std::vector<std::size_t>());
}

TEST_F(KserveTextTest, PassesParametersOn) {
  const auto asked = [&](const Json& parameters, const std::string& text = "a") {
    return infer("tiny", {{"inputs", {tensor("text", "BYTES", {1}, {text})}}, {"parameters", parameters}});
  };
  std::string longer;
  for (int i = 0; i < 600; ++i)
    longer += "word ";
  EXPECT_EQ(asked({{"truncate", true}}, longer).status, 200U);
  EXPECT_EQ(asked({{"truncate", false}}, longer).status, 413U);
  EXPECT_EQ(asked({{"normalize", false}}).status, 200U);
  EXPECT_THAT(error_of(asked({{"dimensions", 8}}), 400), HasSubstr("dimensions"));
  EXPECT_THAT(error_of(asked({{"dimensions", 0}}), 400), HasSubstr("dimensions"));
  EXPECT_THAT(error_of(asked({{"prompt_name", "none"}}), 400), HasSubstr("prompt"));
  EXPECT_THAT(error_of(asked({{"truncate", 1}}), 400), HasSubstr("true or false"));
}

}  // namespace
}  // namespace latebind::server::kserve
