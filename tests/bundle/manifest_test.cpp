// What a package may say of itself, in every form that an author may write it, and what is refused.
#include "core/bundle/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/bundle/asset.h"
#include "core/bundle/package.h"
#include "core/platform/digest.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/bundle/support.h"
#include "tests/support/json.h"

namespace latebind::core {
namespace {

using nlohmann::json;
using testing::bytes_of;
using testing::HandZip;
using ::testing::HasSubstr;
using testing::read_file;
using testing::text_of;
using testing::write_file;

constexpr const char* kSum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

class ManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = platform::TemporaryFolder::create("latebind-manifest-test");
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    folder_.emplace(*std::move(folder));
  }
  void put(const std::string& path, std::string_view text) { write_file(folder_->path() / path, text); }
  void put_manifest(const json& manifest) { put("manifest.json", manifest.dump()); }

  // The package in the folder, and the same as a ZIP: both must be read alike.
  Result<Manifest> read() {
    const auto files = PackageFiles::open(folder_->path());
    if (!files.ok()) return files.status();
    auto from_folder = read_manifest(*files);
    HandZip zip;
    const auto all = files->list();
    if (!all.ok()) return all.status();
    for (const auto& file : *all) {
      // An empty file stands for an empty folder here.
      zip.entries.push_back({.name = file.path, .data = read_file(folder_->path() / file.path)});
    }
    const auto zipped = PackageFiles::from_zip(bytes_of(zip.bytes()), "a zip");
    EXPECT_TRUE(zipped.ok()) << zipped.status().to_string();
    const auto from_zip = read_manifest(*zipped);
    EXPECT_EQ(from_folder.ok(), from_zip.ok()) << from_folder.status().to_string() << from_zip.status().to_string();
    if (from_folder.ok() && from_zip.ok()) {
      EXPECT_EQ(*from_folder, *from_zip);
    }
    return from_folder;
  }
  std::string error_of(const json& manifest) {
    put_manifest(manifest);
    const auto read_back = read();
    if (read_back.ok()) return "it was read";
    EXPECT_EQ(read_back.status().to_string().find('\n'), std::string::npos);
    return read_back.status().to_string();
  }
  // With one variant that is all right but for what is given.
  std::string error_of_variant(const json& variant) {
    put("v/model.onnx", "model");
    return error_of({{"schema_version", "1.0"}, {"components", {{"c", {{"variants", {{"v", variant}}}}}}}});
  }
  std::string error_of_slot(const json& slot) { return error_of_variant({{"executor_info", {{"latebind", slot}}}}); }

  std::optional<platform::TemporaryFolder> folder_;
};

json least() {
  return {{"schema_version", "1.0"}, {"components", {{"c", {{"variants", json::object()}}}}}};
}

TEST_F(ManifestTest, TheLeastIsEnough) {
  put_manifest(least());
  const auto manifest = read();
  ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
  EXPECT_EQ(manifest->components.at(0).name, "c");
  EXPECT_EQ(manifest->layout, PackageLayout::kPortable);
}

TEST_F(ManifestTest, WhatOthersAuthoredIsRead) {
  const std::string uri = std::string("sha256:") + kSum;
  put("decoder/component.json", json({{"component_name", "decoder"},
                                      {"variants",
                                       {{"cpu",
                                         {{"variant_directory", "./cpu/"},
                                          {"ep", "CPUExecutionProvider"},
                                          {"executor_info", {{"ort", "ort_info.json"}, {"other", {{"a", 1}}}}}}},
                                        {"without a folder", json::object()}}}})
                                    .dump());
  put("decoder/cpu/model.onnx", "model");
  put("decoder/cpu/ort_info.json", R"({"model_file": "model.onnx"})");
  put("file/any.json", json({{"variants", {{"gpu", {{"device", "gpu"}, {"compatibility_string", "x"}}}}}}).dump());
  put("file/gpu/model.onnx", "model");
  put("encoder/cuda/model.onnx", "model");
  put("elsewhere/tokenizer.json", "{}");
  put_manifest({{"schema_version", "1.0"},
                {"package_name", "phi"},
                {"layout", "portable"},
                {"components",
                 {{"decoder", "decoder"},
                  {"file", "file/any.json"},
                  {"encoder", {{"variants", {{"cuda", {{"variant_directory", "encoder/cuda"}}}}}}}}},
                {"shared_assets", {{uri, "elsewhere"}}},
                {"additional_metadata", {{"producer", "somebody"}}}});
  const auto manifest = read();
  ASSERT_TRUE(manifest.ok()) << manifest.status().to_string();
  ASSERT_EQ(manifest->components.size(), 3U);
  const Variant& cpu = manifest->components[0].variants.at(0);
  EXPECT_EQ(cpu.folder, "decoder/cpu");
  EXPECT_EQ(cpu.ep, "CPUExecutionProvider");
  EXPECT_EQ(cpu.executor_info.at("ort")["model_file"], "model.onnx");
  EXPECT_EQ(cpu.executor_info.at("other")["a"], 1);
  EXPECT_EQ(manifest->components[0].variants.at(1).folder, std::nullopt);
  EXPECT_EQ(manifest->components[1].variants.at(0).folder, "encoder/cuda");
  EXPECT_EQ(manifest->components[2].variants.at(0).folder, "file/gpu");
  EXPECT_EQ(manifest->shared_assets.at(uri), "elsewhere");
  EXPECT_EQ(manifest->additional_metadata["producer"], "somebody");
}

