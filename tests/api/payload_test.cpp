// Models in memory through the C interface: told by their first bytes, used in place, released once. On the fake
// OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/bundle/package_writer.h"
#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;
using latebind::test::with_openvino;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kPayloadModel = "<net/>\nfake-model\ninput x f32 2..8,2\noutput y plus-one 0\n";

class PayloadTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(lb_runtime_create(with_openvino(fake.file()).get(), &runtime), LB_OK); }
  void TearDown() override {
    lb_model_destroy(model);
    lb_runtime_destroy(runtime);
    EXPECT_EQ(released, loads);
  }

  lb_code load(const std::string& bytes, std::int32_t format = LB_FORMAT_BY_FIRST_BYTES) {
    lb_model_destroy(model);
    model = nullptr;
    // Kept until the end: the library may refer to it as long as it likes.
    const std::string& kept = *payloads.emplace_back(std::make_unique<std::string>(bytes));
    auto memory = LB_INIT(lb_model_memory);
    memory.format = format;
    memory.graph = kept.data();
    memory.graph_size = kept.size();
    memory.context = this;
    memory.release = [](void* context) { ++static_cast<PayloadTest*>(context)->released; };
    memory.name = "toy";
    ++loads;
    return lb_model_load_memory(runtime, &memory, load_options.get(), nullptr, &model);
  }

  std::string bundle() const {
    latebind::core::PackageWriter writer({.name = "toy", .version = "1"});
    latebind::core::LatebindInfo portable;
    portable.target = latebind::core::kPortableTarget;
    portable.format = "openvino-ir";
    portable.model = "model.xml";
    portable.precision = "f32";
    using latebind::core::SharedBytes;
    EXPECT_TRUE(writer
                    .add_variant("model", {.name = "portable",
                                           .latebind = portable,
                                           .files = {{"model.xml", SharedBytes::from_string(kPayloadModel)},
                                                     {"model.bin", SharedBytes::from_string("\1\2\3\4")}}})
                    .ok());
    const auto file = fake.folder() / "toy.lbundle";
    EXPECT_TRUE(writer.write(file, latebind::core::PackageForm::kZip).ok());
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::vector<float> run(std::vector<float> values) {
    const latebind::Result<latebind::Output> output = latebind::Output::create();
    const lb_tensor input =
        latebind::tensor_of(values.data(), {static_cast<std::int64_t>(values.size() / 2), std::int64_t{2}});
    lb_output* raw = output->get();
    EXPECT_EQ(lb_model_run(model, &input, 1, &raw, 1, nullptr), LB_OK) << last_message();
    const lb_tensor made = output->tensor();
    const auto* data = static_cast<const float*>(made.data);
    return {data, data + made.shape[0] * made.shape[1]};
  }

  latebind::test::FakeOpenvino fake;
  lb_runtime* runtime = nullptr;
  latebind::Options load_options;
  lb_model* model = nullptr;
  int loads = 0;
  int released = 0;
  std::vector<std::unique_ptr<std::string>> payloads;
};

