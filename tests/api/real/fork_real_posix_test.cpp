// What the vendors' real runtimes do in a child made by fork() after they have computed in the parent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "latebind/latebind.hpp"
#include "tests/api/fork_support.h"

namespace {

using latebind::test::said_by_child;
using ::testing::StartsWith;

std::string last_error() {
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  return std::string(lb_code_name(error.code)) + ": " + error.message;
}

struct Embedder {
  lb_runtime* runtime = nullptr;
  lb_embedder* embedder = nullptr;

  std::string open(const std::string& device) {
    if (lb_runtime_create(nullptr, &runtime) != LB_OK) return last_error();
    const latebind::Options options{{"device", device}};
    const std::string folder = std::string(LATEBIND_SOURCE_DIR) + "/tests/data/tiny-bert/f32";
    return lb_embedder_open(runtime, folder.c_str(), options.get(), nullptr, &embedder) == LB_OK ? "" : last_error();
  }
  void close() {
    lb_embedder_destroy(embedder);
    lb_runtime_destroy(runtime);
    embedder = nullptr;
    runtime = nullptr;
  }
  std::string embed() {
    // Enough for several batches, so that all threads there are have work.
    const std::string words = "a cat sat on the mat and a dog lay beside it";
    const std::vector<lb_text> texts(400, lb_text{words.data(), words.size()});
    std::vector<float> vectors(texts.size() * lb_embedder_dimension(embedder));
    if (lb_embedder_embed(embedder, texts.data(), texts.size(), nullptr, nullptr, vectors.data(), vectors.size(),
                          nullptr) != LB_OK) {
      return last_error();
    }
    const bool fine = std::ranges::all_of(vectors, [](float x) { return std::isfinite(x); }) &&
                      std::ranges::any_of(vectors, [](float x) { return x != 0; });
    return fine ? "embedded" : "nonsense";
  }
};

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
  EXPECT_THAT(said, StartsWith("INVALID_ARGUMENT: this embedder was made before fork()"));
  EXPECT_THAT(said, ::testing::EndsWith(" |  | embedded | closed"));
  EXPECT_EQ(parent.embed(), "embedded");
  parent.close();
}

INSTANTIATE_TEST_SUITE_P(Devices, ForkRealTest, ::testing::Values("openvino:CPU", "onnxruntime:CPU"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, ':');
                           return name;
                         });

}  // namespace