TEST_F(ManifestTest, TheMajorVersionDecides) {
  json manifest = least();
  for (const json& version : {json("1.0"), json("1.7"), json(1)}) {
    manifest["schema_version"] = version;
    EXPECT_EQ(error_of(manifest), "it was read") << version;
  }
  for (const json& version :
       {json("2.0"), json("0.9"), json(2), json("1"), json("1."), json("1.x"), json("x"), json(""), json(1.5),
        json(nullptr), json(-1), json("1.0.0"), json("99999999999999999999.0")}) {
    manifest["schema_version"] = version;
    EXPECT_THAT(error_of(manifest), HasSubstr("'schema_version'")) << version;
  }
  manifest.erase("schema_version");
  EXPECT_THAT(error_of(manifest), HasSubstr("'schema_version' is missing"));
}

TEST_F(ManifestTest, AKeyThatIsNotKnownIsAnErrorUnlessTheMinorVersionIsNewer) {
  json manifest = least();
  manifest["foo"] = 1;
  EXPECT_THAT(error_of(manifest), HasSubstr("the key 'foo' is unknown"));
  manifest["schema_version"] = "1.1";
  EXPECT_EQ(error_of(manifest), "it was read");
  manifest = least();
  manifest["components"]["c"]["foo"] = 1;
  EXPECT_THAT(error_of(manifest), HasSubstr("component 'c': the key 'foo'"));
  EXPECT_THAT(error_of_variant({{"foo", 1}}), HasSubstr("variant 'v': the key 'foo'"));
}

TEST_F(ManifestTest, PathsThatLeadOutAreRefused) {
  for (const char* path : {"..", "../v", "v/../..", "/etc", "c:/v", "v\\..", ""})
    EXPECT_THAT(error_of_variant({{"variant_directory", path}}), HasSubstr("the path '")) << path;
  EXPECT_THAT(error_of_variant({{"variant_directory", "w"}}), HasSubstr("its folder 'w' is missing"));
  EXPECT_THAT(error_of_variant({{"variant_directory", 1}}), HasSubstr("must be a string"));
  EXPECT_THAT(error_of_variant({{"executor_info", {{"ort", "../manifest.json"}}}}), HasSubstr("'..'"));
  EXPECT_THAT(error_of_variant({{"executor_info", {{"ort", "none.json"}}}}), HasSubstr("is missing"));
  EXPECT_THAT(error_of_variant({{"executor_info", {{"ort", 1}}}}), HasSubstr("must be an object"));
  json manifest = least();
  manifest["components"]["c"] = "../c";
  EXPECT_THAT(error_of(manifest), HasSubstr("'..'"));
  manifest["components"]["c"] = "c";
  EXPECT_THAT(error_of(manifest), HasSubstr("has no file 'c'"));
  manifest["components"]["c"] = 1;
  EXPECT_THAT(error_of(manifest), HasSubstr("must be an object or a path"));
  manifest = least();
  manifest["shared_assets"] = {{std::string("sha256:") + kSum, "/etc"}};
  EXPECT_THAT(error_of(manifest), HasSubstr("absolute"));
  manifest["shared_assets"] = {{"sha256:12", "v"}};
  EXPECT_THAT(error_of(manifest), HasSubstr("is not a shared asset"));
}

