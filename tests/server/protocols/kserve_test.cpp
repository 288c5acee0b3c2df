#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/failover/placed_model.h"
#include "core/platform/thread_nice.h"
#include "server/protocols/kserve_request.h"
#include "server/protocols/route.h"
#include "server/router.h"
#include "server/service.h"
#include "server/transport/target.h"
#include "tests/embedding/toy_encoder.h"
#include "tests/support/latch.h"
#include "tests/support/scripted_backend.h"

namespace latebind::server::kserve {
namespace {

namespace fs = std::filesystem;
using core::ElementType;
using core::kDynamic;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr unsigned kRequests = 2;

// Every output is the input at its position.
class Echo final : public core::Executable {
 public:
  using OnRun = std::function<core::Status(const core::RunOptions& options)>;
  Echo(std::vector<ElementType> types, OnRun on_run) : on_run_(std::move(on_run)) {
    active_.backend = "scripted";
    active_.device = "CPU";
    active_.requests = kRequests;
    for (std::size_t i = 0; i < types.size(); ++i) {
      inputs_.push_back({.name = "x" + std::to_string(i), .type = types[i], .shape = {kDynamic, kDynamic}});
      outputs_.push_back({.name = "y" + std::to_string(i), .type = types[i], .shape = {kDynamic, kDynamic}});
    }
  }
  std::span<const core::TensorInfo> inputs() const override { return inputs_; }
  std::span<const core::TensorInfo> outputs() const override { return outputs_; }
  const core::ActiveConfig& active() const override { return active_; }

 private:
  core::Status run(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                   const core::RunOptions& options) override {
    if (on_run_) LB_RETURN_IF_ERROR(on_run_(options));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      LB_ASSIGN_OR_RETURN(void* const to, outputs[i].prepare(inputs[i].type, inputs[i].shape));
      LB_RETURN_IF_ERROR(inputs[i].copy_to_contiguous(to));
    }
    return {};
  }

  std::vector<core::TensorInfo> inputs_;
  std::vector<core::TensorInfo> outputs_;
  core::ActiveConfig active_;
  OnRun on_run_;
};

std::shared_ptr<const ServedModel> echo_model(const std::string& name, const std::vector<ElementType>& types,
                                              Echo::OnRun on_run = nullptr) {
  const core::Registry none;
  core::Placement::Candidate candidate;
  candidate.device = core::Device{.backend = "scripted",
                                  .name = "CPU",
                                  .kind = core::DeviceKind::kCpu,
                                  .full_name = "a scripted device",
                                  .runtime_version = "1.0",
                                  .metadata = {}};
  auto placed = core::PlacedModel::place(
      name, *core::Placement::parse("auto", none), {candidate},
      [types, on_run](const core::Device&) {
        return core::Result<std::unique_ptr<core::Executable>>(std::make_unique<Echo>(types, on_run));
      },
      /*strict=*/true, {});
  EXPECT_TRUE(placed.ok());
  auto model = std::make_shared<ServedModel>();
  model->name = name;
  model->tensors = *std::move(placed);
  return model;
}

// An answer that is waited for.
class Answer {
 public:
  void put(HttpResponse response) {
    response_ = std::move(response);
    latch_.count_down();
  }
  const HttpResponse& get() {
    latch_.wait();
    return response_;
  }

 private:
  test::Latch latch_{1};
  HttpResponse response_;
};

// Runs wait here until it is opened, or until they are cancelled, as those of the vendors are.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  core::Status wait(const core::RunOptions& options) {
    const core::Cancellation::Watch watch(options.cancellation, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_ || options.cancellation.is_requested(); });
    return core::check_time(options);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

