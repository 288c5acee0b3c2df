// Everything that can go wrong, at once and at random, through the C interface on the fake OpenVINO: devices fail,
// hang, lie, vanish and come back; callers have short deadlines or change their minds; memory runs out; signals arrive;
// the process forks; models come and go; the log's callback asks Latebind things.
//
// Each call must come back with a code that its circumstances explain, each answer must be right, and at the end the
// machine works again and nothing is left behind. LATEBIND_FAULT_SECONDS says how long (2 by default;
// scripts/inject_faults runs it for minutes under the sanitizers), LATEBIND_TEST_SEED repeats what chance allows to be
// repeated.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "latebind/latebind.h"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"
#include "tests/support/failing_new.h"

namespace {

using latebind::test::last_message;
using latebind::test::Refusal;
using latebind::test::Spared;
using namespace std::chrono_literals;  // NOLINT: tests speak of times all the time
using Clock = std::chrono::steady_clock;

constexpr const char* kModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";
constexpr int kRunners = 4;
constexpr auto kRunTimeout = 300ms;

long number_from(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

class FaultInjectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, &before_);  // without SA_RESTART: calls of the system are interrupted
    fake.script(machine(0));
    ASSERT_EQ(lb_runtime_create(latebind::test::with_openvino(fake.file()).get(), &runtime), LB_OK) << last_message();
    model = load();
    ASSERT_NE(model, nullptr) << last_message();
  }

  void TearDown() override {
    lb_set_log(nullptr, nullptr, LB_LOG_ERROR);
    lb_model_destroy(model);
    lb_runtime_destroy(runtime);
    fake.script("");
    const auto end = Clock::now() + 60s;
    while (fake.alive("compiled model") != 0 && Clock::now() < end)
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(fake.alive("compiled model"), 0);
    EXPECT_EQ(fake.defects(), "");
    sigaction(SIGUSR1, &before_, nullptr);
  }

  // What the machine is like in each part, over and over. The CPU always works.
  [[nodiscard]] std::string machine(unsigned part) const {
    const std::string npu = "device NPU\non NPU precision f32\n";
    const std::string gpu = "device GPU\n";
    const std::string cpu = "device CPU\n";
    const std::string chance = std::to_string(seed) + " ";
    switch (part % 7) {
      case 1:
        return npu + gpu + cpu + "on NPU chance " + chance + "100 fail wrong-shape slow\non GPU chance " + chance +
               "50 fail\n";
      case 2:
        return npu + gpu + cpu + "on NPU hang-cancellable 5-\non GPU slow run 3\n";
      case 3:
        return gpu + cpu + "on GPU chance " + chance + "300 fail hang-cancellable\n";
      case 4:
        return npu + gpu + cpu + "on NPU fail ov_core_compile_model * -1 the compiler crashed\non GPU hang 3\n";
      case 5:
        return cpu + "on CPU slow run 5\n";
      case 6:
        return npu + gpu + cpu + "on NPU fail ov_compiled_model_create_infer_request * -1 no such engine\n";
      default:
        return npu + gpu + cpu;
    }
  }

  lb_model* load() const {
    auto memory = LB_INIT(lb_model_memory);
    memory.graph = kModel;
    memory.graph_size = std::string_view(kModel).size();
    memory.format = LB_FORMAT_OPENVINO_IR;
    lb_model* made = nullptr;
    return lb_model_load_memory(runtime, &memory, load_options_.get(), nullptr, &made) == LB_OK ? made : nullptr;
  }

  // One run of x + 1 under random circumstances.
  void run_once(lb_model* on, lb_output* output, std::minstd_rand& random) {
    std::array<float, 4> x{};
    for (float& value : x)
      value = static_cast<float>(random() % 1000);
    lb_tensor input{};
    input.data = x.data();
    input.type = LB_F32;
    input.rank = 1;
    input.shape[0] = 4;
    auto options = LB_INIT(lb_call_options);
    lb_cancellation* cancellation = nullptr;
    const unsigned circumstances = static_cast<unsigned>(random() % 8);
    std::thread canceller;
    if (circumstances < 4) options.timeout_ms = 1 + random() % 30;
    if (circumstances == 4 && lb_cancellation_create(&cancellation) == LB_OK) {
      options.cancellation = cancellation;
      canceller = std::thread([cancellation, wait = random() % 5] {
        const Spared spared;
        std::this_thread::sleep_for(std::chrono::milliseconds(wait));
        lb_cancellation_request(cancellation);
      });
    }
    const auto began = Clock::now();
    const long famines_before = famines;
    bool starved = starving;
    lb_code code = LB_OK;
    {
      const Spared::Pause exposed;
      code = lb_model_run(on, &input, 1, &output, 1, &options);
    }
    starved = starved || famines != famines_before;
    const bool took_too_long = Clock::now() - began >= kRunTimeout;
    if (canceller.joinable()) canceller.join();
    lb_cancellation_destroy(cancellation);
    ++runs;
    if (code == LB_OK) {
      lb_tensor y{};
      ASSERT_EQ(lb_output_get(output, &y), LB_OK);
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(static_cast<const float*>(y.data)[i], x[i] + 1);
      ++answers;
      return;
    }
    const bool explained = (options.timeout_ms != 0 && (code == LB_DEADLINE_EXCEEDED || code == LB_BUSY)) ||
                           (cancellation != nullptr && code == LB_CANCELLED) ||
                           (took_too_long && code == LB_DEVICE_FAILED) ||
                           (starved && (code == LB_OUT_OF_MEMORY || code == LB_DEVICE_FAILED || code == LB_BUSY));
    EXPECT_TRUE(explained) << lb_code_name(code) << ": " << last_message();
  }

  // In the child nothing that was made before answers, and nothing hangs.
  void fork_once() {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)latebind::test::stop_refusing();
      alarm(60);
      std::array<float, 4> x{};
      lb_tensor input{};
      input.data = x.data();
      input.type = LB_F32;
      input.rank = 1;
      input.shape[0] = 4;
      lb_output* output = nullptr;
      if (lb_output_create(nullptr, 0, &output) != LB_OK) _exit(2);
      if (lb_model_run(model, &input, 1, &output, 1, nullptr) == LB_OK) _exit(3);
      lb_model_destroy(model);
      _exit(0);
    }
    int status = 0;
    pid_t waited = 0;
    do {
      waited = waitpid(child, &status, 0);
    } while (waited < 0 && errno == EINTR);
    EXPECT_EQ(waited, child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ended with " << status;
    ++forks;
  }

  // The log's callback reaches these, too.
 public:
  const long seed = number_from("LATEBIND_TEST_SEED", 20261122);
  latebind::test::FakeOpenvino fake;
  lb_runtime* runtime = nullptr;
  lb_model* model = nullptr;
  std::atomic<bool> starving{false};  // some allocation may fail, on any thread that is not spared
  std::atomic<long> famines{0};       // times that this began: one may pass while a call hangs
  std::atomic<long> runs{0};
  std::atomic<long> answers{0};
  std::atomic<long> loads{0};
  std::atomic<long> forks{0};
  std::atomic<long> lines{0};

 private:
  // Made once: memory may lack later.
  const latebind::Options load_options_{{"failover.run_timeout_ms", std::to_string(kRunTimeout.count())},
                                        {"requests", "2"}};
  struct sigaction before_ {};
};

