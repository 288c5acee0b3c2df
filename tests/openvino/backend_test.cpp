// Devices, compiling and loading, on the fake library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/backend/questions.h"
#include "tests/fakes/loaded.h"
#include "tests/openvino/fake_backend.h"

namespace latebind::openvino {
namespace {

using core::CompileOptions;
using core::Precision;
using core::Shape;
using core::StatusCode;
using test::fake_model;
using test::kAddModel;
using test::kDynamicModel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BackendTest : public test::FakeBackendTest {
 protected:
  core::Status load_status(std::string_view model, const CompileOptions& options = {},
                           std::string_view device = "CPU") {
    return backend_->load(fake_model(model), device, options).status();
  }
};

TEST_F(BackendTest, ListsDevicesWithWhatIsKnownOfThem) {
  fake_.script(
      "device CPU\ndevice GPU.1\ndevice NPU\nproperty NPU FULL_DEVICE_NAME Fake AI Boost\n"
      "property NPU DEVICE_ARCHITECTURE 4000\n");
  const auto devices = backend_->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  ASSERT_EQ(devices->size(), 3U);
  EXPECT_EQ((*devices)[1].id(), "openvino:GPU.1");
  EXPECT_EQ((*devices)[1].kind, core::DeviceKind::kGpu);
  EXPECT_EQ((*devices)[2].full_name, "Fake AI Boost");
  EXPECT_EQ((*devices)[2].kind, core::DeviceKind::kNpu);
  EXPECT_EQ((*devices)[2].facts().at("Architecture"), "4000");
  EXPECT_EQ((*devices)[2].runtime_version, "2026.4.1-fake");
}

TEST_F(BackendTest, WithoutDevicesItIsAvailableAndTheListIsEmpty) {
  fake_.script("no-devices\n");
  EXPECT_TRUE(backend_->available().ok());
  const auto devices = backend_->devices();
  ASSERT_TRUE(devices.ok());
  EXPECT_THAT(*devices, IsEmpty());
  const auto status = load_status(kAddModel);
  EXPECT_EQ(status.code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr("it has none"));
}

TEST_F(BackendTest, DevicesComeAndGo) {
  fake_.script("device CPU\n");
  EXPECT_EQ(backend_->devices()->size(), 1U);
  fake_.script("device CPU\ndevice NPU\n");
  EXPECT_EQ(backend_->devices()->size(), 2U);
  EXPECT_EQ(fake_.calls("ov_core_create"), 1);
}

TEST_F(BackendTest, ADeviceThatIsNotThereIsRefusedThoughAnotherIs) {
  const auto status = load_status(kAddModel, {}, "NPU");
  EXPECT_EQ(status.code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(status.to_string(), HasSubstr("no device NPU"));
  EXPECT_THAT(status.to_string(), HasSubstr("it has CPU"));
}

TEST_F(BackendTest, ACoreThatCannotBeMadeIsMadeLater) {
  fake_.script("fail ov_core_create 1 -1 no plugins.xml in sight\n");
  const auto failed = backend_->devices();
  EXPECT_EQ(failed.status().code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(failed.status().vendor_text(), HasSubstr("no plugins.xml in sight"));
  EXPECT_EQ(failed.status().vendor_code(), -1);
  EXPECT_TRUE(backend_->devices().ok());
}

TEST_F(BackendTest, OneCoreServesEveryQuestion) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(backend_->devices().ok());
    ASSERT_NE(load(kAddModel), nullptr);
  }
  EXPECT_EQ(fake_.calls("ov_core_create"), 1);
}

TEST_F(BackendTest, TheVendorsReasonForNotCompilingIsKept) {
  fake_.script("fail ov_core_compile_model * -1 Exception from src/plugin.cpp:42:\n");
  const auto status = load_status(kAddModel);
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(status.vendor_text(), "Exception from src/plugin.cpp:42:");
  EXPECT_EQ(status.vendor_code(), -1);
  EXPECT_THAT(status.to_string(), HasSubstr("CPU"));
}

TEST_F(BackendTest, ALackOfMemoryIsNoFaultOfTheModel) {
  for (const std::string call : {"ov_core_read_model_from_memory_buffer", "ov_core_compile_model"}) {
    fake_.script("fail " + call + " * -1 Exception from src/plugin.cpp:42: std::bad_alloc\n");
    EXPECT_EQ(load_status(kAddModel).code(), StatusCode::kOutOfMemory) << call;
  }
}

TEST_F(BackendTest, ALongReasonIsNotCutInTheMiddle) {
  const std::string text = std::string(5000, 'x') + " the remedy";
  fake_.script("fail ov_core_compile_model * -1 " + text + "\n");
  EXPECT_THAT(load_status(kAddModel).to_string(), HasSubstr("the remedy"));
}

TEST_F(BackendTest, AFailureWithoutATextHasTheVendorsWordForItsNumber) {
  fake_.script("silent-fail ov_core_compile_model * -1\n");
  EXPECT_EQ(load_status(kAddModel).vendor_text(), "general error");
}

TEST_F(BackendTest, ARefusedParameterIsNotGivenTheReasonOfAnEarlierFailure) {
  fake_.script("fail ov_core_create 1 -1 an old story\nsilent-fail ov_core_compile_model * -14\n");
  EXPECT_FALSE(backend_->devices().ok());
  const auto status = load_status(kAddModel);
  EXPECT_EQ(status.vendor_text(), "invalid C input parameters");
}

TEST_F(BackendTest, WhatTheVendorCannotReadIsAnInvalidModel) {
  core::ModelForm garbage;
  garbage.format = core::ModelFormat::kOpenvinoIr;
  garbage.graph = core::SharedBytes::from_string("garbage");
  const auto status = backend_->load(core::Model::from_forms("bad", {garbage}), "CPU", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  EXPECT_THAT(status.to_string(), HasSubstr("it is no fake-model"));
}

TEST_F(BackendTest, AModelWithoutAFormThatItReadsIsRefused) {
  EXPECT_EQ(backend_->load(core::Model::from_forms("none", {}), "CPU", {}).status().code(), StatusCode::kUnsupported);
}

TEST_F(BackendTest, ThePrecisionThatIsActiveIsTheOneAskedFor) {
  for (const auto precision : {Precision::kF32, Precision::kBF16}) {
    auto* executable = load(kAddModel, {.precision = precision});
    ASSERT_NE(executable, nullptr);
    EXPECT_EQ(executable->active().precision, precision);
  }
}

TEST_F(BackendTest, AnotherPrecisionThanAskedForIsRefusedAndBothAreNamed) {
  fake_.script("precision bf16\n");
  const auto status = load_status(kAddModel);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(), HasSubstr("f32"));
  EXPECT_THAT(status.to_string(), HasSubstr("bf16"));
  fake_.script("");
  EXPECT_EQ(load_status(kAddModel, {.precision = Precision::kF16}).code(), StatusCode::kUnsupported);
  // The user's own property must not change it behind our back either.
  EXPECT_EQ(load_status(kAddModel, {.properties = {{"INFERENCE_PRECISION_HINT", "bf16"}}}).code(),
            StatusCode::kUnsupported);
}

// The vendor emulates bf16 in silence.
TEST_F(BackendTest, AProcessorThatDoesNotNameAPrecisionIsNotAskedForIt) {
  fake_.script("property CPU OPTIMIZATION_CAPABILITIES FP32 INT8\n");
  const auto status = load_status(kAddModel, {.precision = Precision::kBF16});
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.to_string(),
              HasSubstr("openvino:CPU cannot compute in bf16: this processor has no instructions for"));
  EXPECT_TRUE(load_status(kAddModel).ok());
  fake_.script("property CPU OPTIMIZATION_CAPABILITIES FP32 BF16\n");
  EXPECT_TRUE(load_status(kAddModel, {.precision = Precision::kBF16}).ok());
}

TEST_F(BackendTest, APropertyThatTheVendorDoesNotTakeIsNamed) {
  const auto status = load_status(kAddModel, {.properties = {{"NUM_STREAMS", "2"}, {"NO_SUCH_THING", "1"}}});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), HasSubstr("openvino:CPU refuses the property NO_SUCH_THING=1"));
  EXPECT_THAT(status.vendor_text(), HasSubstr("NO_SUCH_THING"));
  // What fails for another reason is not blamed on them.
  fake_.script("fail ov_core_compile_model * -1 out of luck\n");
  EXPECT_EQ(load_status(kAddModel, {.properties = {{"NUM_STREAMS", "2"}}}).code(), StatusCode::kDeviceFailed);
}