std::string header_of(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

class KserveTest : public ::testing::Test {
 protected:
  void add(const std::shared_ptr<const ServedModel>& model) { ASSERT_TRUE(service.add(model).ok()); }

  // Sends it; `answer` must outlive what answers.
  ExchangePtr send(std::string method, std::string path, std::string body, Answer& answer, std::size_t json_bytes = 0) {
    HttpRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    if (json_bytes > 0) request.headers.emplace_back("inference-header-content-length", std::to_string(json_bytes));
    const auto exchange = std::make_shared<Exchange>(
        std::move(request), [&answer](HttpResponse response) { answer.put(std::move(response)); });
    static const Router router;
    const auto match = router.find(exchange->request().method, Target::parse(exchange->request().path)->segments);
    if (match.route == nullptr) {
      ADD_FAILURE() << exchange->request().path;
      return exchange;
    }
    EXPECT_EQ(match.protocol, &kserve_protocol());
    match.route->handle(exchange, match.values, service);
    return exchange;
  }

  HttpResponse ask(std::string method, std::string path, std::string body = {}, std::size_t json_bytes = 0) {
    Answer answer;
    static_cast<void>(send(std::move(method), std::move(path), std::move(body), answer, json_bytes));
    return answer.get();
  }
  HttpResponse infer(const std::string& model, const Json& body, const std::string& binary = {}) {
    const std::string text = body.dump();
    return ask("POST", "/v2/models/" + model + "/infer", text + binary, binary.empty() ? 0 : text.size());
  }
  std::string error_of(const HttpResponse& response, unsigned status) {
    EXPECT_EQ(response.status, status) << response.body;
    return Json::parse(response.body).value("error", "");
  }

  Service service{ServiceLimits{.queue_runs_max = 1},
                  [](const std::function<void()>& work, bool /*is_large*/) { work(); }};
};

Json tensor(const std::string& name, const std::string& type, const Json& shape, const Json& data) {
  return {{"name", name}, {"datatype", type}, {"shape", shape}, {"data", data}};
}
Json binary_tensor(const std::string& name, const std::string& type, const Json& shape, std::size_t bytes) {
  return {{"name", name}, {"datatype", type}, {"shape", shape}, {"parameters", {{"binary_data_size", bytes}}}};
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {static_cast<const char*>(static_cast<const void*>(numbers.data())), numbers.size() * sizeof(T)};
}

TEST_F(KserveTest, IsLiveFromTheFirstMomentAndReadyWhenTheServiceIs) {
  EXPECT_EQ(ask("GET", "/v2/health/live").status, 200U);
  EXPECT_THAT(error_of(ask("GET", "/v2/health/ready"), 503), HasSubstr("starting"));
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 200U);
  EXPECT_EQ(Json::parse(ask("GET", "/v2/models/echo/ready").body), Json({{"name", "echo"}, {"ready", true}}));
  service.set_ending();
  EXPECT_EQ(ask("GET", "/v2/health/live").status, 200U);
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 503U);
  EXPECT_EQ(ask("GET", "/v2/models/echo/ready").status, 503U);
}

TEST_F(KserveTest, OnlyHealthNeedsNoKey) {
  for (const Route& route : kserve_protocol().routes()) {
    EXPECT_EQ(route.is_open, route.path.starts_with("/v2/health/")) << route.path;
  }
}

TEST_F(KserveTest, DescribesServerAndModels) {
  add(echo_model("echo", {ElementType::kF32, ElementType::kI64}));
  service.set_ready();
  const Json server = Json::parse(ask("GET", "/v2").body);
  EXPECT_EQ(server["name"], "latebind");
  EXPECT_EQ(server["extensions"][0], "binary_tensor_data");
  const Json model = Json::parse(ask("GET", "/v2/models/echo").body);
  EXPECT_EQ(model["versions"], Json::array({"1"}));
  EXPECT_EQ(model["inputs"][1], Json({{"name", "x1"}, {"datatype", "INT64"}, {"shape", {-1, -1}}}));
  EXPECT_EQ(model["outputs"][0], Json({{"name", "y0"}, {"datatype", "FP32"}, {"shape", {-1, -1}}}));
  EXPECT_EQ(Json::parse(ask("GET", "/v2/models/echo/versions/1").body), model);
  EXPECT_THAT(error_of(ask("GET", "/v2/models/echo/versions/2"), 404), HasSubstr("version"));
  EXPECT_THAT(error_of(ask("GET", "/v2/models/other"), 404), HasSubstr("other"));
  EXPECT_EQ(Json::parse(ask("POST", "/v2/repository/index").body),
            Json::array({{{"name", "echo"}, {"version", "1"}, {"state", "READY"}}}));
}

