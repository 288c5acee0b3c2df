// Programs of an embedding model where native:CPU computes them, without any vendor and after one, or a plug-in does.
#include <sys/utsname.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "embedding/bundle_parts.h"
#include "embedding/folder/model_folder.h"
#include "tests/hosts/executorch/delegate/bundle.h"
#include "tests/hosts/executorch/delegate/fixture.h"
#include "tests/support/vectors.h"

namespace latebind::test {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kTiny = std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tiny-bert";
// What the fake's NPU answers instead, with the same tensors.
constexpr std::string_view kOnNpu =
    "input input_ids i64 ?,?\ninput attention_mask i64 ?,?\noutput sentence_embedding encode 32\n";
constexpr const char* kNpuAlone = "device NPU\n";

class NativeTest : public DelegateTest {
 protected:
  // The program that `latebind compile` writes of the tiny model, with a blob for the NPU where one is asked for.
  std::string program(std::vector<pte::CompileSpec> specs, bool npu = false) {
    const auto model = embedding::ModelFolder::open(kTiny / "f32");
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    const auto graph = embedding::build_model(model->documents());
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    core::PackageWriter writer({.name = "tiny"});
    EXPECT_TRUE(embedding::add_portable(*model, *graph, writer).ok());
    if (npu) add_npu_blob(writer, fake_blob("NPU", kOnNpu));
    auto spec = program_of({"input_ids i64 ?1,?24", "attention_mask i64 ?1,?24"}, {"sentence_embedding f32 ?1,32"});
    spec.compile_specs = std::move(specs);
    // Of its own name: an earlier one may be mapped still.
    return folder.write(spec, zip_of(writer, folder), "program" + std::to_string(++programs) + ".pte");
  }

  // Every text of the tiny model against what a reference gives.
  static void expect_reference_vectors(Module& module) {
    std::ifstream in(kTiny / "expected.json");
    const auto expected = nlohmann::json::parse(in);
    ASSERT_FALSE(expected["ids"].empty());
    for (std::size_t i = 0; i < expected["ids"].size(); ++i) {
      TextInputs inputs(expected["ids"][i].get<std::vector<std::int32_t>>());
      const auto outputs = module.forward(inputs.values());
      ASSERT_TRUE(outputs.ok()) << said();
      EXPECT_GT(cosine(floats((*outputs)[0]), expected["vectors"]["f32"]["mean"][i].get<std::vector<float>>()),
                0.999999)
          << "text " << i;
    }
  }

  int programs = 0;
};

TEST_F(NativeTest, AnEmbeddingModelNeedsNoVendor) {
  fake.remove();
  for (const auto mode : {Module::LoadMode::Mmap, Module::LoadMode::File}) {
    clear_log();
    Module module(program({{"device", "native:CPU"}, {"strict", "true"}}), mode);
    ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
    EXPECT_EQ(get("active_device"), "native:CPU");
    expect_reference_vectors(module);
  }
}

TEST_F(NativeTest, ItAnswersWhereTheVendorIsGoneAndStrictRefusesThat) {
  fake.remove();
  Module module(program({}));
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "native:CPU");
  EXPECT_THAT(said(), HasSubstr("openvino: "));
  Module strict(program({{"strict", "true"}}));
  EXPECT_EQ(strict.load_method("forward"), et::Error::NotSupported);
}

TEST_F(NativeTest, WhatIsDamagedIsRefused) {
  fake.remove();
  const auto file = program({});
  std::ifstream in(kTiny / "f32/model.safetensors", std::ios::binary);
  const std::string weights(std::istreambuf_iterator<char>(in), {});
  std::ifstream whole(file, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(whole), {});
  const auto at = bytes.find(weights);
  ASSERT_NE(at, std::string::npos);
  bytes[at + weights.size() / 2] = static_cast<char>(bytes[at + weights.size() / 2] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(Module(file).load_method("forward"), et::Error::InvalidProgram);
  EXPECT_THAT(said(), HasSubstr("is damaged: its CRC-32"));
}

TEST_F(NativeTest, TheNpuDiesItAnswersAndTheNpuComesBack) {
  ASSERT_EQ(set("failover.backoff_first_ms", "10"), et::Error::Ok) << said();
  ASSERT_EQ(set("failover.backoff_most_ms", "20"), et::Error::Ok) << said();
  fake.script(kNpuAlone);
  Module module(program({{"precision", "f16,f32"}}, /*npu=*/true));
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:NPU");
  TextInputs inputs({2, 3});
  ASSERT_TRUE(module.forward(inputs.values()).ok()) << said();
  fake.script(std::string(kNpuAlone) + "on NPU fail run * -1 the driver died\n");
  expect_reference_vectors(module);
  EXPECT_EQ(get("active_device"), "native:CPU");
  EXPECT_THAT(said(), HasSubstr("the driver died"));
  fake.script(kNpuAlone);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (get("active_device") != "openvino:NPU" && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(get("active_device"), "openvino:NPU");
  EXPECT_TRUE(module.forward(inputs.values()).ok()) << said();
  EXPECT_EQ(fake.defects(), "");
  EXPECT_EQ(set("failover.backoff_first_ms", ""), et::Error::Ok);
  EXPECT_EQ(set("failover.backoff_most_ms", ""), et::Error::Ok);
}

TEST_F(NativeTest, WhatItCannotComputeIsRefusedByName) {
  fake.remove();
  Module module(program({{"device", "native:CPU"}, {"input_shapes", "1x8,1x8"}}));
  EXPECT_EQ(module.load_method("forward"), et::Error::NotSupported);
  EXPECT_THAT(said(), HasSubstr("does not support static shapes"));
}

// Plug-ins of tests/found_plugins, whose manifests LATEBIND_BACKENDS names. What is remembered of them ends with the
// test.
class PluginTest : public NativeTest {
 protected:
  void SetUp() override {
    NativeTest::SetUp();
    fake.remove();
    setenv("LATEBIND_BACKENDS", folder.path().c_str(), 1);
    setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
    install("twin", LATEBIND_TEST_TWIN_PLUGIN);
    install("moody", LATEBIND_TEST_MOODY_PLUGIN);
  }

  void install(const std::string& name, const char* library) const {
    utsname machine{};
    uname(&machine);
    std::ofstream(folder.path() / (name + ".json"))
        << nlohmann::json{{"format", 1},
                          {"name", name},
                          {"library", library},
                          {"contract", {{"least", 1}, {"most", 1}}},
                          {"platform", std::string("linux-") + static_cast<const char*>(machine.machine)}};
  }
};

TEST_F(PluginTest, ComputesAnEmbeddingModel) {
  Module module(program({{"device", "twin:CPU"}, {"strict", "true"}}));
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "twin:CPU");
  expect_reference_vectors(module);
}

TEST_F(PluginTest, WhatItDoesNotTakeGoesOnToTheNextDevice) {
  Module module(program({{"device", "moody,twin"}}));
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "twin:CPU");
  EXPECT_THAT(said(), HasSubstr("moody adds two inputs of f32"));
  expect_reference_vectors(module);
}

TEST_F(PluginTest, OneThatCrashesIsAReasonAndTheHostLives) {
  setenv("LATEBIND_FAKE_PLUGIN", "crash_in_load", 1);
  Module module(program({{"device", "moody,twin"}}));
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "twin:CPU");
  EXPECT_THAT(said(), HasSubstr("crashed with signal 6 when it was tried in its own process"));
  unsetenv("LATEBIND_FAKE_PLUGIN");
}

}  // namespace
}  // namespace latebind::test