TEST_F(PayloadTest, AnIrAndABundleAreToldByTheirFirstBytes) {
  for (const std::string& bytes : {std::string(kPayloadModel), bundle()}) {
    ASSERT_EQ(load(bytes), LB_OK) << last_message();
    EXPECT_THAT(run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
  }
}

TEST_F(PayloadTest, WhatItIsNotIsSaid) {
  EXPECT_EQ(load("GGUF0000"), LB_INVALID_MODEL);
  EXPECT_THAT(last_message(),
              HasSubstr("8 bytes that begin with 47 47 55 46 30 30 30 30 are not a bundle, an ONNX model"));
  EXPECT_EQ(load(std::string("PK\3\4, and no more of it")), LB_INVALID_MODEL);
  EXPECT_EQ(load(std::string("\x08\x0a\x3a\x7f", 4)), LB_INVALID_MODEL);
  EXPECT_EQ(load("RR_UPCVO"), LB_INVALID_MODEL);
  EXPECT_THAT(last_message(), HasSubstr("toy: the OpenVINO blob is damaged"));
  EXPECT_EQ(load(kPayloadModel, 17), LB_INVALID_ARGUMENT);
  EXPECT_EQ(load(kPayloadModel, LB_FORMAT_BUNDLE), LB_INVALID_MODEL);
  EXPECT_EQ(load(""), LB_INVALID_MODEL);
}

TEST_F(PayloadTest, ExternalDataThatCannotBeMeantIsRefused) {
  const std::string bytes = "\1\2\3\4";
  std::vector<lb_external_data> external{{"weights", bytes.data(), bytes.size()}};
  const auto load_with = [&](const std::string& graph) {
    auto memory = LB_INIT(lb_model_memory);
    memory.format = LB_FORMAT_BY_FIRST_BYTES;
    memory.graph = graph.data();
    memory.graph_size = graph.size();
    memory.external = external.data();
    memory.external_count = external.size();
    memory.name = "toy";
    return lb_model_load_memory(runtime, &memory, nullptr, nullptr, &model);
  };
  EXPECT_EQ(load_with(kPayloadModel), LB_INVALID_MODEL);
  EXPECT_THAT(last_message(), HasSubstr("toy: only an ONNX model takes external data"));
  // An ONNX model of an empty graph.
  const std::string onnx("\x08\x0a\x3a\x00", 4);
  external.push_back(external.front());
  EXPECT_EQ(load_with(onnx), LB_INVALID_MODEL);
  EXPECT_THAT(last_message(), HasSubstr("toy: external data 'weights' was given twice"));
  external.back().location = "";
  EXPECT_EQ(load_with(onnx), LB_INVALID_MODEL);
  EXPECT_THAT(last_message(), HasSubstr("external data has no name"));
  external.back().location = nullptr;
  EXPECT_EQ(load_with(onnx), LB_INVALID_ARGUMENT);
  external.back() = {"more", nullptr, 1};
  EXPECT_EQ(load_with(onnx), LB_INVALID_ARGUMENT);
  const auto load_from = [&](const char* file, lb_external_data one) {
    auto memory = LB_INIT(lb_model_memory);
    memory.graph = onnx.data();
    memory.graph_size = onnx.size();
    memory.external = &one;
    memory.external_count = 1;
    memory.external_files = &file;
    return lb_model_load_memory(runtime, &memory, nullptr, nullptr, &model);
  };
  EXPECT_EQ(load_from("/nowhere/weights.bin", {"weights", nullptr, 0}), LB_NOT_FOUND);
  EXPECT_THAT(last_message(), HasSubstr(std::filesystem::absolute("/nowhere/weights.bin").make_preferred().string()));
  EXPECT_EQ(load_from("/nowhere/weights.bin", {"weights", bytes.data(), bytes.size()}), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("external data 0 has both a file and data"));
  EXPECT_EQ(load_from("/nowhere/weights.bin", {nullptr, nullptr, 0}), LB_INVALID_ARGUMENT);
  auto memory = LB_INIT(lb_model_memory);
  memory.graph = onnx.data();
  memory.graph_size = onnx.size();
  memory.external_count = 1;
  EXPECT_EQ(lb_model_load_memory(runtime, &memory, nullptr, nullptr, &model), LB_INVALID_ARGUMENT);
}

TEST_F(PayloadTest, ABlobThatNoDeviceTakesIsIncompatibleWithTheVendorsWords) {
  const std::array<std::uint64_t, 6> table{48, 8, 56, 8, 64, 8};
  const std::string blob(reinterpret_cast<const char*>(table.data()), sizeof table);
  EXPECT_EQ(load(blob + std::string(24, 'x')), LB_INCOMPATIBLE_BLOB);
  EXPECT_THAT(last_message(), HasSubstr("toy has only compiled forms"));
  EXPECT_THAT(last_message(), HasSubstr("Imported model was compiled with another version or device"));
}

TEST_F(PayloadTest, BoundsOfDynamicDimensionsAreTold) {
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  auto info = LB_INIT(lb_tensor_info);
  ASSERT_EQ(lb_model_input(model, 0, &info), LB_OK);
  EXPECT_EQ(info.shape[0], LB_DYNAMIC);
  EXPECT_EQ(info.upper[0], 8);
  EXPECT_EQ(info.upper[1], LB_DYNAMIC);
  // A caller compiled before there were bounds gets none written after its struct.
  std::array<std::byte, sizeof(lb_tensor_info)> old{};
  old.fill(std::byte{0x55});
  constexpr std::size_t kOldSize = offsetof(lb_tensor_info, upper);
  std::memcpy(old.data(), &kOldSize, sizeof kOldSize);
  ASSERT_EQ(lb_model_input(model, 0, reinterpret_cast<lb_tensor_info*>(old.data())), LB_OK);
  EXPECT_EQ(old.at(kOldSize), std::byte{0x55});
}

TEST_F(PayloadTest, AnOutputCanBeBoundToOtherMemoryForEachRun) {
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  lb_output* output = nullptr;
  ASSERT_EQ(lb_output_create(nullptr, 0, &output), LB_OK);
  const std::array<float, 4> values{1, 2, 3, 4};
  const lb_tensor input = latebind::tensor_of(values.data(), {2, 2});
  std::array<float, 4> first{};
  std::array<float, 4> second{};
  for (auto* place : {&first, &second}) {
    ASSERT_EQ(lb_output_bind(output, place->data(), sizeof *place), LB_OK);
    ASSERT_EQ(lb_model_run(model, &input, 1, &output, 1, nullptr), LB_OK) << last_message();
  }
  EXPECT_EQ(first, second);
  EXPECT_THAT(first, ElementsAre(2, 3, 4, 5));
  ASSERT_EQ(lb_output_bind(output, first.data(), 4), LB_OK);
  EXPECT_EQ(lb_model_run(model, &input, 1, &output, 1, nullptr), LB_BUFFER_TOO_SMALL);
  ASSERT_EQ(lb_output_bind(output, nullptr, 0), LB_OK);
  EXPECT_EQ(lb_model_run(model, &input, 1, &output, 1, nullptr), LB_OK) << last_message();
  EXPECT_EQ(lb_output_bind(nullptr, nullptr, 0), LB_INVALID_ARGUMENT);
  lb_output_destroy(output);
}

TEST_F(PayloadTest, ARunSaysWhoAnsweredIt) {
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  const latebind::Result<latebind::Output> output = latebind::Output::create();
  const std::array<float, 4> values{1, 2, 3, 4};
  const lb_tensor input = latebind::tensor_of(values.data(), {2, 2});
  lb_output* raw = output->get();
  auto options = LB_INIT(lb_call_options);
  lb_attestation* answered_by = nullptr;
  options.answered_by = &answered_by;
  ASSERT_EQ(lb_model_run(model, &input, 1, &raw, 1, &options), LB_OK) << last_message();
  auto active = LB_INIT(lb_active);
  ASSERT_EQ(lb_attestation_get(answered_by, &active), LB_OK);
  EXPECT_STREQ(active.device, "CPU");
  lb_attestation_destroy(answered_by);
}

// The first request of all: nothing is known yet of what the devices compute.
TEST_F(PayloadTest, ShapesThatTheOperatorsRefuseAreTheCallersMistake) {
  fake.script("device GPU\ndevice CPU\nfail-shape 5,2 -1 the shapes do not go together\n");
  ASSERT_EQ(load("<net/>\nfake-model\ninput x f32 ?,2\noutput y plus-one 0\n"), LB_OK) << last_message();
  const latebind::Result<latebind::Output> output = latebind::Output::create();
  const std::array<float, 10> values{};
  const lb_tensor input = latebind::tensor_of(values.data(), {5, 2});
  lb_output* raw = output->get();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(lb_model_run(model, &input, 1, &raw, 1, nullptr), LB_INVALID_ARGUMENT);
    EXPECT_THAT(last_message(), HasSubstr("openvino:GPU works, but could not compute this request"));
  }
  run({1, 2});
  lb_attestation* attestation = nullptr;
  ASSERT_EQ(lb_model_attestation(model, &attestation), LB_OK);
  auto active = LB_INIT(lb_active);
  ASSERT_EQ(lb_attestation_get(attestation, &active), LB_OK);
  EXPECT_STREQ(active.device, "GPU");
  EXPECT_EQ(active.fallback, 0) << active.reason;
  lb_attestation_destroy(attestation);
}