TEST_F(BackendTest, SaysWhatIsActive) {
  auto* executable = load(kAddModel, {.threads = 3, .requests = 2});
  ASSERT_NE(executable, nullptr);
  const auto& active = executable->active();
  EXPECT_EQ(active.backend, "openvino");
  EXPECT_EQ(active.device, "CPU");
  EXPECT_EQ(active.device_full_name, "Fake CPU");
  EXPECT_EQ(active.runtime_version, "2026.4.1-fake");
  EXPECT_EQ(std::filesystem::path(active.library_file).generic_string(), fake_.file().generic_string());
  EXPECT_EQ(active.threads, 3U);
  EXPECT_EQ(active.requests, 2U);
  EXPECT_EQ(fake_.calls("ov_compiled_model_create_infer_request"), 2) << "the pool is to be warm";
}

TEST_F(BackendTest, GivesShapesAndBoundsAsDeclared) {
  auto* executable = load("input a f32 ?,2,3..8\ninput s i64 -\noutput o identity 0\noutput p identity 1\n");
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->inputs()[0].shape, (Shape{core::kDynamic, 2, core::kDynamic}));
  EXPECT_THAT(executable->inputs()[0].upper, ElementsAre(-1, -1, 8));
  EXPECT_EQ(executable->inputs()[1].shape, Shape{});
  EXPECT_EQ(executable->inputs()[1].type, core::ElementType::kI64);
  EXPECT_THAT(executable->inputs()[1].upper, IsEmpty());
}