struct TypeCase {
  ElementType type;
  std::string name;
  Json data;          // two elements; null: binary only
  std::string bytes;  // the same
};

class KserveTypes : public KserveTest, public ::testing::WithParamInterface<TypeCase> {};

TEST_P(KserveTypes, GoInAndComeOutInJsonAndInBinary) {
  const TypeCase& one = GetParam();
  add(echo_model("echo", {one.type}));
  service.set_ready();
  if (!one.data.is_null()) {
    const auto response = infer("echo", {{"inputs", {tensor("x0", one.name, {1, 2}, one.data)}}});
    ASSERT_EQ(response.status, 200U) << response.body;
    EXPECT_EQ(header_of(response, "Inference-Header-Content-Length"), "");
    EXPECT_EQ(Json::parse(response.body)["outputs"], Json::array({tensor("y0", one.name, {1, 2}, one.data)}));
  } else {
    const auto response = infer("echo", {{"inputs", {tensor("x0", one.name, {1, 2}, {1, 2})}}});
    EXPECT_THAT(error_of(response, 400), HasSubstr("binary"));
    const auto mixed =
        infer("echo", {{"inputs", {binary_tensor("x0", one.name, {1, 2}, one.bytes.size())}}}, one.bytes);
    EXPECT_THAT(error_of(mixed, 400), HasSubstr("binary"));
  }
  const auto response = infer("echo",
                              {{"inputs", {binary_tensor("x0", one.name, {1, 2}, one.bytes.size())}},
                               {"parameters", {{"binary_data_output", true}}}},
                              one.bytes);
  ASSERT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(response.content_type, "application/octet-stream");
  const std::size_t json_bytes = std::stoul(header_of(response, "Inference-Header-Content-Length"));
  EXPECT_EQ(Json::parse(response.body.substr(0, json_bytes))["outputs"],
            Json::array({binary_tensor("y0", one.name, {1, 2}, one.bytes.size())}));
  EXPECT_EQ(response.body.substr(json_bytes), one.bytes);
}

INSTANTIATE_TEST_SUITE_P(
    All, KserveTypes,
    ::testing::Values(TypeCase{ElementType::kBool, "BOOL", {true, false}, bytes_of<std::uint8_t>({1, 0})},
                      TypeCase{ElementType::kI8, "INT8", {-128, 127}, bytes_of<std::int8_t>({-128, 127})},
                      TypeCase{ElementType::kI16, "INT16", {-32768, 32767}, bytes_of<std::int16_t>({-32768, 32767})},
                      TypeCase{ElementType::kI32,
                               "INT32",
                               {-2147483648LL, 2147483647},
                               bytes_of<std::int32_t>({std::numeric_limits<std::int32_t>::min(), 2147483647})},
                      TypeCase{ElementType::kI64,
                               "INT64",
                               {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()},
                               bytes_of<std::int64_t>({std::numeric_limits<std::int64_t>::min(),
                                                       std::numeric_limits<std::int64_t>::max()})},
                      TypeCase{ElementType::kU8, "UINT8", {0, 255}, bytes_of<std::uint8_t>({0, 255})},
                      TypeCase{ElementType::kU16, "UINT16", {1, 65535}, bytes_of<std::uint16_t>({1, 65535})},
                      TypeCase{
                          ElementType::kU32, "UINT32", {1, 4294967295U}, bytes_of<std::uint32_t>({1, 4294967295U})},
                      TypeCase{ElementType::kU64,
                               "UINT64",
                               {1, std::numeric_limits<std::uint64_t>::max()},
                               bytes_of<std::uint64_t>({1, std::numeric_limits<std::uint64_t>::max()})},
                      TypeCase{ElementType::kF16, "FP16", nullptr, bytes_of<std::uint16_t>({0x3C00, 0x4000})},
                      TypeCase{ElementType::kBF16, "BF16", nullptr, bytes_of<std::uint16_t>({0x3F80, 0x4000})},
                      TypeCase{ElementType::kF32, "FP32", {0.5, -2.25}, bytes_of<float>({0.5F, -2.25F})},
                      TypeCase{ElementType::kF64, "FP64", {0.1, -1e300}, bytes_of<double>({0.1, -1e300})}),
    [](const auto& test) { return test.param.name; });

