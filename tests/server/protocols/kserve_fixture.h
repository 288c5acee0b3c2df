// KserveTest: requests of the Open Inference Protocol to a service, without sockets, and models that echo tensors.
#pragma once

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

namespace fs = std::filesystem;
using core::ElementType;
using core::kDynamic;
using Json = nlohmann::json;

inline constexpr unsigned kRequests = 2;

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

inline std::shared_ptr<const ServedModel> echo_model(const std::string& name, const std::vector<ElementType>& types,
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

inline std::string header_of(const HttpResponse& response, std::string_view name) {
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

inline Json tensor(const std::string& name, const std::string& type, const Json& shape, const Json& data) {
  return {{"name", name}, {"datatype", type}, {"shape", shape}, {"data", data}};
}
inline Json binary_tensor(const std::string& name, const std::string& type, const Json& shape, std::size_t bytes) {
  return {{"name", name}, {"datatype", type}, {"shape", shape}, {"parameters", {{"binary_data_size", bytes}}}};
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {static_cast<const char*>(static_cast<const void*>(numbers.data())), numbers.size() * sizeof(T)};
}

}  // namespace latebind::server::kserve
