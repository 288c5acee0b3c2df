// A folder of recorded models with what the reference gives for its texts, and a runtime for the backend that is always
// there: for tests of the C interface.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "latebind/latebind.hpp"

namespace latebind::test {

class RecordedEncoderTest : public ::testing::Test {
 protected:
  // `folder` is one of tests/data.
  explicit RecordedEncoderTest(const std::string& folder)
      : models(std::string(LATEBIND_SOURCE_DIR) + "/tests/data/" + folder + "/") {}

  void SetUp() override {
    std::ifstream file(models + "expected.json");
    expected = nlohmann::json::parse(file);
    for (const nlohmann::json& text : expected["texts"])
      texts.push_back(text.get<std::string>());
    for (const std::string& text : texts)
      views.emplace_back(text);
    auto made = Runtime::create({{"device", "native"}, {"precision", "f32"}});
    ASSERT_TRUE(made.ok()) << made.status().message();
    runtime = std::make_unique<Runtime>(*std::move(made));
  }

  static void expect_same(const SparseVectors& vectors, const nlohmann::json& wanted) {
    ASSERT_EQ(vectors.size(), wanted.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      const SparseVector vector = vectors[i];
      EXPECT_EQ(nlohmann::json(std::vector<std::uint32_t>(vector.indices.begin(), vector.indices.end())),
                wanted[i]["indices"]);
      ASSERT_EQ(vector.values.size(), wanted[i]["values"].size());
      for (std::size_t at = 0; at < vector.values.size(); ++at)
        EXPECT_NEAR(vector.values[at], wanted[i]["values"][at].get<float>(), 1e-5F) << i << " " << at;
    }
  }

  const std::string models;  // ends in a slash
  nlohmann::json expected;
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
  std::unique_ptr<Runtime> runtime;
};

}  // namespace latebind::test