TEST_F(ManifestTest, LinksThatLeadOutAreRefused) {
  put("v/model.onnx", "model");
  std::filesystem::create_symlink("/etc", folder_->path() / "out");
  std::filesystem::create_symlink("v", folder_->path() / "in");
  json manifest = least();
  manifest["components"]["c"]["variants"] = {{"v", {{"variant_directory", "in"}}}};
  put_manifest(manifest);
  const auto files = PackageFiles::open(folder_->path());
  ASSERT_TRUE(files.ok());
  EXPECT_TRUE(read_manifest(*files).ok()) << "a link that stays inside is followed";
  EXPECT_TRUE(files->read("in/model.onnx").ok());
  EXPECT_EQ(files->read("out/passwd").status().code(), StatusCode::kInvalidModel);
  EXPECT_FALSE(files->has_folder("out") || files->has_file("out/passwd"));
  EXPECT_EQ(files->list().status().code(), StatusCode::kInvalidModel);
}

TEST_F(ManifestTest, AnInstalledLayoutIsReadOnlyWhenItIsAllowed) {
  auto other = platform::TemporaryFolder::create("latebind-manifest-test");
  ASSERT_TRUE(other.ok());
  write_file(other->path() / "model.onnx", "model");
  json manifest = least();
  manifest["layout"] = "installed";
  manifest["components"]["c"]["variants"] = {{"v", {{"variant_directory", other->path().string()}}}};
  put_manifest(manifest);
  EXPECT_EQ(Package::open(folder_->path()).status().code(), StatusCode::kUnsupported);
  const auto package = Package::open(folder_->path(), {.installed = InstalledLayout::kAllowed});
  ASSERT_TRUE(package.ok()) << package.status().to_string();
  const Variant& variant = package->manifest().components.at(0).variants.at(0);
  const auto model = package->open_file(variant, "model.onnx");
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(text_of(*model), "model");
  manifest["layout"] = "portabel";
  EXPECT_THAT(error_of(manifest), HasSubstr("did you mean portable?"));
}

TEST_F(ManifestTest, WhatIsNoManifestIsRefused) {
  EXPECT_EQ(read().status().code(), StatusCode::kNotFound);
  EXPECT_THAT(error_of(json::array()), HasSubstr("expected an object"));
  EXPECT_THAT(error_of({{"schema_version", "1.0"}}), HasSubstr("'components' is missing"));
  EXPECT_THAT(error_of({{"schema_version", "1.0"}, {"components", json::object()}}), HasSubstr("1 to 256 components"));
  put("manifest.json", R"({"schema_version": "1.0", "schema_version": "1.0"})");
  EXPECT_THAT(read().status().to_string(), HasSubstr("twice"));
  put("manifest.json", "{");
  EXPECT_THAT(read().status().to_string(), HasSubstr("manifest.json: not JSON"));
}

TEST_F(ManifestTest, LatebindsSlotIsTyped) {
  json slot = {{"target", "cpu"}};
  EXPECT_EQ(error_of_slot(slot), "it was read");
  slot["something new"] = 1;
  EXPECT_EQ(error_of_slot(slot), "it was read");
  for (const auto& [key, value, words] :
       std::vector<std::tuple<const char*, json, const char*>>{{"target", 1, "'target' must be a string"},
                                                               {"target", nullptr, "'target' is missing"},
                                                               {"backend", 1, "'backend'"},
                                                               {"version", 3, "update Latebind"},
                                                               {"version", 0, "'version'"},
                                                               {"shapes", "any", "'shapes'"},
                                                               {"shapes", json::array({1}), "a shape must be"},
                                                               {"shapes", {{1.5}}, "the dimension 1.5"},
                                                               {"shapes", {{-2}}, "the dimension -2"},
                                                               {"model", "../model", "the path"},
                                                               {"model", "sha256:1", "is not a shared asset"},
                                                               {"assets", {{"w", 1}}, "must be a string"},
                                                               {"assets", {{"w", "weights"}}, "is not a shared asset"},
                                                               {"files", 1, "'files'"},
                                                               {"files", {1}, "'files'"}}) {
    json wrong = {{"target", "cpu"}};
    wrong[key] = value;
    EXPECT_THAT(error_of_slot(wrong), HasSubstr(words)) << key << " " << value;
  }
  const json file = {{"path", "model.onnx"}, {"bytes", 5}, {"sha256", kSum}};
  EXPECT_EQ(error_of_slot({{"target", "cpu"}, {"files", {file}}}), "it was read");
  EXPECT_THAT(error_of_slot({{"target", "cpu"}, {"files", {file, file}}}), HasSubstr("twice"));
  for (const auto& [key, value] : std::vector<std::pair<const char*, json>>{
           {"path", ""}, {"path", "../a"}, {"bytes", -1}, {"bytes", "5"}, {"sha256", ""}, {"sha256", "ABC"}}) {
    json wrong = file;
    wrong[key] = value;
    EXPECT_NE(error_of_slot({{"target", "cpu"}, {"files", {wrong}}}), "it was read") << key << " " << value;
  }
}

