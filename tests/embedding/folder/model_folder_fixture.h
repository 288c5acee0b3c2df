// ModelFolderTest: a copy of a small model's folder, which a test changes and opens.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "embedding/folder/model_folder.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {

class ModelFolderTest : public ::testing::Test {
 protected:
  ModelFolderTest() { scratch_.copy_tiny_bert(); }

  [[nodiscard]] core::Result<ModelFolder> open() const { return ModelFolder::open(scratch_.path()); }

  void expect(core::StatusCode code, std::initializer_list<std::string_view> parts) const {
    const auto model = open();
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), code) << model.status().to_string();
    for (const std::string_view part : parts)
      EXPECT_THAT(model.status().to_string(), ::testing::HasSubstr(part));
    EXPECT_THAT(model.status().to_string(), ::testing::Not(::testing::HasSubstr("\n")));
  }

  testing::ScratchFolder scratch_;
};

}  // namespace latebind::embedding
