// A machine with an NPU, a GPU and a CPU, played by the fake library, and a model placed on it by the real engine.
//
// The model is y = x + 1 on four numbers, so that each answer can be told from every other's.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "core/engine/engine.h"
#include "tests/openvino/fake_backend.h"

namespace latebind::openvino::test {

using namespace std::chrono_literals;  // NOLINT: tests speak of times all the time

constexpr const char* kPlusOne = "input x f32 4\noutput y plus-one 0\n";

// The fake NPU is as honest as the real one: it computes only in f16. These tests are about other things.
inline const std::string kNpu = "device NPU\non NPU precision f32\n";
inline const std::string kGpu = "device GPU\n";
inline const std::string kCpu = "device CPU\n";

using Numbers = std::array<float, 4>;

inline Numbers numbers_from(int first) {
  const auto f = static_cast<float>(first);
  return {f, f + 0.25F, f + 0.5F, -f};
}

inline Numbers plus_one(Numbers x) {
  for (float& value : x)
    value += 1;
  return x;
}

class MachineTest : public FakeBackendTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(registry_->add(backend_).ok());
    script();
    // Devices that failed rest for good unless a test says otherwise.
    options_.failover.breaker.backoff_first = 1h;
    options_.failover.breaker.backoff_most = 1h;
  }

  void TearDown() override {
    placed_.reset();
    registry_.reset();
    fake_.script("");
    // Threads that were left behind in a vendor call let go of what they hold.
    (void)eventually([&] { return given_up_calls() == 0 && fake_.alive("compiled model") == 0; });
    FakeBackendTest::TearDown();
  }

  // The machine, and what is wrong with it.
  void script(const std::string& faults = "") { fake_.script(kNpu + kGpu + kCpu + faults); }

  void probe_soon() {
    options_.failover.breaker.backoff_first = 1ms;
    options_.failover.breaker.backoff_most = 4ms;
  }

  core::Status place(const std::string& placement = "auto", std::string_view model = kPlusOne) {
    const auto parsed = core::Placement::parse(placement, *registry_);
    if (!parsed.ok()) return parsed.status();
    auto placed = core::Engine(*registry_).load(fake_model(model), *parsed, options_);
    if (!placed.ok()) return placed.status();
    placed_ = *std::move(placed);
    return {};
  }

  struct Answer {
    core::Status status;
    std::shared_ptr<const core::Attestation> by;
    Numbers y{};

    [[nodiscard]] std::string device() const { return by ? by->active.device : status.to_string(); }
  };

  // Asks for x + 1 and checks the answer, when there is one.
  Answer ask(int first = 1, const core::RunOptions& run = {}) {
    Answer answer;
    Numbers x = numbers_from(first);
    const core::TensorView input{.data = x.data(), .type = core::ElementType::kF32, .shape = {4}, .strides = {}};
    auto output = core::OutputTensor::bound(answer.y.data(), sizeof(answer.y));
    answer.status = placed_->execute({&input, 1}, {&output, 1}, run, &answer.by);
    if (answer.status.ok()) {
      EXPECT_EQ(answer.y, plus_one(numbers_from(first)));
      EXPECT_EQ(output.view().shape, core::Shape{4});
    }
    return answer;
  }

  static core::RunOptions within(std::chrono::milliseconds time) {
    return {.deadline = std::chrono::steady_clock::now() + time};
  }

  // Looks until it holds, at most a minute: for what a thread in the background does in its own time.
  template <class Condition>
  static bool eventually(const Condition& holds) {
    const auto end = std::chrono::steady_clock::now() + 1min;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

  long runs_on(const std::string& device) const { return fake_.calls("run@" + device); }
  long compiles_on(const std::string& device) const { return fake_.calls("ov_core_compile_model@" + device); }

  std::unique_ptr<core::Registry> registry_ = std::make_unique<core::Registry>();
  core::LoadOptions options_;
  std::shared_ptr<core::PlacedModel> placed_;
};

}  // namespace latebind::openvino::test
