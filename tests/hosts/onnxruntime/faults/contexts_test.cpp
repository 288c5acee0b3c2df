// Compiled models: as they were written, damaged, of another version, and with a path that leads elsewhere.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "core/bundle/crc32.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/faults/visit.h"

namespace latebind::test {
namespace {

namespace fs = std::filesystem;

class ContextTest : public ProviderFaultTest {
 protected:
  void SetUp() override {
    ProviderFaultTest::SetUp();
    auto made = platform::TemporaryFolder::create("latebind-contexts");
    ASSERT_TRUE(made.ok());
    folder_ = std::make_unique<platform::TemporaryFolder>(*std::move(made));
    fs::create_directory(folder_->path() / "model");
  }
  [[nodiscard]] std::string file(const char* name) const { return (folder_->path() / "model" / name).string(); }
  HostNode compiled(bool embedded) {
    Scene scene{.settings = {{"ep.context_enable", "1"}, {"ep.context_file_path", file("model_ctx.onnx")}},
                .graph = plus_one("2,2")};
    scene.graph.shape = {2, 2};
    if (embedded) scene.settings["ep.context_embed_mode"] = "1";
    const Outcome outcome = visit(scene);
    EXPECT_EQ(outcome.error, "");
    EXPECT_TRUE(outcome.is_right);
    EXPECT_EQ(outcome.contexts.size(), 1U);
    return outcome.contexts.empty() ? HostNode{} : outcome.contexts[0];
  }
  static std::string& payload(HostNode& node) {
    for (HostAttribute& attribute : node.attributes)
      if (attribute.name == "ep_cache_context") return attribute.bytes;
    ADD_FAILURE() << "no ep_cache_context";
    return node.attributes.at(0).bytes;
  }
  Outcome load(const HostNode& node) const {
    Scene scene{.graph = of_context(node, file("model_ctx.onnx"))};
    scene.graph.shape = {2, 2};
    return visit(scene);
  }

  std::unique_ptr<platform::TemporaryFolder> folder_;
};

auto speaks_of(std::string text) {
  return [text = std::move(text)](const std::string& line) { return line.find(text) != std::string::npos; };
}

TEST_F(ContextTest, AnEmbeddedOneLoads) {
  const Outcome outcome = load(compiled(true));
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_right);
  EXPECT_TRUE(fs::is_empty(file("")));
}

TEST_F(ContextTest, OneBesideTheModelLoads) {
  HostNode node = compiled(false);
  EXPECT_EQ(payload(node).find("model_ctx_latebind_"), 0U) << payload(node);
  EXPECT_TRUE(fs::exists(file(payload(node).c_str())));
  const Outcome outcome = load(node);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_right);
}

TEST_F(ContextTest, ADamagedOneIsAnErrorOrRight) {
  HostNode node = compiled(true);
  const std::string whole = payload(node);
  std::mt19937 random(1);
  std::size_t errors = 0;
  for (int i = 0; i < 120; ++i) {
    std::string damaged = whole;
    if (i % 3 == 0) {
      damaged.resize(random() % whole.size());
    } else {
      for (int k = 0; k <= i % 4; ++k)
        damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    }
    payload(node) = damaged;
    const Outcome outcome = load(node);
    EXPECT_NE(outcome.error, "WRONG NUMBERS") << i;
    EXPECT_TRUE(outcome.is_right || !outcome.error.empty()) << i;
    if (!outcome.error.empty()) {
      ++errors;
      EXPECT_NE(outcome.error.find("Latebind"), std::string::npos) << outcome.error;
    }
    expect_balance("damage " + std::to_string(i));
  }
  EXPECT_GT(errors, 40U);
}

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, size);
  return number;
}

