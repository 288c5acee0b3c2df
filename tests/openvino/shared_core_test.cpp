// How long the vendor's core stays: as long as any model of the process does.
#include "backends/openvino/shared_core.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/openvino/fake_backend.h"

namespace latebind::openvino::test {
namespace {

using SharedCoreTest = FakeBackendTest;

// One that stayed would keep threads of the model that has gone: see backends/openvino/inherited.h.
TEST_F(SharedCoreTest, GoesWithTheLastModelOfTheProcess) {
  const auto other = make_backend({.library_path = fake_.file().string()});
  EXPECT_TRUE(other->devices().ok());
  ASSERT_NE(load(kAddModel), nullptr);
  ASSERT_NE(load(kAddModel), nullptr);
  executables_.pop_back();
  EXPECT_EQ(fake_.alive("core"), 2);
  executables_.clear();
  EXPECT_EQ(fake_.alive("core"), 0) << "that of the backend without a model as well";
  auto* again = load(kAddModel);
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(add(*again).ok());
  EXPECT_EQ(fake_.calls("ov_core_create"), 3);
}

TEST_F(SharedCoreTest, StaysForQuestionsAsLongAsNothingIsCompiled) {
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(backend_->devices().ok());
  EXPECT_EQ(fake_.alive("core"), 1);
  EXPECT_EQ(fake_.calls("ov_core_create"), 1);
}

TEST_F(SharedCoreTest, ComesAndGoesUnderThreadsThatLoadAndAsk) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        if (t == 0) {
          EXPECT_TRUE(backend_->devices().ok());
          continue;
        }
        auto loaded = backend_->load(fake_model(kAddModel), "CPU", {});
        ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
        EXPECT_TRUE(add(**loaded).ok());
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
}

}  // namespace
}  // namespace latebind::openvino::test
