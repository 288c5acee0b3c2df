// Blobs that are nearly the same: stored once in a ZIP, and again whole wherever they are read.
#include "core/bundle/share_blobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>

#include "core/bundle/choose.h"
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

constexpr std::size_t kBlob = 40'000;

std::string blob_text(unsigned seed, std::size_t changed_at) {
  std::mt19937 random(seed);
  std::string text(kBlob, 0);
  for (char& c : text)
    c = static_cast<char>(random());
  text[changed_at] = static_cast<char>(text[changed_at] ^ 1);
  return text;
}

VariantInput blob(const std::string& name, std::string text, bool is_copied = true,
                  const std::string& backend = "onnxruntime") {
  VariantInput variant;
  variant.name = name;
  variant.ep = "ToyExecutionProvider";
  variant.device = "npu";
  variant.compatibility_string = "toy:1";
  variant.executor_info["ort"] = {{"model_file", "model.onnx"}, {"session_options", {{"a", "b"}}}};
  LatebindInfo info;
  info.target = "npu:toy";
  info.backend = backend;
  info.device = "Toy." + name;
  info.precision = "f16";
  info.format = "blob";
  info.model = "model.onnx";
  info.is_copied = is_copied;
  variant.latebind = std::move(info);
  variant.files.push_back({"model.onnx", bytes_of(std::move(text))});
  return variant;
}

class ShareBlobsTest : public ::testing::Test {
 protected:
  [[nodiscard]] path place(const std::string& name) const { return folder_ / name; }