TEST(LatebindInfoTest, WhatIsWrittenIsRead) {
  LatebindInfo info;
  info.target = "npu:v73";
  info.backend = "toy";
  info.device = "NPU.v73";
  info.runtime_version = "2.51";
  info.precision = "f16";
  info.format = "blob";
  info.model = "model.blob";
  info.shapes = {{1, 32}, {1, -1}};
  info.assets = {{"weights", std::string("sha256:") + kSum + "/model.safetensors"}};
  info.files = {{"model.blob", 12, kSum}};
  info.left_to_cpu = {.count = 2, .first = {{"NonZero", "find", "i64 [2,?]"}}};
  info.refused = {{.variant = "npu-v81-f16",
                   .target = "npu:v81",
                   .backend = "toy",
                   .device = "NPU.v81",
                   .runtime_version = "2.51",
                   .precision = "f16",
                   .shapes = {{1, 32}},
                   .reason = "no tiling",
                   .nodes = {.count = 1, .first = {{"Det", "", ""}}}},
                  {.variant = "npu-v85-f16", .target = "npu:v85", .reason = "why not"}};
  info.more["from_the_future"] = true;
  const auto again = parse_latebind_info(to_json(info), "here");
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_EQ(*again, info);
  info.shapes.clear();
  EXPECT_EQ(to_json(info)["shapes"], "dynamic");
}

TEST(LatebindInfoTest, WhatWasRefusedIsReadWithinBounds) {
  LatebindInfo info;
  info.target = kPortableTarget;
  info.refused.resize(kRefusedTargetsMax);
  EXPECT_TRUE(parse_latebind_info(to_json(info), "here").ok());
  info.refused.resize(kRefusedTargetsMax + 1);
  EXPECT_FALSE(parse_latebind_info(to_json(info), "here").ok());
  info.refused.resize(1);
  info.refused[0].nodes.count = 100;
  info.refused[0].nodes.first.resize(LeftNodes::kFirstMax);
  const Json taken = to_json(info);
  EXPECT_TRUE(parse_latebind_info(taken, "here").ok());
  const auto good = nlohmann::json::parse(taken.dump());
  const auto refuse = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json changed = good;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    EXPECT_EQ(parse_latebind_info(json_of(changed), "here").status().code(), StatusCode::kInvalidModel) << pointer;
  };
  refuse("/refused", "all");
  refuse("/refused/0", 7);
  refuse("/refused/0/reason", nlohmann::json::array());
  refuse("/refused/0/shapes", nlohmann::json::array({nlohmann::json::array({"x"})}));
  refuse("/refused/0/nodes", nlohmann::json::array());
  refuse("/refused/0/nodes/count", -1);
  refuse("/refused/0/nodes/first/64", nlohmann::json::object());  // one more
  refuse("/refused/0/nodes/first/0", "Det");
  refuse("/left_to_cpu", 3);
}

TEST(AssetTest, IsNamedByTheLinesOfItsFiles) {
  const std::string a = platform::sha256_hex(std::as_bytes(std::span("1", 1)));
  const std::string b = platform::sha256_hex(std::as_bytes(std::span("2", 1)));
  const std::string lines = b + "  B/x\n" + a + "  a\n";
  EXPECT_EQ(asset_uri({{"a", a}, {"B/x", b}}),
            "sha256:" + platform::sha256_hex(std::as_bytes(std::span(lines.data(), lines.size()))));
}

TEST(AssetTest, ReferencesAreTakenApart) {
  const std::string uri = std::string("sha256:") + kSum;
  const auto ref = parse_asset_ref(uri + "/a/b", "here");
  ASSERT_TRUE(ref.ok());
  EXPECT_EQ(ref->uri, uri);
  EXPECT_EQ(ref->path, "a/b");
  EXPECT_EQ(parse_asset_ref(uri, "here")->path, "");
  EXPECT_EQ(default_asset_folder(uri), std::string("shared_assets/sha256-") + kSum);
  EXPECT_EQ(asset_uri_of_folder(std::string("sha256-") + kSum), uri);
  EXPECT_EQ(asset_uri_of_folder("sha256-12"), "");
  for (const std::string& wrong :
       {uri + "/../a", uri + "//etc/../x", uri + "0", std::string("sha256:"), std::string("a")})
    EXPECT_FALSE(parse_asset_ref(wrong, "here").ok()) << wrong;
}

}  // namespace
}  // namespace latebind::core
