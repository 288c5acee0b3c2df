// The model of a bundle: what the bundle says of it is looked up by, and compared with the bytes before anybody else
// relies on it.
#include "core/bundle/bundle_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/bundle/choose.h"
#include "core/bundle/compile.h"
#include "core/bundle/crc32.h"
#include "core/bundle/package_writer.h"
#include "core/platform/digest.h"
#include "tests/bundle/support.h"
#include "tests/platform/support.h"

namespace latebind::core {
namespace {

using std::filesystem::path;
using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_file;
using testing::text_of;
using testing::write_file;

// An ONNX model with a graph whose one tensor is in the file "weights.bin", and something to tell two of them apart.
std::string onnx() {
  return std::string("\x08\x0a\x3a\x1b\x2a\x19\x6a\x17\x0a\x08location\x12\x0bweights.bin", 31);
}

class BundleModelTest : public ::testing::Test {
 protected:
  // With its weights in an asset, as `latebind compile` writes it.
  path written(PackageForm form, const std::string& name) {
    PackageWriter writer({"a model"});
    VariantInput variant = portable_input(ModelFormat::kOnnx);
    auto asset = writer.add_asset({{"weights.bin", bytes_of("the weights of it")}});
    EXPECT_TRUE(asset.ok()) << asset.status().to_string();
    variant.latebind->assets["weights"] = *asset + "/weights.bin";
    variant.files.push_back({"model.onnx", bytes_of(onnx())});
    EXPECT_TRUE(writer.add_variant(kModelComponent, std::move(variant)).ok());
    const Status status = writer.write(folder_ / name, form);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return folder_ / name;
  }
  static Result<Model> model_at(const path& place) {
    LB_ASSIGN_OR_RETURN(const Package package, Package::open(place));
    return model_of_bundle(package);
  }
  // Changes the text in the ZIP and repairs every CRC-32 in it, as an attacker would.
  static void tamper(const path& zip, const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    std::string bytes = read_file(zip);
    const auto at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    const auto crc_of = [](const std::string& text) {
      return testing::u32(crc32(std::as_bytes(std::span(text.data(), text.size()))));
    };
    bytes.replace(at, from.size(), to);
    const std::string before = crc_of(from);
    for (auto sum = bytes.find(before); sum != std::string::npos; sum = bytes.find(before, sum))
      bytes.replace(sum, before.size(), crc_of(to));
    write_file(zip, bytes);
  }