// With another manifest of the same length, whose checksum is right.
std::string with_manifest(std::string zip, const std::string& from, const std::string& to) {
  constexpr std::string_view kName = "manifest.json";
  const std::size_t name = zip.find(kName);
  const std::size_t header = name - 30;
  EXPECT_EQ(number_at(zip, header + 8, 2), 0U) << "the manifest is compressed";
  const std::size_t begin = name + kName.size() + number_at(zip, header + 28, 2);
  std::string manifest = zip.substr(begin, number_at(zip, header + 22, 4));
  const std::uint32_t before = core::crc32(std::as_bytes(std::span(manifest)));
  EXPECT_NE(manifest.find(from), std::string::npos) << manifest;
  manifest.replace(manifest.find(from), from.size(), to);
  zip.replace(begin, manifest.size(), manifest);
  const std::uint32_t after = core::crc32(std::as_bytes(std::span(manifest)));
  const std::string old_sum(reinterpret_cast<const char*>(&before), sizeof before);
  const std::string new_sum(reinterpret_cast<const char*>(&after), sizeof after);
  for (std::size_t at = zip.find(old_sum); at != std::string::npos; at = zip.find(old_sum, at + 1))
    zip.replace(at, new_sum.size(), new_sum);
  return zip;
}

TEST_F(ContextTest, OneOfAnotherVersionIsRefusedByName) {
  HostNode node = compiled(true);
  payload(node) = with_manifest(payload(node), "\"1.0\"", "\"9.0\"");
  const Outcome outcome = load(node);
  EXPECT_NE(outcome.error.find("schema_version"), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.error.find("9.0"), std::string::npos) << outcome.error;
}

TEST_F(ContextTest, OneForAnotherVersionOfTheVendorIsCompiledAgain) {
  const HostNode node = compiled(true);
  fake.script("version 2027.1.0-fake\n");
  const Outcome outcome = load(node);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_right);
}

TEST_F(ContextTest, ADamagedBlobIsInTheLogAndThePortableModelIsCompiled) {
  HostNode node = compiled(true);
  EXPECT_EQ(std::ranges::count_if(load(node).log, speaks_of("cannot be read")), 0);
  std::string& bundle = payload(node);
  // The blob of the fake library, which says of itself that it is one.
  const std::size_t blob = bundle.find("fake-blob");
  ASSERT_NE(blob, std::string::npos);
  bundle[blob] = '#';
  const Outcome outcome = load(node);
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.is_right);
  EXPECT_EQ(std::ranges::count_if(outcome.log, speaks_of("variant 'cpu-openvino-f32' cannot be read")), 1);
}

TEST_F(ContextTest, AFileMustBeInTheModelsFolder) {
  HostNode node = compiled(false);
  const std::string good = file(payload(node).c_str());
  fs::create_directory(file("inner"));
  fs::copy_file(good, file("outer.lbundle"));
  fs::create_symlink(file("outer.lbundle"), file("inner/link.lbundle"));
  fs::copy_file(good, file("inner/here.lbundle"));
  const auto of = [&](const std::string& name) {
    payload(node) = name;
    return visit({.graph = of_context(node, file("inner/model.onnx"))});
  };
  for (const char* name : {"../outer.lbundle", "inner/../../outer.lbundle", "/etc/passwd", "link.lbundle",
                           "missing.lbundle", ".", "", "here.lbundle/", "\xff\xfe"}) {
    const Outcome outcome = of(name);
    EXPECT_NE(outcome.error.find("Latebind"), std::string::npos) << name << ": " << outcome.error;
    EXPECT_FALSE(outcome.is_right) << name;
  }
  EXPECT_EQ(of("here.lbundle").error, "");
}

TEST_F(ContextTest, AFullOrMissingFolderIsAnErrorAndLeavesNoFile) {
  Scene scene{.settings = {{"ep.context_enable", "1"}, {"ep.context_file_path", file("missing/model_ctx.onnx")}},
              .graph = plus_one("2,2")};
  const Outcome outcome = visit(scene);
  EXPECT_NE(outcome.error.find("cannot write"), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.error.find("missing/model_ctx_latebind_….lbundle"), std::string::npos) << outcome.error;
  EXPECT_TRUE(fs::is_empty(file("")));
}

}  // namespace
}  // namespace latebind::test