  // Three lengths that differ in a byte each, and the portable model.
  static PackageWriter lengths() {
    PackageWriter writer({.name = "toy"});
    VariantInput portable;
    portable.name = "portable";
    portable.ep = kHostCpuProvider;
    portable.latebind = LatebindInfo{};
    portable.latebind->target = "portable";
    portable.latebind->model = "model.onnx";
    portable.files.push_back({"model.onnx", bytes_of("portable")});
    EXPECT_TRUE(writer.add_variant("model", std::move(portable)).ok());
    for (unsigned i = 1; i <= 3; ++i)
      EXPECT_TRUE(writer.add_variant("model", blob(name_of(i), text(i))).ok());
    return writer;
  }
  static std::string name_of(unsigned i) { return "npu-" + std::to_string(i); }
  static std::string text(unsigned i) { return blob_text(7, i * 1'000); }

  Package opened(const PackageWriter& writer, const std::string& name, PackageForm form = PackageForm::kZip) {
    const Status status = writer.write(place(name), form);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return open(name);
  }
  Package open(const std::string& name) {
    auto package = Package::open(place(name));
    EXPECT_TRUE(package.ok()) << package.status().to_string();
    return *std::move(package);
  }
  static const Variant& variant(const Package& package, unsigned i) {
    return *Package::find_variant(package.manifest().components.front(), name_of(i));
  }
  // The files of a ZIP as another program unpacks them.
  path unzipped(const Package& package, const std::string& name) {
    const auto all = package.files().list();
    for (const auto& file : *all) {
      std::filesystem::create_directories((place(name) / file.path).parent_path());
      write_file(place(name) / file.path, text_of(*package.files().read(file.path)));
    }
    const auto folders = package.files().list_folders();
    for (const auto& empty : *folders)
      std::filesystem::create_directories(place(name) / empty);
    return place(name);
  }

  const platform::testing::ScratchFolder folder_;
};

TEST_F(ShareBlobsTest, AZipHasThemOnceAndEachComesBack) {
  const Package package = opened(lengths(), "zip");
  EXPECT_LT(std::filesystem::file_size(place("zip")), kBlob + 30'000);
  for (unsigned i = 1; i <= 3; ++i) {
    const Variant& one = variant(package, i);
    EXPECT_EQ(text_of(*package.open_file(one, one.latebind->model)), text(i));
    EXPECT_EQ(text_of(*package.open_checked_file(one, one.latebind->model)), text(i));
    EXPECT_EQ(text_of(*package.open_verified_file(one, one.latebind->model)), text(i));
    EXPECT_TRUE(package.recorded_sum(one, one.latebind->model).has_value());
    // Whether it lies in the mapping or was made: drivers that use it where it lies want whole pages.
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(package.open_file(one, one.latebind->model)->bytes.data()) % 4096, 0U);
  }
  const auto report = package.verify();
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_TRUE(report->crc_only.empty() && report->unsummed.empty());
}

TEST_F(ShareBlobsTest, OnlyTheWholeOneIsForStockOnnxRuntime) {
  const Package package = opened(lengths(), "zip");
  const Variant& whole = variant(package, 1);
  const Variant& other = variant(package, 2);
  EXPECT_EQ(whole.ep, "ToyExecutionProvider");
  EXPECT_EQ(whole.executor_info.at("ort")["model_file"], whole.latebind->model);
  EXPECT_TRUE(whole.latebind->model.starts_with("sha256:")) << whole.latebind->model;
  EXPECT_EQ(other.ep, "");
  EXPECT_FALSE(other.executor_info.contains("ort"));
  EXPECT_EQ(other.compatibility_string, "toy:1");
  // Older versions refuse what they would take for a missing file.
  EXPECT_EQ(to_json(*other.latebind)["version"], 2);
  EXPECT_EQ(to_json(*whole.latebind)["version"], 1);
}

TEST_F(ShareBlobsTest, AFolderHasThemWholeAndSoHasAnUnpackedZip) {
  const Package folder = opened(lengths(), "folder", PackageForm::kFolder);
  const Package zip = opened(lengths(), "zip");
  ASSERT_TRUE(unpack_package(zip, place("unpacked")).ok());
  EXPECT_EQ(read_file(place("unpacked") / "manifest.json"), read_file(place("folder") / "manifest.json"));
  for (unsigned i = 1; i <= 3; ++i) {
    EXPECT_EQ(variant(folder, i).latebind->difference, std::nullopt);
    EXPECT_EQ(read_file(place("unpacked") / "model" / name_of(i) / "model.onnx"), text(i));
  }
  EXPECT_EQ(unpack_package(zip, place("unpacked")).code(), StatusCode::kInvalidArgument) << "not empty";
}

TEST_F(ShareBlobsTest, WhatIsAddedLaterSharesAsIfItHadBeenThere) {
  const Package package = opened(lengths(), "zip");
  PackageWriter again({.name = "toy"});
  ASSERT_TRUE(again.add_package(package, "model", {}).ok());
  opened(again, "again");
  EXPECT_EQ(read_file(place("again")), read_file(place("zip")));

  // Without the whole one another is whole, and nothing of the first stays.
  PackageWriter fewer({.name = "toy"});
  ASSERT_TRUE(fewer.add_package(package, "model", {name_of(1)}).ok());
  const Package less = opened(fewer, "fewer");
  EXPECT_EQ(less.assets().size(), 1U);
  EXPECT_EQ(text_of(*less.open_file(variant(less, 3), "model.onnx")), text(3));
  PackageWriter alone({.name = "toy"});
  ASSERT_TRUE(alone.add_package(package, "model", {name_of(1), name_of(2)}).ok());
  const Package one = opened(alone, "alone");
  EXPECT_TRUE(one.assets().empty());
  EXPECT_EQ(variant(one, 3).ep, "ToyExecutionProvider");
  EXPECT_EQ(variant(one, 3).executor_info.at("ort")["session_options"]["a"], "b");
}

TEST_F(ShareBlobsTest, OtherBlobsStayWhole) {
  PackageWriter writer({.name = "toy"});
  ASSERT_TRUE(writer.add_variant("model", blob("npu-1", text(1))).ok());
  ASSERT_TRUE(writer.add_variant("model", blob("npu-2", blob_text(8, 0))).ok()) << "something else";
  ASSERT_TRUE(writer.add_variant("model", blob("npu-3", text(3), false)).ok()) << "used where it lies";
  ASSERT_TRUE(writer.add_variant("model", blob("npu-4", text(4), true, "another")).ok());
  ASSERT_TRUE(writer.add_variant("model", blob("npu-5", "small")).ok());
  ASSERT_TRUE(writer.add_variant("model", blob("npu-6", "small")).ok());
  const Package package = opened(writer, "zip");
  EXPECT_TRUE(package.assets().empty());
  for (unsigned i = 1; i <= 6; ++i) {
    EXPECT_EQ(variant(package, i).latebind->difference, std::nullopt) << i;
    EXPECT_EQ(variant(package, i).latebind->model, "model.onnx") << i;
  }
}

TEST_F(ShareBlobsTest, EveryCutAndFlipOfASharedBlobIsFound) {
  const Package zip = opened(lengths(), "zip");
  const std::string from = *zip.resolve(variant(zip, 2), variant(zip, 2).latebind->difference->from);
  const std::string stored = "model/npu-2/model.onnx.vcdiff";
  for (const std::string& file : {from, stored}) {
    const path folder = unzipped(zip, "folder-" + std::to_string(file.size()));
    {
      const auto package = Package::open(folder);
      ASSERT_TRUE(package.ok()) << package.status().to_string();
      EXPECT_EQ(text_of(*package->open_checked_file(variant(*package, 2), "model.onnx")), text(2));
    }
    const std::string content = read_file(folder / file);
    for (const std::size_t at : {std::size_t{0}, content.size() / 2, content.size() - 1}) {
      std::string flipped = content;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      write_file(folder / file, flipped);
      const auto package = Package::open(folder);
      ASSERT_TRUE(package.ok()) << package.status().to_string();
      EXPECT_EQ(package->open_checked_file(variant(*package, 2), "model.onnx").status().code(),
                StatusCode::kInvalidModel);
      EXPECT_FALSE(package->verify()->ok());
      PackageWriter writer({});
      EXPECT_FALSE(writer.add_package(*package, "model", {}).ok());
    }
    write_file(folder / file, content.substr(0, content.size() - 1));
    const auto cut = Package::open(folder);
    EXPECT_TRUE(!cut.ok() || !cut->open_checked_file(variant(*cut, 2), "model.onnx").ok());
    std::filesystem::remove(folder / file);
    const auto gone = Package::open(folder);
    EXPECT_EQ(gone.status().code(), StatusCode::kInvalidModel) << gone.status().to_string();

    // In the ZIP itself.
    std::string bytes = read_file(place("zip"));
    const auto found = bytes.find(content);
    ASSERT_NE(found, std::string::npos);
    bytes[found + content.size() / 2] = static_cast<char>(bytes[found + content.size() / 2] ^ 1);
    write_file(place("flipped"), bytes);
    const auto package = Package::open(place("flipped"));
    ASSERT_TRUE(package.ok());
    EXPECT_THAT(package->open_checked_file(variant(*package, 2), "model.onnx").status().to_string(), HasSubstr("CRC"));
    EXPECT_FALSE(package->verify()->ok());
  }
}

TEST_F(ShareBlobsTest, ADifferenceThatLiesIsRefused) {
  const path folder = unzipped(opened(lengths(), "zip"), "folder");
  const std::string manifest = read_file(folder / "manifest.json");
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string changed = manifest;
    for (auto at = changed.find(old); at != std::string::npos; at = changed.find(old, at + now.size()))
      changed.replace(at, old.size(), now);
    EXPECT_NE(changed, manifest) << old;
    write_file(folder / "manifest.json", changed);
    return Package::open(folder).status();
  };
  const std::string whole = "\"bytes\": " + std::to_string(kBlob);
  EXPECT_THAT(with(whole, "\"bytes\": 9999999999999").to_string(), HasSubstr("more than 4 times as many"));
  EXPECT_THAT(with("\"file\": \"model.onnx.vcdiff\"", "\"file\": \"../x\"").to_string(), HasSubstr("'difference'"));
  EXPECT_THAT(with("\"file\": \"model.onnx.vcdiff\"", "\"file\": \"x\"").to_string(), HasSubstr("not one of 'files'"));
  EXPECT_THAT(with("/model.onnx\",\n                \"bytes\"", "/gone.onnx\",\n                \"bytes\"").to_string(),
              HasSubstr("missing"));
  EXPECT_THAT(with("\"from\": \"sha256", "\"from\": \"model").to_string(), HasSubstr("difference"));
  EXPECT_THAT(with("\"target\": \"npu:toy\"", "\"target\": \"portable\"").to_string(), HasSubstr("for a blob"));
  EXPECT_THAT(with("\"model\": \"model.onnx\"", "\"model\": \"model.onnx.vcdiff\"").to_string(),
              HasSubstr("the result of a 'difference'"));

  // Another size than it makes: found when it is made.
  ASSERT_TRUE(with(whole, "\"bytes\": 39999").ok());
  const auto package = Package::open(folder);
  EXPECT_THAT(package->open_file(variant(*package, 2), "model.onnx").status().to_string(), HasSubstr("expected"));
}

}  // namespace
}  // namespace latebind::core
