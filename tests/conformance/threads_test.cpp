// Many threads on one executable, and objects that go in any order.
#include <atomic>
#include <thread>

#include "tests/conformance/conformance.h"
#include "tests/support/latch.h"

namespace latebind::test {
namespace {

constexpr int kThreads = 8;

// Starts all threads at one moment; gives the number of those whose work failed.
template <class Work>
int run_together(const Work& work) {
  test::Latch start(kThreads);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      if (!work(t)) ++failures;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return failures;
}

TEST_P(ConformanceTest, ServesEightThreadsAtOnceOnOneExecutable) {
  for (const unsigned requests : {0U, 1U, 4U}) {
    for (const auto hint : {core::PerformanceHint::kLatency, core::PerformanceHint::kThroughput}) {
      SCOPED_TRACE("requests " + std::to_string(requests) + ", hint " + std::string(core::word_of(hint)));
      core::CompileOptions options;
      options.requests = requests;
      options.hint = hint;
      const auto executable = load(doubling_model({"n", "m"}), options);
      ASSERT_NE(executable, nullptr);
      EXPECT_EQ(run_together([&](int t) {
                  for (std::int64_t i = 0; i < 25; ++i) {
                    // Every thread has shapes of its own, so that a mixed-up request shows.
                    const auto result = doubles(*executable, {t + 1, i % 5 + 1});
                    if (!result) {
                      ADD_FAILURE() << result.message();
                      return false;
                    }
                  }
                  return true;
                }),
                0);
    }
  }
}

TEST_P(ConformanceTest, LoadsFromEightThreadsAtOnce) {
  const auto model = doubling_model({"n"}).model();
  EXPECT_EQ(run_together([&](int t) {
              auto loaded = try_load(model);
              return loaded.ok() && doubles(**loaded, {t + 1});
            }),
            0);
}

TEST_P(ConformanceTest, MixesGoodAndBadCallsOnOneExecutable) {
  core::CompileOptions options;
  options.requests = 2;
  const auto executable = load(doubling_model({"n", 3}), options);
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(run_together([&](int t) {
              bool good = true;
              for (int i = 0; i < 25; ++i) {
                if ((t + i) % 2 == 0) {
                  good = good && doubles(*executable, {t + 1, 3});
                } else {
                  auto bad = counting({2, 4});
                  OutputTensor output;
                  good = good &&
                         run(*executable, bad.view(ElementType::kF32), output).code() == StatusCode::kShapeMismatch;
                }
              }
              return good;
            }),
            0);
}

TEST_P(ConformanceTest, ExecutableOutlivesBackendAndModel) {
  std::unique_ptr<core::Executable> executable;
  {
    const auto model = doubling_model({"n"}).model();
    executable = load(model);
    ASSERT_NE(executable, nullptr);
  }
  backend_.reset();
  EXPECT_TRUE(doubles(*executable, {3}));
}

TEST_P(ConformanceTest, ExecutablesGoInAnyOrder) {
  auto first = load(doubling_model({"n"}));
  auto second = load(doubling_model({"n", "m"}));
  auto third = load(doubling_model({2}));
  ASSERT_TRUE(first && second && third);
  const auto other_backend = make_test_backend(GetParam().made_by);
  auto other = other_backend->load(doubling_model({"n"}).model(), GetParam().device, {});
  ASSERT_OK(other.status());

  second.reset();
  EXPECT_TRUE(doubles(*first, {3}));
  backend_.reset();
  first.reset();
  EXPECT_TRUE(doubles(*third, {2}));
  third.reset();
  EXPECT_TRUE(doubles(**other, {4}));
}

TEST_P(ConformanceTest, BackendsComeAndGo) {
  for (int i = 0; i < 5; ++i) {
    const auto backend = make_test_backend(GetParam().made_by);
    ASSERT_OK(backend->available());
    auto executable = backend->load(doubling_model({"n"}).model(), GetParam().device, {});
    ASSERT_OK(executable.status());
    EXPECT_TRUE(doubles(**executable, {i + 1}));
  }
}

TEST_P(ConformanceTest, OutputsOutliveTheExecutable) {
  auto executable = load(doubling_model({"n"}));
  ASSERT_NE(executable, nullptr);
  auto input = counting({3});
  OutputTensor output;
  ASSERT_OK(run(*executable, input.view(ElementType::kF32), output));
  executable.reset();
  backend_.reset();
  EXPECT_EQ(values_of<float>(output), (std::vector<float>{0, 2, 4}));
}

}  // namespace
}  // namespace latebind::test
