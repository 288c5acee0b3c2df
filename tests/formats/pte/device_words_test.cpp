#include "formats/pte/device_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace latebind::pte::test {
namespace {

using ::testing::HasSubstr;

TEST(DeviceWordsTest, OpenvinosNamesBecomeAPlacement) {
  const auto words = [](std::string_view text) {
    EXPECT_EQ(device_words(text).complaint, "") << text;
    return device_words(text).words;
  };
  EXPECT_EQ(words("CPU"), "cpu");
  EXPECT_EQ(words("AUTO"), "auto");
  EXPECT_EQ(words("NPU,CPU"), "npu,cpu");
  EXPECT_EQ(words("GPU.1"), "openvino:GPU.1");
  EXPECT_EQ(words("AUTO:NPU,CPU"), "openvino:NPU,openvino:CPU");
  EXPECT_EQ(words("AUTO:CPU,GPU.1"), "openvino:CPU,openvino:GPU.1") << "in that order";
  EXPECT_EQ(words("HETERO:GPU.0,CPU"), "openvino:GPU.0,openvino:CPU");
}

TEST(DeviceWordsTest, LatebindsOwnWordsStayAsTheyAre) {
  for (const char* text : {"", "auto", "npu,cpu", "openvino", "openvino:CPU,onnxruntime:CPU", "openvino:AUTO", "autos",
                           "AUTOMATIC", "Auto:CPU", ",", "c:p:u"}) {
    EXPECT_EQ(device_words(text).words, text);
    EXPECT_EQ(device_words(text).complaint, "");
  }
}

TEST(DeviceWordsTest, WhatNoPlacementMeansIsRefusedByNameWithARemedy) {
  for (const auto& [text, remedy] : {std::pair{"MULTI:GPU,CPU", "openvino:GPU,openvino:CPU"},
                                     {"MULTI", "openvino:GPU,openvino:CPU"},
                                     {"BATCH:GPU(16)", "name the device that it uses"},
                                     {"AUTO:-GPU", "AUTO:NPU,CPU"},
                                     {"AUTO:CPU(2)", "AUTO:NPU,CPU"},
                                     {"AUTO:", "AUTO:NPU,CPU"},
                                     {"AUTO:NPU,", "AUTO:NPU,CPU"},
                                     {"AUTO:,CPU", "AUTO:NPU,CPU"},
                                     {"AUTO:NPU,,CPU", "AUTO:NPU,CPU"},
                                     {"AUTO:openvino:CPU", "AUTO:NPU,CPU"},
                                     {"HETERO", "HETERO:NPU,CPU"}}) {
    const auto [words, complaint] = device_words(text);
    EXPECT_EQ(words, "");
    EXPECT_THAT(complaint, HasSubstr("'" + std::string(text) + "'"));
    EXPECT_THAT(complaint, HasSubstr(remedy)) << text;
  }
  EXPECT_LT(device_words("MULTI:" + std::string(5000, 'x')).complaint.size(), 400U);
}

}  // namespace
}  // namespace latebind::pte::test