TEST_F(BackendTest, MoreDimensionsThanSupportedAndUnknownTypesAreRefusedByName) {
  const auto rank = load_status("input deep f32 1,1,1,1,1,1,1,1,1\noutput o identity 0\n");
  EXPECT_EQ(rank.code(), StatusCode::kUnsupported);
  EXPECT_THAT(rank.to_string(), HasSubstr("'deep'"));
  const auto type = load_status("input words string 1\noutput o identity 0\n");
  EXPECT_EQ(type.code(), StatusCode::kUnsupported);
  EXPECT_THAT(type.to_string(), HasSubstr("'words' has the element type string"));
}

TEST_F(BackendTest, MakesAModelStatic) {
  fake_.script("device NPU\n");
  EXPECT_EQ(load_status(kDynamicModel, {.precision = Precision::kF16}, "NPU").code(), StatusCode::kDeviceFailed);
  auto* executable = load(kDynamicModel, {.precision = Precision::kF16, .input_shapes = {Shape{3, 2}}}, "NPU");
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->inputs()[0].shape, (Shape{3, 2}));
  EXPECT_EQ(load_status(kDynamicModel, {.input_shapes = {Shape{3, 2}, Shape{1}}}, "NPU").code(),
            StatusCode::kCountMismatch);
  EXPECT_EQ(load_status(kDynamicModel, {.input_shapes = {Shape{3}}}, "NPU").code(), StatusCode::kShapeMismatch);
  EXPECT_EQ(load_status(kDynamicModel, {.input_shapes = {Shape{core::kDynamic, 2}}}, "NPU").code(),
            StatusCode::kInvalidArgument);
}

// Every vendor call of a load fails in turn: each is an error, and nothing is left behind (see TearDown).
TEST_F(BackendTest, EveryFailingCallOfALoadIsAnErrorThatLeavesNothingBehind) {
  for (const char* function :
       {"ov_core_get_available_devices", "ov_core_read_model_from_memory_buffer", "ov_model_inputs_size",
        "ov_model_reshape_by_port_indexes", "ov_core_compile_model", "ov_compiled_model_get_property",
        "ov_compiled_model_inputs_size", "ov_compiled_model_input_by_index", "ov_compiled_model_outputs_size",
        "ov_compiled_model_output_by_index", "ov_port_get_element_type", "ov_port_get_partial_shape",
        "ov_compiled_model_create_infer_request"}) {
    fake_.script(std::string("fail ") + function + " * -1 told to fail\n");
    const auto status = load_status(kDynamicModel, {.input_shapes = {Shape{1, 2}}});
    EXPECT_FALSE(status.ok()) << function;
    EXPECT_THAT(status.vendor_text(), HasSubstr("told to fail")) << function;
  }
  // The second request, with the first one made already.
  fake_.script("fail ov_compiled_model_create_infer_request 3- -1 told to fail\n");
  EXPECT_FALSE(load_status(kDynamicModel, {.requests = 4}).ok());
}

