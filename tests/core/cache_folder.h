// What the tests of the compile cache share: a folder of their own, and blobs that are texts.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/model/model.h"
#include "core/platform/files/temporary_folder.h"

namespace latebind::test {

inline core::Blob blob_of(std::string text) {
  return {{"toy", "CPU", "1.0", core::Precision::kF32}, core::SharedBytes::from_string(std::move(text))};
}

inline std::string text_of(const core::Blob& blob) {
  return {reinterpret_cast<const char*>(blob.bytes.bytes.data()), blob.bytes.bytes.size()};
}

// `folder` is not there yet: whoever puts something into it makes it.
class CacheFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = platform::TemporaryFolder::create("latebind-cache-test");
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    parent.emplace(*std::move(made));
    folder = parent->path() / "compiled";
  }

  std::optional<platform::TemporaryFolder> parent;
  std::filesystem::path folder;
};

}  // namespace latebind::test