  const platform::testing::ScratchFolder folder_;
};

TEST_F(BundleModelTest, WhatABundleSaysOfItselfIsComparedWithItsBytes) {
  const path good = written(PackageForm::kZip, "good.lbundle");
  const path evil = written(PackageForm::kZip, "evil.lbundle");
  tamper(evil, "the weights of it", "THE WEIGHTS OF IT");
  const auto genuine = model_at(good);
  const auto forged = model_at(evil);
  ASSERT_TRUE(genuine.ok()) << genuine.status().to_string();
  ASSERT_TRUE(forged.ok()) << forged.status().to_string();
  EXPECT_EQ(text_of(forged->forms().front().external.front().data), "THE WEIGHTS OF IT");
  EXPECT_TRUE(forged->check_forms().ok()) << "the CRC was repaired";
  EXPECT_EQ(*forged->digest(), *genuine->digest());
  EXPECT_TRUE(genuine->prove_digest().ok());
  const Status proof = forged->prove_digest();
  EXPECT_EQ(proof.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(proof.to_string(), HasSubstr("was changed"));
}

TEST_F(BundleModelTest, IsFoundAfterTheWorkingFolderHasChanged) {
  written(PackageForm::kZip, "a.lbundle");
  written(PackageForm::kFolder, "a");
  const path before = std::filesystem::current_path();
  for (const char* name : {"a.lbundle", "a"}) {
    std::filesystem::current_path(folder_ / "");
    const auto model = model_at(name);
    std::filesystem::current_path(before);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    EXPECT_TRUE(model->check_bytes().ok()) << name;
    EXPECT_TRUE(model->check_forms().ok()) << name;
    EXPECT_TRUE(model->prove_digest().ok()) << name;
  }
}

TEST_F(BundleModelTest, ItsDataIsKnownByTheFileInWhichItLies) {
  for (const auto form : {PackageForm::kZip, PackageForm::kFolder}) {
    const path place = written(form, form == PackageForm::kZip ? "a.lbundle" : "a");
    const auto model = model_at(place);
    ASSERT_TRUE(model.ok()) << model.status().to_string();
    const ExternalData& weights = model->forms().front().external.front();
    EXPECT_EQ(weights.location, "weights.bin");
    EXPECT_TRUE(weights.is_file_unchanged());
    EXPECT_EQ(weights.file == place, form == PackageForm::kZip) << weights.file;
    EXPECT_EQ(read_file(weights.file).substr(weights.offset, weights.data.bytes.size()), "the weights of it");
    EXPECT_EQ(text_of(weights.data), "the weights of it");
  }
}

TEST_F(BundleModelTest, ThatIsSeenByVerifyAsWell) {
  const path evil = written(PackageForm::kZip, "evil.lbundle");
  tamper(evil, "the weights of it", "THE WEIGHTS OF IT");
  const auto report = Package::open(evil)->verify();
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->ok());
  const path blob = written(PackageForm::kZip, "blob.lbundle");
  tamper(blob, onnx(), "\x08\x0b" + onnx().substr(2));
  EXPECT_FALSE(Package::open(blob)->verify()->ok());
}

TEST_F(BundleModelTest, WhatNothingIsRecordedOfIsNotClaimed) {
  // The weights lie in the variant's folder, and the manifest does not mention them.
  const auto with_weights = [&](const std::string& name, const std::string& weights) {
    const path place = folder_ / name;
    PackageWriter writer({"a model"});
    VariantInput variant = portable_input(ModelFormat::kOnnx);
    variant.files.push_back({"model.onnx", bytes_of(onnx())});
    EXPECT_TRUE(writer.add_variant(kModelComponent, std::move(variant)).ok());
    EXPECT_TRUE(writer.write(place, PackageForm::kFolder).ok());
    const auto package = Package::open(place);
    write_file(place / *package->manifest().components.front().variants.front().folder / "weights.bin", weights);
    return *model_at(place);
  };
  const Model one = with_weights("one", "the weights of it");
  const Model other = with_weights("other", "THE WEIGHTS OF IT");
  EXPECT_NE(*one.digest(), *other.digest());
}

TEST_F(BundleModelTest, WhichOfItsFilesIsTheModelIsPartOfWhatItClaims) {
  const auto with_model = [&](const std::string& name, const std::string& model) {
    PackageWriter writer({"a model"});
    VariantInput variant = portable_input(ModelFormat::kOnnx);
    variant.latebind->model = model;
    const std::string plain("\x08\x0a\x3a\x00", 4);
    variant.files.push_back({"one.onnx", bytes_of(plain)});
    variant.files.push_back({"other.onnx", bytes_of(plain + std::string("\x10\x00", 2))});
    EXPECT_TRUE(writer.add_variant(kModelComponent, std::move(variant)).ok());
    EXPECT_TRUE(writer.write(folder_ / name, PackageForm::kZip).ok());
    return *model_at(folder_ / name);
  };
  const Model one = with_model("one.lbundle", "one.onnx");
  const Model other = with_model("other.lbundle", "other.onnx");
  EXPECT_TRUE(one.prove_digest().ok());
  EXPECT_TRUE(other.prove_digest().ok());
  EXPECT_NE(*one.digest(), *other.digest());
  EXPECT_EQ(*one.digest(), *with_model("again.lbundle", "one.onnx").digest());
}

TEST_F(BundleModelTest, DataThatIsNotInTheBundleIsNotTakenFromTheWorkingFolder) {
  PackageWriter writer({"a model"});
  VariantInput variant = portable_input(ModelFormat::kOnnx);
  variant.files.push_back({"model.onnx", bytes_of(onnx())});
  ASSERT_TRUE(writer.add_variant(kModelComponent, std::move(variant)).ok());
  ASSERT_TRUE(writer.write(folder_ / "empty.lbundle", PackageForm::kZip).ok());
  const auto model = model_at(folder_ / "empty.lbundle");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(model->check_forms().code(), StatusCode::kInvalidModel);
  EXPECT_THAT(model->check_forms().to_string(), HasSubstr("has data in 'weights.bin', which was not given"));
}

TEST_F(BundleModelTest, AnIrMayLieInASharedAsset) {
  PackageWriter writer({"a model"});
  VariantInput variant = portable_input(ModelFormat::kOpenvinoIr);
  auto asset = writer.add_asset({{"net.xml", bytes_of("<net/>")}, {"net.bin", bytes_of("its weights")}});
  ASSERT_TRUE(asset.ok()) << asset.status().to_string();
  variant.latebind->model = *asset + "/net.xml";
  variant.files.push_back({"README", bytes_of("in the asset")});
  ASSERT_TRUE(writer.add_variant(kModelComponent, std::move(variant)).ok());
  ASSERT_TRUE(writer.write(folder_ / "ir.lbundle", PackageForm::kZip).ok());
  const auto model = model_at(folder_ / "ir.lbundle");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(text_of(model->forms().front().weights), "its weights");
  EXPECT_TRUE(model->prove_digest().ok());
}

TEST_F(BundleModelTest, AFolderHasOneContentAsLongAsItsModelLives) {
  const path place = written(PackageForm::kFolder, "folder");
  const auto package = Package::open(place);
  ASSERT_TRUE(package.ok());
  const auto model = model_of_bundle(*package);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto all = package->files().list();
  path weights;
  for (const auto& file : *all) {
    if (file.path.ends_with("weights.bin")) weights = place / file.path;
  }
  write_file(folder_ / "new", "THE WEIGHTS OF IT");
  std::filesystem::rename(folder_ / "new", weights);
  EXPECT_EQ(text_of(model->forms().front().external.front().data), "the weights of it");
  EXPECT_TRUE(model->check_forms().ok());
  EXPECT_TRUE(model->check_bytes().ok());
  EXPECT_TRUE(model->prove_digest().ok());
  EXPECT_EQ(model->check_files().code(), StatusCode::kIo) << "what has the name now is not what the model is";
  EXPECT_EQ(model_at(place)->prove_digest().code(), StatusCode::kInvalidModel);
}

TEST_F(BundleModelTest, AZipThatIsWrittenOverIsAnotherModel) {
  const path place = written(PackageForm::kZip, "zip");
  const auto model = model_at(place);
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_TRUE(model->check_bytes().ok());
  const std::string bytes = read_file(place);
  for (const auto before = *platform::file_identity(place); *platform::file_identity(place) == before;)
    write_file(place, bytes);
  EXPECT_EQ(model->check_bytes().code(), StatusCode::kIo);
  const auto again = model_at(place);
  write_file(folder_ / "new", bytes);
  std::filesystem::rename(folder_ / "new", place);
  EXPECT_TRUE(again->check_bytes().ok()) << "the mapping is of the old file still";
}

TEST_F(BundleModelTest, WhatOnlyACrcIsRecordedOfIsNamed) {
  testing::HandZip zip;
  for (const auto& [name, data] : std::vector<std::pair<std::string, std::string>>{
           {"manifest.json",
            R"({"schema_version": "1.0", "components": {"model": {"variants": {"a": {"variant_directory": "."}}}}})"},
           {"notes", "of somebody"}}) {
    testing::HandEntry entry;
    entry.name = name;
    entry.data = data;
    zip.entries.push_back(std::move(entry));
  }
  auto files = PackageFiles::from_zip(bytes_of(zip.bytes()), "a bundle");
  ASSERT_TRUE(files.ok()) << files.status().to_string();
  const auto package = Package::from_files(*std::move(files));
  ASSERT_TRUE(package.ok()) << package.status().to_string();
  const auto report = package->verify();
  EXPECT_TRUE(report->ok());
  EXPECT_THAT(report->crc_only, ElementsAre("notes"));
  EXPECT_TRUE(report->unsummed.empty());
}

}  // namespace
}  // namespace latebind::core
