// What the vendors' real runtimes do in a child made by fork() after they have computed in the parent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "latebind/latebind.hpp"
#include "tests/api/encode.h"
#include "tests/api/fork_support.h"

namespace {

using latebind::test::dimension_of;
using latebind::test::encode_into;
using latebind::test::said_by_child;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::StrEq;

std::string last_error() {
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  return std::string(lb_code_name(error.code)) + ": " + error.message;
}

struct Embedder {
  lb_runtime* runtime = nullptr;
  lb_encoder* embedder = nullptr;

  std::string open(const std::string& device) {
    if (lb_runtime_create(nullptr, &runtime) != LB_OK) return last_error();
    const latebind::Options options{{"device", device}};
    const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
    return lb_encoder_open(runtime, folder.c_str(), options.get(), nullptr, nullptr, &embedder) == LB_OK ? ""
                                                                                                         : last_error();
  }
  void close() {
    lb_encoder_destroy(embedder);
    lb_runtime_destroy(runtime);
    embedder = nullptr;
    runtime = nullptr;
  }
  std::string embed() {
    // Enough for several batches, so that all threads there are have work.
    const std::string words = "a cat sat on the mat and a dog lay beside it";
    const std::vector<lb_text> texts(400, lb_text{words.data(), words.size()});
    std::vector<float> vectors(texts.size() * dimension_of(embedder));
    if (encode_into(vectors, embedder, texts.data(), texts.size()) != LB_OK) {
      return last_error();
    }
    const bool fine = std::ranges::all_of(vectors, [](float x) { return std::isfinite(x); }) &&
                      std::ranges::any_of(vectors, [](float x) { return x != 0; });
    return fine ? "embedded" : "nonsense";
  }
};

std::string of_its_own(const std::string& device) {
  Embedder own;
  const std::string error = own.open(device);
  std::string said = error.empty() ? own.embed() : error;
  own.close();
  return said;
}

class ForkRealTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ForkRealTest, AChildLoadsAndRunsItsOwnBesideThoseOfTheParent) {
  Embedder parent;
  ASSERT_EQ(parent.open(GetParam()), "");
  ASSERT_EQ(parent.embed(), "embedded");
  const auto said = said_by_child([&parent] {
    std::string words = parent.embed();
    parent.close();
    Embedder own;
    words += " | " + own.open(GetParam());
    words += " | " + own.embed();
    own.close();
    return words + " | closed";
  });
  EXPECT_THAT(said, StartsWith("INVALID_ARGUMENT: this encoder was created before fork()"));
  EXPECT_THAT(said, ::testing::EndsWith(" |  | embedded | closed"));
  EXPECT_EQ(parent.embed(), "embedded");
  parent.close();
}

TEST_P(ForkRealTest, AChildLoadsAndRunsItsOwnAfterTheParentHasClosedAll) {
  Embedder parent;
  ASSERT_EQ(parent.open(GetParam()), "");
  ASSERT_EQ(parent.embed(), "embedded");
  lb_encoder_destroy(std::exchange(parent.embedder, nullptr));
  // Twice, so that what the first one leaves is there for its own child.
  EXPECT_EQ(said_by_child(
                [] { return of_its_own(GetParam()) + " | " + said_by_child([] { return of_its_own(GetParam()); }); }),
            "embedded | embedded");
  parent.close();
}

// OpenVINO would wait there for threads of the parent, without an end.
TEST_P(ForkRealTest, AChildOfOneThatKeepsAModelAndHasClosedAnotherWorksOrSaysWhyNot) {
  Embedder kept;
  Embedder closed;
  ASSERT_EQ(kept.open(GetParam()), "");
  ASSERT_EQ(closed.open(GetParam()), "");
  closed.close();
  const auto said = said_by_child([] { return of_its_own(GetParam()); });
  if (std::string_view(GetParam()) == "openvino:CPU") {
    EXPECT_THAT(said, AllOf(HasSubstr("had closed a model of OpenVINO"), HasSubstr("'spawn' or 'forkserver'")));
  } else {
    EXPECT_EQ(said, "embedded");
  }
  EXPECT_EQ(said_by_child([] { return of_its_own("auto"); }), "embedded") << "on another device";
  kept.close();
}

TEST_P(ForkRealTest, AChildOfOneWhoseThreadsComputeWorksOrSaysWhyNot) {
  Embedder parent;
  ASSERT_EQ(parent.open(GetParam()), "");
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!over)
        EXPECT_EQ(parent.embed(), "embedded");
    });
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(said_by_child([] { return of_its_own(GetParam()); }),
                AnyOf(StrEq("embedded"), HasSubstr("while its parent was in a call of OpenVINO")));
  }
  over = true;
  for (auto& thread : threads)
    thread.join();
  parent.close();
}

INSTANTIATE_TEST_SUITE_P(Devices, ForkRealTest, ::testing::Values("openvino:CPU", "onnxruntime:CPU"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, ':');
                           return name;
                         });

}  // namespace