TEST_F(PayloadTest, ARuntimeWithoutDevicesSaysFirstWhatToType) {
  EXPECT_EQ(lb_runtime_check(runtime), LB_OK);
  EXPECT_EQ(fake.calls("ov_core_create"), 1);
  fake.script("no-devices\n");
  EXPECT_EQ(lb_runtime_check(runtime), LB_NO_DEVICE);
  EXPECT_THAT(last_message(), StartsWith("nothing here can run a model; to install a runtime: pip install"));
  EXPECT_THAT(last_message(), HasSubstr("openvino: it has no device here"));
  EXPECT_THAT(last_message(), HasSubstr("onnxruntime: "));
  EXPECT_EQ(lb_runtime_check(nullptr), LB_INVALID_ARGUMENT);
}

// A callback that is told of a failover may run a model itself, on the same thread and in the middle of the run.
TEST_F(PayloadTest, ALogThatRunsAModelDisturbsNoRun) {
  fake.script("device GPU\ndevice CPU\non GPU fail run * -1 the driver died\n");
  load_options.set("device", "cpu");
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  lb_model* other = std::exchange(model, nullptr);
  load_options.set("device", "gpu,cpu");
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  std::vector<float> told;
  std::function<void()> tell = [&] {
    if (!told.empty()) return;
    told.push_back(0);
    std::swap(model, other);
    told = run({10, 20, 30, 40, 50, 60});
    std::swap(model, other);
  };
  lb_set_log([](void* context, std::int32_t, const char*) { (*static_cast<std::function<void()>*>(context))(); }, &tell,
             LB_LOG_WARNING);
  EXPECT_THAT(run({1, 2, 3, 4}), ElementsAre(2, 3, 4, 5));
  lb_set_log(nullptr, nullptr, LB_LOG_ERROR);
  EXPECT_THAT(told, ElementsAre(11, 21, 31, 41, 51, 61));
  lb_model_destroy(other);
}

