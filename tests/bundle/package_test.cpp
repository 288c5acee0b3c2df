// Bundles written and read: nothing is lost, nothing is copied, and no change goes unseen.
#include "core/bundle/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/bundle/support.h"
#include "tests/platform/support.h"

namespace latebind::core {
namespace {

using std::filesystem::path;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::names_in;
using testing::read_file;
using testing::small_package;
using testing::text_of;
using testing::write_file;

class PackageTest : public ::testing::Test {
 protected:
  [[nodiscard]] path place(const std::string& name) const { return folder_ / name; }
  path written(const PackageWriter& writer, PackageForm form, const std::string& name = "bundle") {
    const Status status = writer.write(place(name), form);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return place(name);
  }
  const platform::testing::ScratchFolder folder_;
};

// Everything that can be read from a package.
struct Content {
  Manifest manifest;
  std::map<std::string, std::string> files;
  friend bool operator==(const Content&, const Content&) = default;
};

Content content_of(const Package& package) {
  Content content{package.manifest(), {}};
  const auto all = package.files().list();
  EXPECT_TRUE(all.ok()) << all.status().to_string();
  for (const auto& file : *all) {
    const auto bytes = package.files().read(file.path);
    EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
    content.files.emplace(file.path, text_of(*bytes));
  }
  return content;
}

std::map<std::string, std::string> files_below(const path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.emplace(entry.path().string(), read_file(entry.path()));
  }
  return files;
}

Result<Package> open_bytes(const std::string& zip) {
  LB_ASSIGN_OR_RETURN(PackageFiles files, PackageFiles::from_zip(bytes_of(zip), "a bundle"));
  return Package::from_files(std::move(files));
}

TEST_F(PackageTest, WhatIsTakenFromAnotherPackageIsAllThere) {
  const path first = written(small_package(), PackageForm::kZip, "first");
  const auto package = Package::open(first);
  ASSERT_TRUE(package.ok()) << package.status().to_string();
  const Manifest& manifest = package->manifest();
  PackageWriter writer(
      {manifest.package_name, manifest.package_version, manifest.description, manifest.additional_metadata});
  const Component& component = manifest.components.front();
  ASSERT_TRUE(writer.add_package(*package, component.name, {}).ok());
  EXPECT_EQ(read_file(written(writer, PackageForm::kZip, "second")), read_file(first));

  PackageWriter fewer({manifest.package_name});
  ASSERT_TRUE(fewer.add_package(*package, component.name, {component.variants.front().name}).ok());
  const auto less = Package::open(written(fewer, PackageForm::kFolder, "third"));
  ASSERT_TRUE(less.ok()) << less.status().to_string();
  EXPECT_EQ(less->manifest().components.front().variants.size(), component.variants.size() - 1);
}

TEST_F(PackageTest, NothingIsTakenFromADamagedPackage) {
  const path folder = written(small_package(), PackageForm::kFolder, "first");
  const auto package = Package::open(folder);
  ASSERT_TRUE(package.ok()) << package.status().to_string();
  const Variant& variant = package->manifest().components.front().variants.front();
  const path file = folder / *variant.folder / variant.latebind->files.front().path;
  std::string content = read_file(file);
  content.front() = static_cast<char>(content.front() ^ 1);
  write_file(file, content);
  PackageWriter writer({});
  EXPECT_EQ(writer.add_package(*package, "model", {}).code(), StatusCode::kInvalidModel);
}

TEST_F(PackageTest, WhatIsWrittenIsReadInBothForms) {
  const PackageWriter writer = small_package();
  const auto zip = Package::open(written(writer, PackageForm::kZip, "zip"));
  const auto folder = Package::open(written(writer, PackageForm::kFolder, "folder"));
  ASSERT_TRUE(zip.ok()) << zip.status().to_string();
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  EXPECT_TRUE(zip->files().is_zip() && !folder->files().is_zip());
  EXPECT_EQ(content_of(*zip), content_of(*folder));

  const Component* component = zip->find_component("model");
  ASSERT_NE(component, nullptr);
  const Variant* portable = Package::find_variant(*component, "portable");
  const Variant* blob = Package::find_variant(*component, "npu-v73");
  ASSERT_TRUE(portable != nullptr && blob != nullptr);
  EXPECT_TRUE(portable->latebind->is_portable());
  EXPECT_EQ(portable->executor_info.at("ort")["model_file"], "model.onnx");
  EXPECT_EQ(blob->latebind->shapes, (std::vector<std::vector<std::int64_t>>{{1, 32}, {1, 128}}));
  EXPECT_THAT(text_of(*zip->open_verified_file(*portable, "model.onnx")), HasSubstr("portable model"));
  const std::string tokenizer = blob->latebind->assets.at("model_folder");
  EXPECT_EQ(text_of(*zip->open_verified_file(*blob, tokenizer + "/tokenizer.json")).substr(0, 2), "{}");
  EXPECT_EQ(zip->open_file(*blob, "none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(zip->open_file(*blob, "../portable/model.onnx").status().code(), StatusCode::kInvalidModel);
  for (const Package& package : {*zip, *folder}) {
    const auto report = package.verify();
    ASSERT_TRUE(report.ok() && report->ok());
    EXPECT_EQ(report->files, package.files().is_zip() ? 6U : 5U) << "a folder has no sum of its manifest";
    EXPECT_TRUE(report->unsummed.empty());
  }
}

TEST_F(PackageTest, TheSameInputGivesTheSameBytes) {
  EXPECT_EQ(read_file(written(small_package(), PackageForm::kZip, "one")),
            read_file(written(small_package(), PackageForm::kZip, "two")));
}

TEST_F(PackageTest, EqualAssetsAreStoredOnce) {
  PackageWriter writer({.name = "toy"});
  const auto one = writer.add_asset({{"a", bytes_of("1")}, {"b", bytes_of("2")}});
  const auto two = writer.add_asset({{"b", bytes_of("2")}, {"a", bytes_of("1")}});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(*one, *two);
  EXPECT_NE(*one, *writer.add_asset({{"a", bytes_of("2")}, {"b", bytes_of("1")}}));
  LatebindInfo info;
  info.target = "portable";
  info.model = *one + "/a";
  ASSERT_TRUE(writer.add_variant("c", {.name = "v", .latebind = info}).ok());
  for (const PackageForm form : {PackageForm::kZip, PackageForm::kFolder}) {
    const auto package = Package::open(written(writer, form, "b" + std::to_string(static_cast<int>(form))));
    ASSERT_TRUE(package.ok()) << package.status().to_string();
    EXPECT_EQ(package->assets().size(), 2U);
    const Variant& variant = package->manifest().components.at(0).variants.at(0);
    EXPECT_EQ(variant.folder, "c/v") << "a folder without a file is there";
    EXPECT_EQ(text_of(*package->open_verified_file(variant, variant.latebind->model)), "1");
  }
}

TEST_F(PackageTest, TheWriterRefusesWhatCouldNotBeRead) {
  PackageWriter writer({.name = "toy"});
  const auto refused = [&](VariantInput variant) {
    const Status status = writer.add_variant("c", std::move(variant));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    return status.to_string();
  };
  EXPECT_EQ(writer.write(place("b"), PackageForm::kZip).code(), StatusCode::kInvalidArgument) << "no variant";
  EXPECT_THAT(refused({.name = "npu:v73"}), HasSubstr("colon"));
  EXPECT_THAT(refused({.name = "a/b"}), HasSubstr("slash"));
  EXPECT_THAT(refused({.name = "v", .files = {{"../a", {}}}}), HasSubstr("'..'"));
  EXPECT_THAT(refused({.name = "v", .files = {{"a", {}}, {"A", {}}}}), HasSubstr("twice"));
  EXPECT_THAT(refused({.name = "v", .latebind = LatebindInfo{}}), HasSubstr("'target' is missing"));
  EXPECT_THAT(refused({.name = "v", .executor_info = {{"latebind", {}}}}), HasSubstr("reserved for Latebind"));
  EXPECT_THAT(refused({.name = "v", .executor_info = {{"ort", 1}}}), HasSubstr("must be an object"));
  LatebindInfo info;
  info.target = "cpu";
  info.assets = {{"weights", "sha256:" + std::string(64, '0')}};
  EXPECT_THAT(refused({.name = "v", .latebind = info}), HasSubstr("was not added"));
  EXPECT_EQ(writer.add_variant("shared_assets", {.name = "v"}).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(writer.add_variant("c", {.name = "v"}).ok());
  EXPECT_THAT(refused({.name = "v"}), HasSubstr("exists already"));
  EXPECT_EQ(writer.add_asset({}).status().code(), StatusCode::kInvalidArgument);
  PackageWriter no_utf8({.name = "\xff"});
  ASSERT_TRUE(no_utf8.add_variant("c", {.name = "v"}).ok());
  EXPECT_EQ(no_utf8.write(place("b"), PackageForm::kZip).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(names_in(folder_.path()).empty());
}

TEST_F(PackageTest, FilesThatAreMissingOrOfAnotherSizeAreSeenOnOpening) {
  const path bundle = written(small_package(), PackageForm::kFolder);
  write_file(bundle / "model/npu-v73/model.blob", "short");
  EXPECT_THAT(Package::open(bundle).status().to_string(), HasSubstr("'model.blob' has 5 bytes, but was written with"));
  std::filesystem::remove(bundle / "model/npu-v73/model.blob");
  EXPECT_THAT(Package::open(bundle).status().to_string(), HasSubstr("its file 'model.blob' is missing"));
}

TEST_F(PackageTest, ChangesInAFolderAreSeenByVerify) {
  const path bundle = written(small_package(), PackageForm::kFolder);
  const auto change = [&](const path& file) {
    std::string text = read_file(file);
    text.at(3) = static_cast<char>(text.at(3) ^ 1);
    write_file(file, text);
  };
  const auto package = Package::open(bundle);
  ASSERT_TRUE(package.ok());
  change(bundle / "model/portable/model.onnx");
  for (const auto& [uri, folder] : package->assets())
    change(bundle / folder / "tokenizer.json");
  const auto report = package->verify();
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->damages.size(), 2U);
  EXPECT_THAT(report->damages[0].to_string(), HasSubstr("'model/portable/model.onnx' was changed"));
  EXPECT_THAT(report->damages[1].to_string(), HasSubstr("the shared asset in 'shared_assets/sha256-"));
  const Variant& portable = *Package::find_variant(package->manifest().components.at(0), "portable");
  EXPECT_EQ(package->open_verified_file(portable, "model.onnx").status().code(), StatusCode::kInvalidModel);
  EXPECT_EQ(package->open_verified_file(portable, portable.latebind->assets.at("model_folder") + "/tokenizer.json")
                .status()
                .code(),
            StatusCode::kInvalidModel);
  write_file(bundle / "README", "hello");
  EXPECT_EQ(package->verify()->unsummed, std::vector<std::string>{"README"});
  EXPECT_EQ(package->open_verified_file(portable, "none").status().code(), StatusCode::kNotFound);
}

TEST_F(PackageTest, AFolderIsReplacedOnlyWhenAllOfItIsOurs) {
  const path bundle = written(small_package(), PackageForm::kFolder);
  ASSERT_EQ(small_package(30).write(bundle, PackageForm::kFolder).code(), StatusCode::kOk);
  const auto refused = [&](const path& place) {
    const auto before = files_below(place);
    const Status status = small_package().write(place, PackageForm::kFolder);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
    EXPECT_EQ(files_below(place), before) << "not even a part of it is gone";
    EXPECT_THAT(status.to_string(), HasSubstr("is not replaced"));
    return status.to_string();
  };
  // A web application has a manifest.json, too.
  write_file(place("app/manifest.json"), R"({"name": "app", "icons": []})");
  write_file(place("app/src/main.js"), "a year's work");
  EXPECT_THAT(refused(place("app")), HasSubstr("manifest.json"));
  // Somebody's file beside ours, in any depth, a shared asset's folder included.
  std::vector<std::string> folders{"", "model", "model/portable", "mine"};
  const auto package = Package::open(bundle);
  ASSERT_TRUE(package.ok());
  for (const auto& [uri, folder] : package->assets())
    folders.push_back(folder);
  for (const std::string& folder : folders) {
    const path file = bundle / folder / "notes.txt";
    write_file(file, "mine");
    EXPECT_THAT(refused(bundle), HasSubstr(folder.starts_with("shared") ? folder : "notes.txt")) << folder;
    std::filesystem::remove(file);
  }
  std::filesystem::remove(bundle / "mine");
  // A file of ours that somebody has worked on.
  const std::string model = read_file(bundle / "model/portable/model.onnx");
  write_file(bundle / "model/portable/model.onnx", std::string(model.size(), 'x'));
  EXPECT_THAT(refused(bundle), HasSubstr("model/portable/model.onnx"));
  write_file(bundle / "model/portable/model.onnx", model);
  EXPECT_EQ(small_package().write(bundle, PackageForm::kFolder).code(), StatusCode::kOk);
}

TEST_F(PackageTest, APackageOfAnotherProgramIsNotReplaced) {
  PackageWriter foreign({.name = "toy"});
  ASSERT_TRUE(foreign.add_variant("c", {.name = "v", .files = {{"weights", bytes_of("theirs")}}}).ok());
  const path folder = written(foreign, PackageForm::kFolder);
  EXPECT_EQ(small_package().write(folder, PackageForm::kFolder).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read_file(folder / "c/v/weights"), "theirs");
}

TEST_F(PackageTest, IsRefusedWhenCutOffAnywhere) {
  const std::string zip = read_file(written(small_package(), PackageForm::kZip));
  ASSERT_TRUE(open_bytes(zip).ok());
  ASSERT_LT(zip.size(), 40'000U);
  for (std::size_t size = 0; size < zip.size(); ++size)
    ASSERT_FALSE(open_bytes(zip.substr(0, size)).ok()) << size;
}

// A flipped byte is refused on opening, found by verify(), or changes nothing that anybody reads.
void expect_flips_are_seen(const std::string& zip, const std::vector<std::pair<std::size_t, unsigned>>& flips) {
  const auto original = open_bytes(zip);
  ASSERT_TRUE(original.ok()) << original.status().to_string();
  const Content expected = content_of(*original);
  std::size_t refused = 0;
  std::size_t found = 0;
  for (const auto& [at, mask] : flips) {
    std::string flipped = zip;
    flipped[at] = static_cast<char>(static_cast<unsigned char>(flipped[at]) ^ mask);
    const auto package = open_bytes(flipped);
    if (!package.ok()) {
      ++refused;
      continue;
    }
    const auto report = package->verify();
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    if (!report->ok()) {
      ++found;
      continue;
    }
    ASSERT_EQ(content_of(*package), expected) << "byte " << at << ", mask " << mask;
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(found, 0U);
}

TEST_F(PackageTest, EveryFlippedByteOfASmallOneIsSeen) {
  const std::string zip = read_file(written(small_package(), PackageForm::kZip));
  std::vector<std::pair<std::size_t, unsigned>> flips;
  for (std::size_t at = 0; at < zip.size(); ++at) {
    // Padding is the larger part, and all alike.
    if (zip[at] != 0 || at % 16 == 0) flips.emplace_back(at, 1U << (at % 8));
  }
  expect_flips_are_seen(zip, flips);
}

TEST_F(PackageTest, TenThousandFlippedBitsOfALargeOneAreSeen) {
  const std::string zip = read_file(written(small_package(90'000, 8), PackageForm::kZip));
  ASSERT_GT(zip.size(), 1'000'000U);
  // Seen without copying the whole for each: the bit is put back.
  const auto original = open_bytes(zip);
  ASSERT_TRUE(original.ok());
  const Content expected = content_of(*original);
  auto work = std::make_shared<std::string>(zip);
  const SharedBytes shared{work, std::as_bytes(std::span(work->data(), work->size()))};
  std::minstd_rand random(7);
  std::size_t harmless = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t at = random() % zip.size();
    char& byte = (*work)[at];
    const char before = byte;
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (random() % 8)));
    const auto files = PackageFiles::from_zip(shared, "a bundle");
    if (files.ok()) {
      const auto package = Package::from_files(*files);
      // One changed entry shows in its own sum; reading all of a megabyte 10,000 times would take minutes.
      const auto all = files->list();
      ASSERT_TRUE(all.ok());
      const auto* data = reinterpret_cast<const std::byte*>(&byte);
      bool seen = !package.ok();
      bool in_data = false;
      for (const auto& file : *all) {
        const auto bytes = files->read(file.path);
        ASSERT_TRUE(bytes.ok());
        if (data < bytes->bytes.data() || data >= bytes->bytes.data() + bytes->bytes.size()) continue;
        in_data = true;
        seen = seen || !files->check(file.path).ok();
      }
      if (!seen) {
        ASSERT_FALSE(in_data) << "byte " << at;
        ASSERT_EQ(package->manifest(), expected.manifest) << "byte " << at;
        ASSERT_EQ(all->size(), expected.files.size());
        for (const auto& file : *all)
          ASSERT_EQ(file.size, expected.files.at(file.path).size());
        ++harmless;
      }
    }
    byte = before;
  }
  EXPECT_LT(harmless, 1'000U) << "only padding is free";
}

TEST_F(PackageTest, OpeningReadsNoPayload) {
  const auto time_to_open = [this](std::size_t size) {
    PackageWriter writer({.name = "toy"});
    LatebindInfo info;
    info.target = "cpu";
    info.model = "blob";
    EXPECT_TRUE(
        writer.add_variant("c", {.name = "v", .latebind = info, .files = {{"blob", bytes_of(std::string(size, 'x'))}}})
            .ok());
    const path bundle = written(writer, PackageForm::kZip);
    auto best = std::chrono::nanoseconds::max();
    for (int i = 0; i < 20; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto package = Package::open(bundle);
      best = std::min(best, std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin));
      EXPECT_TRUE(package.ok());
    }
    return best;
  };
  // Reading 20 MiB takes longer than that on any machine, even without comparing a sum.
  EXPECT_LT(time_to_open(20 << 20), time_to_open(1) + std::chrono::milliseconds(2));
}

}  // namespace
}  // namespace latebind::core