TEST_F(KserveTest, AnswersChosenOutputsInTheirOrderEachAsItIsAsked) {
  add(echo_model("echo", {ElementType::kI32, ElementType::kF32, ElementType::kI64}));
  service.set_ready();
  // The data of inputs follows in the order of the inputs, whatever the model's is.
  const Json body = {{"id", "a \"b\""},
                     {"inputs",
                      {binary_tensor("x2", "INT64", {1, 1}, 8), tensor("x0", "INT32", {2, 1}, {{1}, {2}}),
                       binary_tensor("x1", "FP32", {1, 1}, 4)}},
                     {"outputs",
                      {{{"name", "y2"}},
                       {{"name", "y0"}, {"parameters", {{"binary_data", false}}}},
                       {{"name", "y1"}, {"parameters", {{"binary_data", true}}}}}},
                     {"parameters", {{"binary_data_output", true}, {"sequence_id", 3}}}};
  const auto response = infer("echo", body, bytes_of<std::int64_t>({77}) + bytes_of<float>({1.5F}));
  ASSERT_EQ(response.status, 200U) << response.body;
  const std::size_t json_bytes = std::stoul(header_of(response, "Inference-Header-Content-Length"));
  const Json json = Json::parse(response.body.substr(0, json_bytes));
  EXPECT_EQ(json["id"], "a \"b\"");
  EXPECT_EQ(json["model_name"], "echo");
  EXPECT_EQ(json["model_version"], "1");
  EXPECT_EQ(json["outputs"],
            Json::array({binary_tensor("y2", "INT64", {1, 1}, 8), tensor("y0", "INT32", {2, 1}, {1, 2}),
                         binary_tensor("y1", "FP32", {1, 1}, 4)}));
  EXPECT_EQ(response.body.substr(json_bytes), bytes_of<std::int64_t>({77}) + bytes_of<float>({1.5F}));
}

TEST_F(KserveTest, RefusesNumbersThatJsonCannotHoldAndNamesTheWayOut) {
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Json body = {{"inputs", {binary_tensor("x0", "FP32", {1, 1}, 4)}}};
    EXPECT_THAT(error_of(infer("echo", body, bytes_of<float>({number})), 400), HasSubstr("binary_data"));
  }
}

TEST_F(KserveTest, TakesEmptyTensors) {
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  const auto response = infer("echo", {{"inputs", {tensor("x0", "FP32", {0, 3}, Json::array())}}});
  ASSERT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(Json::parse(response.body)["outputs"], Json::array({tensor("y0", "FP32", {0, 3}, Json::array())}));
}

