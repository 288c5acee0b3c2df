// Which model a bundle is of, what it is compiled for, and whether it is still the one that it was.
#include "core/bundle/package_identity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/bundle/package_writer.h"
#include "tests/bundle/support.h"
#include "tests/platform/support.h"

namespace latebind::core {
namespace {

using testing::bytes_of;
using testing::read_file;
using testing::write_file;

class PackageIdentityTest : public ::testing::Test {
 protected:
  static VariantInput variant(const std::string& name, const std::string& target, const std::string& content) {
    VariantInput made{.name = name};
    made.latebind.emplace();
    made.latebind->target = target;
    made.latebind->format = target == kPortableTarget ? "onnx" : "blob";
    made.latebind->runtime_version = target == kPortableTarget ? "" : "1.0";
    made.latebind->model = "model";
    made.files = {{"model", bytes_of(content)}};
    return made;
  }
  // A bundle with this model and blob.
  static PackageWriter bundle(const std::string& model, const std::string& blob) {
    PackageWriter writer({.name = "a model"});
    EXPECT_TRUE(writer.add_variant("model", variant("portable", std::string(kPortableTarget), model)).ok());
    const bool fits = blob.empty() || writer.add_variant("model", variant("cpu-f32", "cpu", blob)).ok();
    EXPECT_TRUE(fits);
    return writer;
  }
  BundleContent content(const PackageWriter& writer) {
    EXPECT_TRUE(writer.write(folder / "bundle", PackageForm::kZip).ok());
    const auto found = content_of_bundle_file(folder / "bundle");
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    const std::string bytes = read_file(folder / "bundle");
    const auto same = content_of_bundle(std::as_bytes(std::span(bytes)), "bytes");
    EXPECT_TRUE(same.ok() && same->digest == found->content.digest);
    return found->content;
  }

  const platform::testing::ScratchFolder folder;
};

TEST_F(PackageIdentityTest, TheModelIsThatOfThePortableOneWhateverItIsCompiledFor) {
  const BundleContent first = content(bundle("weights", "blob"));
  const BundleContent bare = content(bundle("weights", ""));
  EXPECT_EQ(first.model.size(), 64U);
  EXPECT_EQ(first.model, bare.model);
  EXPECT_EQ(first.variants, std::vector<std::string>{"cpu-f32"});
  EXPECT_TRUE(bare.variants.empty());
  EXPECT_NE(first.digest, bare.digest);
  EXPECT_NE(content(bundle("other", "blob")).model, first.model);
}

TEST_F(PackageIdentityTest, TheBytesOfABlobDoNotCountAndItsVersionDoes) {
  const BundleContent first = content(bundle("weights", "blob"));
  EXPECT_EQ(content(bundle("weights", "blob of another run")).digest, first.digest);
  PackageWriter newer = bundle("weights", "");
  VariantInput blob = variant("cpu-f32", "cpu", "blob");
  blob.latebind->runtime_version = "2.0";
  ASSERT_TRUE(newer.add_variant("model", std::move(blob)).ok());
  EXPECT_NE(content(newer).digest, first.digest);
}

TEST_F(PackageIdentityTest, WhatIsNoBundleInOneFileHasNone) {
  write_file(folder / "model.onnx", "no ZIP");
  EXPECT_EQ(content_of_bundle_file(folder / "model.onnx").status().code(), StatusCode::kInvalidModel);
  ASSERT_TRUE(bundle("weights", "blob").write(folder / "folder", PackageForm::kFolder).ok());
  EXPECT_EQ(content_of_bundle_file(folder / "folder").status().code(), StatusCode::kInvalidModel);
}

TEST_F(PackageIdentityTest, DamageIsFoundByReadingAll) {
  ASSERT_TRUE(bundle("weights", "the blob").write(folder / "bundle", PackageForm::kZip).ok());
  EXPECT_TRUE(check_bundle_file(folder / "bundle").ok());
  std::string bytes = read_file(folder / "bundle");
  bytes[bytes.find("the blob")] = '#';
  write_file(folder / "bundle", bytes);
  EXPECT_TRUE(content_of_bundle_file(folder / "bundle").ok());
  EXPECT_EQ(check_bundle_file(folder / "bundle").code(), StatusCode::kInvalidModel);
}

TEST_F(PackageIdentityTest, TheStateChangesWithAnyChangeInBothForms) {
  for (const PackageForm form : {PackageForm::kZip, PackageForm::kFolder}) {
    const auto state = [&](const PackageWriter& writer) {
      EXPECT_TRUE(writer.write(folder / "place", form).ok());
      const auto found = state_of_bundle(folder / "place");
      EXPECT_TRUE(found.ok()) << found.status().to_string();
      return found.ok() ? *found : "";
    };
    const std::string first = state(bundle("weights", "blob"));
    EXPECT_EQ(state(bundle("weights", "blob")), first);
    EXPECT_NE(state(bundle("weights", "glob")), first) << "a blob of the same size";
    EXPECT_NE(state(bundle("weights", "")), first);
    std::filesystem::remove_all(folder / "place");
  }
}

}  // namespace
}  // namespace latebind::core
