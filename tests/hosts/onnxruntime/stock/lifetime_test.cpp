// Registration, sessions and their ends in stock ONNX Runtime, in order and on many threads.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/stock/scene.h"
#include "tests/support/on_threads.h"

namespace latebind::test {
namespace {

constexpr int kThreads = 16;

class StockLifetimeTest : public StockHostTest {};

TEST_F(StockLifetimeTest, RegistersListsRunsCompilesLoadsAndUnregisters) {
  const auto folder = platform::TemporaryFolder::create("stock");
  ASSERT_TRUE(folder.ok());
  unregister();
  for (int i = 0; i < 5; ++i) {
    register_as("latebind");
    ASSERT_EQ(devices().size(), 1U);
    EXPECT_EQ(use(plus_one_model()), "");
    const bool is_embedded = i % 2 == 0;
    const auto file = folder->path() / ("compiled" + std::to_string(i) + ".onnx");
    ASSERT_EQ(compile(file, is_embedded), "");
    EXPECT_EQ(use_file(file), "");
    unregister();
    EXPECT_TRUE(devices().empty());
  }
}

TEST_F(StockLifetimeTest, SixteenThreadsRegisterAndUnregister) {
  unregister();
  std::atomic<int> registered = 0;
  on_threads(kThreads, [&](int t) {
    const std::string name = "latebind." + std::to_string(t);
    for (int i = 0; i < 8; ++i) {
      // The host knows one provider of a name at a time, and says so to the others.
      if (!text_of(api().RegisterExecutionProviderLibrary(env_, name.c_str(), provider_file().c_str())).empty())
        continue;
      ++registered;
      if (std::string error = text_of(api().UnregisterExecutionProviderLibrary(env_, name.c_str())); !error.empty()) {
        return error;
      }
    }
    return std::string();
  });
  EXPECT_GT(registered, 0);
  register_as("latebind");
  EXPECT_EQ(use(plus_one_model()), "");
}

TEST_F(StockLifetimeTest, SixteenThreadsMakeSessionsAtOnce) {
  const std::string model = plus_one_model();
  const auto on = devices();
  on_threads(kThreads, [&](int) {
    for (int i = 0; i < 3; ++i) {
      OrtSession* session = nullptr;
      std::string error = session_error(model, on, {}, {}, &session);
      for (int k = 0; error.empty() && k < 10; ++k)
        error = run(session);
      if (attestations().empty()) error += " no attestation";
      if (session != nullptr) api().ReleaseSession(session);
      if (!error.empty()) return error;
    }
    return std::string();
  });
}

TEST_F(StockLifetimeTest, OneSessionRunsOnSixteenThreads) {
  OrtSession* session = nullptr;
  ASSERT_EQ(session_of(plus_one_model(), &session), "");
  on_threads(kThreads, [&](int) {
    std::string error;
    for (int k = 0; error.empty() && k < 50; ++k)
      error = run(session);
    return error;
  });
  api().ReleaseSession(session);
}

TEST_F(StockLifetimeTest, UnregisteringWhileSessionsRunIsRefusedOrChangesNothing) {
  std::vector<OrtSession*> sessions(kThreads);
  for (OrtSession*& session : sessions)
    ASSERT_EQ(session_of(plus_one_model(), &session), "");
  on_threads(kThreads, [&](int t) {
    if (t == 0) (void)text_of(api().UnregisterExecutionProviderLibrary(env_, "latebind"));
    std::string error;
    for (int k = 0; error.empty() && k < 20; ++k)
      error = run(sessions[static_cast<std::size_t>(t)]);
    return error;
  });
  for (OrtSession* session : sessions) {
    EXPECT_EQ(run(session), "");
    api().ReleaseSession(session);
  }
}

TEST_F(StockLifetimeTest, NobodyWaitsForADeviceThatHangs) {
  OrtSession* session = nullptr;
  OrtSession* strict = nullptr;
  ASSERT_EQ(session_of(plus_one_model(), &session, {{"failover.run_timeout_ms", "50"}}), "");
  ASSERT_EQ(session_of(plus_one_model(), &strict, {{"failover.run_timeout_ms", "50"}, {"strict", "true"}}), "");
  fake_.script("hang\n");
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(run(session), "") << "the host's CPU provider computes it";
  const std::string refused = run(strict);
  EXPECT_NE(refused.find("50 ms"), std::string::npos) << refused;
  api().ReleaseSession(session);
  api().ReleaseSession(strict);
  unregister();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  fake_.script("");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (fake_.alive("request") != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_EQ(fake_.alive("request"), 0);
}

}  // namespace
}  // namespace latebind::test