TEST_F(BackendTest, WeightsInMemoryAreNotCopied) {
  auto weights = std::make_shared<std::vector<float>>(std::vector<float>{3});
  core::ModelForm form;
  form.format = core::ModelFormat::kOpenvinoIr;
  form.graph = core::SharedBytes::from_string("fake-model\ninput a f32 1\noutput o scale 0\n");
  form.weights = {.owner = weights, .bytes = std::as_bytes(std::span(*weights))};
  auto loaded = backend_->load(core::Model::from_forms("m", {form}), "CPU", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  float* const first = weights->data();
  form = {};
  weights.reset();  // the executable keeps them now
  *first = 5;
  std::vector<float> a{2};
  std::vector<core::OutputTensor> outputs(1);
  ASSERT_TRUE((*loaded)->execute(std::vector{test::floats(a, {1})}, outputs, {}).ok());
  EXPECT_THAT(test::values(outputs[0]), ElementsAre(10));
}

TEST_F(BackendTest, TheIrFormIsTakenWhereThereAreTwo) {
  core::ModelForm onnx;
  onnx.graph = core::SharedBytes::from_string("garbage");
  core::ModelForm ir;
  ir.format = core::ModelFormat::kOpenvinoIr;
  ir.graph = core::SharedBytes::from_string(std::string("fake-model\n") + kAddModel);
  EXPECT_TRUE(backend_->load(core::Model::from_forms("two", {onnx, ir}), "CPU", {}).ok());
}

// It goes to the vendor as files of a private folder.
TEST_F(BackendTest, ExternalDataInMemoryDoesNotLeaveItsFolder) {
  for (const std::string location : {"../model.onnx_data", "/model.onnx_data", "data/../../model.onnx_data", ""}) {
    core::ModelForm onnx;
    onnx.graph = core::SharedBytes::from_string(std::string("\x08\x08\x3a\x00", 4));
    onnx.external.push_back({location, core::SharedBytes::from_string("weights")});
    const auto status = backend_->load(core::Model::from_forms("split", {onnx}), "CPU", {}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidModel) << location;
    EXPECT_THAT(status.to_string(), HasSubstr("'" + location + "' is outside the model's folder"));
  }
}

// --- Blobs ---

class BlobTest : public BackendTest {
 protected:
  core::Blob compile(const CompileOptions& options = {}) {
    auto blob = core::compile_blob(*backend_, fake_model(kAddModel), "CPU", options);
    EXPECT_TRUE(blob.ok()) << blob.status().to_string();
    return blob.ok() ? *std::move(blob) : core::Blob{};
  }
  core::Status blob_status(const core::Blob& blob, const CompileOptions& options = {},
                           std::string_view device = "CPU") {
    return core::load_blob(*backend_, blob, device, options).status();
  }
};

TEST_F(BlobTest, IsCompiledAndLoadedAgain) {
  const auto blob = compile();
  EXPECT_EQ(blob.backend, "openvino");
  EXPECT_EQ(blob.device, "CPU");
  EXPECT_EQ(blob.runtime_version, "2026.4.1-fake");
  auto loaded = core::load_blob(*backend_, blob, "CPU", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_TRUE(add(**loaded).ok());
}

TEST_F(BlobTest, KeepsThePrecisionThatWasPromised) {
  // Left to itself, the vendor computes an imported blob in bf16.
  for (const auto precision : {Precision::kF32, Precision::kBF16, Precision::kF32}) {
    auto loaded = core::load_blob(*backend_, compile({.precision = precision}), "CPU", {.precision = precision});
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    EXPECT_EQ((*loaded)->active().precision, precision);
  }
}

TEST_F(BlobTest, AnImportDoesNotChangeWhatIsCompiledLater) {
  auto imported = core::load_blob(*backend_, compile({.threads = 3}), "CPU", {.threads = 3});
  ASSERT_TRUE(imported.ok());
  auto* executable = load(kAddModel, {.precision = Precision::kBF16, .threads = 1});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->active().threads, 1U);
  EXPECT_EQ(executable->active().precision, Precision::kBF16);
}

TEST_F(BlobTest, PropertiesOfOneImportDoNotReachTheNext) {
  ASSERT_NE(load(kAddModel), nullptr);  // so that the cores stay
  const auto blob = compile();
  EXPECT_TRUE(blob_status(blob, {.properties = {{"NUM_STREAMS", "3"}}}).ok());
  EXPECT_TRUE(blob_status(blob).ok());
  EXPECT_EQ(fake_.calls("ov_core_create"), 3) << "one for all, one for imports, one for the import with properties";
}

TEST_F(BlobTest, TheRequestsThatOneGpuImportExpectsAreNotThoseOfTheNext) {
  fake_.script("device GPU\n");
  ASSERT_NE(load(kAddModel, {}, "GPU"), nullptr);  // so that the cores stay
  auto blob = core::compile_blob(*backend_, fake_model(kAddModel), "GPU", {});
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  EXPECT_TRUE(blob_status(*blob, {.requests = 1}, "GPU").ok());
  EXPECT_EQ(fake_.calls("ov_core_create"), 2) << "one for all, one for the import with a number";
  EXPECT_TRUE(blob_status(*blob, {}, "GPU").ok());
  EXPECT_EQ(fake_.calls("ov_core_create"), 3) << "one for imports without";
}

TEST_F(BlobTest, AProcessorThatDoesNotNameAPrecisionIsNotAskedForItByABlob) {
  const auto blob = compile({.precision = Precision::kBF16});
  EXPECT_TRUE(blob_status(blob, {.precision = Precision::kBF16}).ok());
  fake_.script("property CPU OPTIMIZATION_CAPABILITIES FP32 INT8\n");
  EXPECT_EQ(blob_status(blob, {.precision = Precision::kBF16}).code(), StatusCode::kUnsupported);
}

TEST_F(BlobTest, AnotherLabelIsIncompatible) {
  const auto good = compile();
  ASSERT_TRUE(blob_status(good).ok());
  auto other = good;
  other.backend = "onnxruntime";
  EXPECT_EQ(blob_status(other).code(), StatusCode::kIncompatibleBlob);
  other = good;
  other.device = "GPU";
  EXPECT_EQ(blob_status(other).code(), StatusCode::kIncompatibleBlob);
  other = good;
  other.runtime_version = "2025.4.0";
  EXPECT_EQ(blob_status(other).code(), StatusCode::kIncompatibleBlob);
  EXPECT_EQ(blob_status(good, {.precision = Precision::kBF16}).code(), StatusCode::kIncompatibleBlob);
  EXPECT_EQ(blob_status(good, {.input_shapes = {Shape{1}}}).code(), StatusCode::kIncompatibleBlob);
  other = good;
  other.bytes = {};
  EXPECT_EQ(blob_status(other).code(), StatusCode::kIncompatibleBlob);
}

TEST_F(BlobTest, WhatTheVendorRefusesIsIncompatible) {
  auto blob = compile();
  blob.bytes = core::SharedBytes::from_string("not a blob");
  const auto status = blob_status(blob);
  EXPECT_EQ(status.code(), StatusCode::kIncompatibleBlob);
  EXPECT_THAT(status.vendor_text(), HasSubstr("another version"));
}

TEST_F(BlobTest, AFailedExportLeavesNoFile) {
  const auto temporary = std::filesystem::path(fake_.folder()) / "tmp";
  std::filesystem::create_directory(temporary);
  latebind::test::set_variable(latebind::test::kTemporaryVariable, temporary.string());
  EXPECT_TRUE(core::compile_blob(*backend_, fake_model(kAddModel), "CPU", {}).ok());
  fake_.script("fail ov_compiled_model_export_model * -1 no room\n");
  const auto failed = core::compile_blob(*backend_, fake_model(kAddModel), "CPU", {});
  EXPECT_EQ(failed.status().code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(failed.status().vendor_text(), HasSubstr("no room"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  latebind::test::set_variable(latebind::test::kTemporaryVariable, "/nowhere/at/all");
  const auto nowhere = core::compile_blob(*backend_, fake_model(kAddModel), "CPU", {});
  EXPECT_FALSE(nowhere.ok());
  EXPECT_THAT(nowhere.status().to_string(), HasSubstr("/nowhere/at/all"));
  latebind::test::set_variable(latebind::test::kTemporaryVariable, std::nullopt);
}

TEST_F(BlobTest, AnExportThatIsCutOffIsAFullDisk) {
  fake_.script("cut-exports\n");
  const auto cut = core::compile_blob(*backend_, fake_model(kAddModel), "CPU", {});
  EXPECT_EQ(cut.status().code(), StatusCode::kDiskFull);
  EXPECT_THAT(cut.status().to_string(), HasSubstr("TMPDIR"));
  const auto loaded = backend_->capabilities().blobs->load_exporting(fake_model(kAddModel), "CPU", {});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->export_blob().status().code(), StatusCode::kDiskFull) << "what the cache would keep";
}

}  // namespace
}  // namespace latebind::openvino