TEST_F(FaultInjectionTest, EveryCallIsExplainedAndEveryAnswerIsRight) {
  const Spared this_thread_too;
  RecordProperty("seed", std::to_string(seed));
  const auto end = Clock::now() + std::chrono::seconds(number_from("LATEBIND_FAULT_SECONDS", 2));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  std::vector<pthread_t> runners;
  for (int t = 0; t < kRunners; ++t) {
    threads.emplace_back([&, t] {
      const Spared spared;
      std::minstd_rand random(static_cast<unsigned>(seed + t));
      lb_output* output = nullptr;
      ASSERT_EQ(lb_output_create(nullptr, 0, &output), LB_OK);
      while (!done)
        run_once(model, output, random);
      lb_output_destroy(output);
    });
    runners.push_back(threads.back().native_handle());
  }
  // Models that come and go.
  threads.emplace_back([&] {
    const Spared spared;
    std::minstd_rand random(static_cast<unsigned>(seed + 100));
    lb_output* output = nullptr;
    ASSERT_EQ(lb_output_create(nullptr, 0, &output), LB_OK);
    while (!done) {
      lb_model* other = nullptr;
      {
        const Spared::Pause exposed;
        other = load();
      }
      if (other != nullptr) run_once(other, output, random);
      {
        const Spared::Pause exposed;
        lb_model_destroy(other);
      }
      ++loads;
    }
    lb_output_destroy(output);
  });
  // Memory that gives out somewhere, in two parts of five.
  threads.emplace_back([&] {
    const Spared spared;
    std::minstd_rand random(static_cast<unsigned>(seed + 300));
    while (!done) {
      starving = true;
      ++famines;
      for (int i = 0; i < 40 && !done; ++i) {
        latebind::test::refuse_allocation(1 + random() % 300, Refusal::kOnce);
        std::this_thread::sleep_for(5ms);
        (void)latebind::test::stop_refusing();
      }
      // A load that failed may still be on its way to those who wait for it.
      std::this_thread::sleep_for(50ms);
      starving = false;
      std::this_thread::sleep_for(300ms);
    }
  });
  // A log whose callback asks Latebind things, and which is taken away again and again.
  threads.emplace_back([&] {
    const Spared spared;
    while (!done) {
      struct Context {
        FaultInjectionTest* test;
        std::atomic<bool> gone{false};
      } context{this, {}};
      lb_set_log(
          [](void* given, int32_t, const char*) {
            auto& ours = *static_cast<Context*>(given);
            EXPECT_FALSE(ours.gone);
            ++ours.test->lines;
            lb_attestation* attestation = nullptr;
            if (lb_model_attestation(ours.test->model, &attestation) == LB_OK) lb_attestation_destroy(attestation);
          },
          &context, LB_LOG_DEBUG);
      std::this_thread::sleep_for(20ms);
      lb_set_log(nullptr, nullptr, LB_LOG_DEBUG);
      context.gone = true;
    }
  });
  std::minstd_rand random(static_cast<unsigned>(seed + 200));
  for (unsigned round = 0; Clock::now() < end; ++round) {
    if (round % 100 == 0) fake.script(machine(round / 100));
    pthread_kill(runners[random() % runners.size()], SIGUSR1);
    if (round % 50 == 0) fork_once();
    std::this_thread::sleep_for(2ms);
  }
  done = true;
  for (std::thread& thread : threads)
    thread.join();
  std::printf("seed %ld: %ld runs, %ld answers, %ld models, %ld forks, %ld log lines\n", seed, runs.load(),
              answers.load(), loads.load(), forks.load(), lines.load());
  EXPECT_GT(answers, 0);

  // The machine is well again, and so is the model.
  fake.script(machine(0));
  lb_output* output = nullptr;
  ASSERT_EQ(lb_output_create(nullptr, 0, &output), LB_OK);
  std::array<float, 4> x{1, 2, 3, 4};
  lb_tensor input{};
  input.data = x.data();
  input.type = LB_F32;
  input.rank = 1;
  input.shape[0] = 4;
  EXPECT_EQ(lb_model_run(model, &input, 1, &output, 1, nullptr), LB_OK) << last_message();
  lb_output_destroy(output);
}

}  // namespace