TEST_F(PayloadTest, OptionsCanBeCheckedWithoutLoading) {
  EXPECT_EQ(lb_runtime_check_options(runtime, nullptr), LB_OK);
  load_options.set("device", "nup");
  EXPECT_EQ(lb_runtime_check_options(runtime, load_options.get()), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("did you mean npu?"));
  EXPECT_EQ(lb_runtime_check_options(nullptr, load_options.get()), LB_INVALID_ARGUMENT);
  EXPECT_EQ(fake.calls("ov_core_create"), 0);
}

TEST_F(PayloadTest, InputShapesAreCompiledIn) {
  load_options.set("input_shapes", "3x2");
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  auto info = LB_INIT(lb_tensor_info);
  ASSERT_EQ(lb_model_input(model, 0, &info), LB_OK);
  EXPECT_EQ(info.shape[0], 3);
}

TEST_F(PayloadTest, AReservedFieldThatIsNotZeroIsRefusedByName) {
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();

  const latebind::Result<latebind::Output> output = latebind::Output::create();
  lb_output* raw = output->get();
  const std::array<float, 6> values{};
  lb_tensor input = latebind::tensor_of(values.data(), {3, 2});
  input.reserved_ = -1;
  EXPECT_EQ(lb_model_run(model, &input, 1, &raw, 1, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("input 0: lb_tensor.reserved_ is -1 and must be 0"));
  input.reserved_ = 0;
  EXPECT_EQ(lb_model_run(model, &input, 1, &raw, 1, nullptr), LB_OK) << last_message();
}

TEST_F(PayloadTest, OptionsOfAModelGoOverThoseOfItsRuntime) {
  fake.script("device GPU\ndevice CPU\n");
  lb_runtime_destroy(std::exchange(runtime, nullptr));
  const std::string file = (fake.folder() / "config.toml").string();
  std::ofstream(file) << "device = \"gpu\"\nstrict = true\n";
  latebind::Options of_runtime = with_openvino(fake.file());
  of_runtime.read_file(file);
  ASSERT_EQ(lb_runtime_create(of_runtime.get(), &runtime), LB_OK) << last_message();
  const auto device = [&] {
    lb_attestation* attestation = nullptr;
    EXPECT_EQ(lb_model_attestation(model, &attestation), LB_OK);
    auto active = LB_INIT(lb_active);
    EXPECT_EQ(lb_attestation_get(attestation, &active), LB_OK);
    std::string name = active.device;
    lb_attestation_destroy(attestation);
    return name;
  };
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  EXPECT_EQ(device(), "GPU");
  load_options.set("threads", "1");
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  EXPECT_EQ(device(), "GPU") << "what is not set has no influence";
  load_options.set("device", "npu,cpu");
  EXPECT_EQ(load(kPayloadModel), LB_STRICT_FALLBACK);
  load_options.set("strict", "false");
  ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
  EXPECT_EQ(device(), "CPU");
}

TEST_F(PayloadTest, LibrariesAreTheRuntimesAffair) {
  load_options.apply(with_openvino(fake.file()));
  ASSERT_EQ(load(kPayloadModel), LB_OK) << "the same ones are: " << last_message();
  load_options.set("openvino.library", "/elsewhere");
  EXPECT_EQ(load(kPayloadModel), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("openvino.library belongs to the runtime"));
  EXPECT_THAT(last_message(), HasSubstr("LATEBIND_OPENVINO_LIBRARY"));
}

TEST_F(PayloadTest, ARuntimeWhoseOptionsNothingCanBeLoadedWithIsNotMade) {
  latebind::Options wrong = with_openvino(fake.file());
  wrong.set("device", "openvno");
  lb_runtime* none = nullptr;
  EXPECT_EQ(lb_runtime_create(wrong.get(), &none), LB_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_THAT(last_message(), HasSubstr("options of the runtime: unknown device 'openvno'"));
}

TEST_F(PayloadTest, WhatIsCompiledIsKeptOnlyWhereThatIsAskedFor) {
  const auto folder = fake.folder() / "cache";
  load_options.set("cache.folder", folder.string());
  for (const bool kept : {false, true}) {
    if (kept) {
      load_options.unset("cache.enabled");
    } else {
      load_options.set("cache.enabled", "false");
    }
    ASSERT_EQ(load(kPayloadModel), LB_OK) << last_message();
    lb_model_destroy(std::exchange(model, nullptr));  // waits for what is to be kept
    EXPECT_EQ(std::filesystem::exists(folder), kept);
  }
}

TEST_F(PayloadTest, TheCppInterfaceKeepsTheOwner) {
  const auto made = latebind::Runtime::create(with_openvino(fake.file()));
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->check().ok());
  auto owner = std::make_shared<const std::string>(kPayloadModel);
  const std::weak_ptr<const std::string> watched = owner;
  {
    auto loaded =
        made->load(std::as_bytes(std::span(owner->data(), owner->size())), owner, {{"input_shapes", "4x2"}}, "toy");
    ASSERT_TRUE(loaded) << loaded.status().message();
    owner.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_THAT(loaded->inputs().at(0).shape, ElementsAre(4, 2));
  }
  EXPECT_TRUE(watched.expired());
}

}  // namespace