TEST_F(KserveTest, RefusesInputsThatAreWrongAndSaysHow) {
  add(echo_model("echo", {ElementType::kI32}));
  service.set_ready();
  const Json good = tensor("x0", "INT32", {1, 2}, {1, 2});
  const auto changed = [&](const char* key, const Json& value) {
    Json input = good;
    input[key] = value;
    return Json{{"inputs", {input}}};
  };
  const struct {
    Json body;
    const char* words;
  } cases[] = {
      {Json::array(), "object"},
      {Json::object(), "'inputs' is missing"},
      {{{"inputs", 3}}, "array of objects"},
      {{{"inputs", Json::array()}}, "'x0' is missing"},
      {{{"inputs", {good, tensor("z", "INT32", {1, 1}, {1})}}}, "no input 'z'"},
      {{{"inputs", {good, good}}}, "twice"},
      {{{"inputs", {{{"name", "x0"}}}}}, "'shape' is missing"},
      {{{"inputs", {good}}, {"id", 5}}, "'id' must be a string"},
      {{{"inputs", {good}}, {"outputs", {{{"name", "none"}}}}}, "no output 'none'; available: y0"},
      {{{"inputs", {good}}, {"outputs", {{{"name", "y0"}}, {{"name", "y0"}}}}}, "twice"},
      {{{"inputs", {good}}, {"outputs", {{{"name", "y0"}, {"parameters", {{"classification", 2}}}}}}},
       "classification"},
      {changed("parameters", {{"shared_memory_region", "a"}}), "shared_memory_region"},
      {changed("datatype", "FLOAT"), "not a type of the protocol"},
      {changed("datatype", "INT64"), "takes i32"},
      {changed("shape", {2}), "takes shape"},
      {changed("shape", {2, 2}), "does not have as many elements"},
      {changed("shape", {1, -2}), "whole numbers from 0"},
      {changed("shape", {1, 1, 1, 1, 1, 1, 1, 1, 2}), "more than 8"},
      {changed("shape", {4294967296, 4294967296}), "more elements than fit"},
      {changed("shape", {1099511627776, 1}), "does not have as many elements"},
      {changed("data", {1, 2, 3}), "does not have as many elements"},
      {changed("data", {{1}, {2}}), "does not have as many elements"},
      {changed("data", {{1, {2}}}), "whole number"},
      {changed("data", {{1, 2}, 3}), "does not have as many elements"},
      {changed("data", 1), "must be an array"},
      {changed("data", {1, 2.5}), "whole number of its type, at element 1"},
      {changed("data", {1, 2147483648}), "whole number"},
      {changed("data", {1, "2"}), "whole number"},
      {changed("data", nullptr), "neither data nor"},
      {changed("parameters", {{"binary_data_size", 8}}), "both"},
      {changed("parameters", {{"binary_data_size", -1}}), "binary_data_size"},
  };
  for (const auto& one : cases)
    EXPECT_THAT(error_of(infer("echo", one.body), 400), HasSubstr(one.words)) << one.body.dump();
  EXPECT_EQ(infer("echo", {{"inputs", {good}}}).status, 200U);
}

TEST_F(KserveTest, RefusesBinaryDataThatDoesNotFit) {
  add(echo_model("echo", {ElementType::kBool}));
  service.set_ready();
  const auto asked = [&](std::size_t said, const std::string& binary) {
    return error_of(infer("echo", {{"inputs", {binary_tensor("x0", "BOOL", {1, 2}, said)}}}, binary), 400);
  };
  EXPECT_THAT(asked(2, std::string(1, '\0')), HasSubstr("has a binary_data_size of 2 bytes; the body has 1 left"));
  EXPECT_THAT(asked(2, std::string(3, '\0')), HasSubstr("1 byte after"));
  EXPECT_THAT(asked(3, std::string(3, '\0')), HasSubstr("require 2"));
  EXPECT_THAT(asked(2, "\1\2"), HasSubstr("0 and 1"));
  EXPECT_THAT(asked(std::numeric_limits<std::int64_t>::max(), "\1\1"), HasSubstr("the body has 2 left"));
  const std::string path = "/v2/models/echo/infer";
  EXPECT_THAT(error_of(ask("POST", path, "{}", 3), 400), HasSubstr("the body has 2"));
  for (const std::string_view header : {"-1", "x", "1 ", "99999999999999999999"}) {
    EXPECT_TRUE(std::holds_alternative<Refusal>(kserve::parse_infer(header, "{}", 1))) << header;
  }
}

TEST_F(KserveTest, RefusesStringsForModelsThatTakeNumbers) {
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  EXPECT_THAT(error_of(infer("echo", {{"inputs", {tensor("x0", "BYTES", {1, 1}, {"a"})}}}), 400), HasSubstr("BYTES"));
}

TEST_F(KserveTest, AnswersTheDevicesErrors) {
  add(echo_model("broken", {ElementType::kF32}, [](const core::RunOptions&) {
    return core::Status(core::StatusCode::kDeviceFailed, "the device is gone");
  }));
  service.set_ready();
  const auto response = infer("broken", {{"inputs", {tensor("x0", "FP32", {1, 1}, {1})}}});
  EXPECT_THAT(error_of(response, 500), HasSubstr("the device is gone"));
}

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
