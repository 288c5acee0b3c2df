// Many requests from many threads while devices fail at random: none is lost, none is answered twice, each answer is
// its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/openvino/machine.h"
#include "tests/support/latch.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define LB_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define LB_SANITIZED 1
#endif
#endif
#ifndef LB_SANITIZED
#define LB_SANITIZED 0
#endif

namespace latebind::openvino {
namespace {

using namespace std::chrono_literals;  // NOLINT: as in machine.h

constexpr int kThreads = 8;

// How many requests there are. LATEBIND_TEST_REQUESTS is for emulation, where so many take too long and too much
// memory.
int requests() {
  const char* text = std::getenv("LATEBIND_TEST_REQUESTS");
  if (text != nullptr) return static_cast<int>(std::strtol(text, nullptr, 10));
  return LB_SANITIZED ? 5'000 : 100'000;
}

// LATEBIND_TEST_SEED repeats a run as far as threads let it: the same runs of each device go wrong in the same way.
std::uint64_t seed() {
  const char* text = std::getenv("LATEBIND_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261121;
}

class RandomFaultsTest : public test::MachineTest {
 protected:
  // What the machine is like in each part of the test, over and over. The CPU always works.
  [[nodiscard]] std::string phase(int number) const {
    const std::string machine = test::kNpu + test::kGpu + test::kCpu;
    const std::string chance = std::to_string(seed()) + " ";
    const std::string faults =
        "on NPU chance " + chance + "30 fail wrong-shape slow\non GPU chance " + chance + "20 fail wrong-shape\n" +
        "on NPU precision f32\non NPU hang-cancellable 700\non NPU hang 2100\n" + "on GPU hang-cancellable 300\n";
    switch (number % 8) {
      case 1:
        return test::kGpu + test::kCpu + faults;  // the NPU is gone
      case 2:
        return machine + faults + "on NPU fail ov_core_compile_model * -1 the compiler crashed\n";
      case 3:
        return machine + faults + "on GPU fail run * -1 out of video memory\n";
      case 4:
        return test::kCpu + faults;
      case 5:
        return machine + faults + "on NPU fail ov_compiled_model_create_infer_request * -1 no such engine\n";
      case 6:
        return machine + faults + "on NPU chance " + chance + "600 fail\n";
      default:
        return machine + faults;
    }
  }
};

TEST_F(RandomFaultsTest, NoRequestIsLostOrAnsweredTwiceOrWrongly) {
  RecordProperty("seed", std::to_string(seed()));
  SCOPED_TRACE("LATEBIND_TEST_SEED=" + std::to_string(seed()));
  probe_soon();
  options_.failover.run_timeout = 2s;
  options_.compile.requests = 4;
  fake_.script(phase(0));
  ASSERT_TRUE(place().ok());

  constexpr int kParts = 24;
  const int request_count = std::max(requests(), kParts);
  std::atomic<int> next{0};
  std::atomic<int> answered{0};
  std::atomic<int> lost{0};
  std::atomic<int> wrong{0};
  std::atomic<int> written_later{0};
  std::atomic<int> untold{0};
  std::mutex mutex;
  std::map<std::string, int> by_device;  // guarded by mutex
  std::string first_loss;                // the same
  std::string first_wrong;               // the same
  latebind::test::Latch start(kThreads);
  const auto work = [&] {
    std::map<std::string, int> mine;
    constexpr test::Numbers kCanary{-7777, -7777, -7777, -7777};
    // The answer of the request before, overwritten: a run that comes back late must not write to it.
    test::Numbers before = kCanary;
    test::Numbers y{};
    start.arrive_and_wait();
    for (int i = next++; i < request_count; i = next++) {
      if (i % (request_count / kParts) == 0) {
        const std::lock_guard lock(mutex);
        fake_.script(phase(i / (request_count / kParts)));
      }
      auto x = test::numbers_from(i);
      auto& target = i % 2 == 0 ? before : y;
      auto& other = i % 2 == 0 ? y : before;
      const core::TensorView input{x.data(), core::ElementType::kF32, {4}, {}};
      auto output = core::OutputTensor::bound(target.data(), sizeof(target));
      std::shared_ptr<const core::Attestation> by;
      other = kCanary;
      const auto status = placed_->execute({&input, 1}, {&output, 1}, {}, &by);
      if (!status.ok()) {
        ++lost;
        const std::lock_guard lock(mutex);
        if (first_loss.empty()) first_loss = "request " + std::to_string(i) + ": " + status.to_string();
        continue;
      }
      ++answered;
      if (target != test::plus_one(test::numbers_from(i)) && wrong++ == 0) {
        const std::lock_guard lock(mutex);
        first_wrong = "request " + std::to_string(i) + " on " + by->active.device + ": " +
                      testing::PrintToString(target) + " by " + by->reason;
      }
      if (other != kCanary) ++written_later;
      if (by->fallback == by->reason.empty()) ++untold;
      ++mine[by->active.device];
    }
    const std::lock_guard lock(mutex);
    for (const auto& [device, count] : mine)
      by_device[device] += count;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back(work);
  for (auto& thread : threads)
    thread.join();

  EXPECT_EQ(answered, request_count);
  EXPECT_EQ(lost, 0) << first_loss;
  EXPECT_EQ(wrong, 0) << first_wrong;
  EXPECT_EQ(written_later, 0);
  EXPECT_EQ(untold, 0) << "a fallback without a reason, or a reason without one";
  // Else there would have been nothing to survive.
  EXPECT_GT(by_device["NPU"], 0);
  EXPECT_GT(by_device["GPU"], 0);
  EXPECT_GT(by_device["CPU"], 0);
  std::string table;
  for (const auto& [device, count] : by_device)
    table += " " + device + " " + std::to_string(count) + " of " + std::to_string(runs_on(device)) + " runs;";
  std::printf("seed %s: %d requests:%s %ld requests made, %ld models compiled\n", std::to_string(seed()).c_str(),
              request_count, table.c_str(), fake_.calls("ov_compiled_model_create_infer_request"),
              fake_.calls("ov_core_compile_model"));

  // When the machine is well again, so is the model. What was made and not freed shows in TearDown.
  script();
  EXPECT_TRUE(eventually([&] { return ask(1).device() == "NPU"; }));
  EXPECT_TRUE(eventually([&] { return core::given_up_calls() == 0; }));
}

}  // namespace
}  // namespace latebind::openvino
