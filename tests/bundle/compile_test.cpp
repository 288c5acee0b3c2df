// From targets to a bundle and back: which blob is taken on which device, on backends that do what they are told.
#include "core/bundle/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/engine/engine.h"
#include "tests/bundle/support.h"
#include "tests/platform/support.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using latebind::test::ScriptedBackend;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Device npu(const std::string& architecture, bool has_compiler = true) {
  Device device{"second", "NPU." + architecture, DeviceKind::kNpu, "an NPU", "1.0"};
  device.traits.architecture = architecture;
  device.traits.precisions = {Precision::kF16};
  VirtualTraits& target = device.traits.virtual_device.emplace();
  target.compiler = has_compiler ? TargetCompiler::kInstalled : TargetCompiler::kMissing;
  if (!has_compiler) target.missing = "libcompiler.so, which the driver's package has";
  return device;
}

class CompileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& backend : {first, second}) {
      backend->with("CPU", DeviceKind::kCpu);
      backend->blobs = true;
      ASSERT_TRUE(registry.add(backend).ok());
    }
    second->absent = {npu("v1"), npu("v2"), npu("v3", false)};
  }

  CompileJob job(std::string_view target, const std::vector<Shape>& shapes = {}) const {
    auto found = CompileTargets(registry).find(target);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    CompileJob made{*std::move(found), {}};
    made.options.precision = default_precision(made.target.device);
    made.options.input_shapes = shapes;
    return made;
  }

  // A bundle with a portable model and the blobs of these jobs.
  Package bundle(const std::vector<CompileJob>& jobs, const std::string& runtime_version = "1.0") {
    PackageWriter writer({.name = "a model"});
    VariantInput portable{.name = "portable"};
    portable.latebind.emplace();
    portable.latebind->target = kPortableTarget;
    portable.latebind->format = "openvino-ir";
    portable.latebind->model = "model.xml";
    portable.files = {{"model.xml", testing::bytes_of("<net/>")}, {"model.bin", testing::bytes_of("weights")}};
    EXPECT_TRUE(writer.add_variant(kModelComponent, std::move(portable)).ok());
    const auto outcomes = compile_all(model, jobs, {});
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_TRUE(outcomes[i].status.ok()) << outcomes[i].status.to_string();
      VariantInput variant = variant_of(jobs[i], outcomes[i]);
      variant.latebind->runtime_version = runtime_version;
      EXPECT_TRUE(writer.add_variant(kModelComponent, std::move(variant)).ok());
    }
    const auto place = folder / "bundle";
    EXPECT_TRUE(writer.write(place, PackageForm::kZip).ok());
    auto package = Package::open(place);
    EXPECT_TRUE(package.ok()) << package.status().to_string();
    return *std::move(package);
  }

  static std::vector<std::string> names(const std::vector<ReadyBlob>& blobs) {
    std::vector<std::string> result;
    for (const ReadyBlob& blob : blobs)
      result.push_back(blob.name);
    return result;
  }

  const platform::testing::ScratchFolder folder;
  Registry registry;
  Model model = Model::from_forms("a model", {ModelForm{}});
  std::shared_ptr<ScriptedBackend> first = std::make_shared<ScriptedBackend>("first");
  std::shared_ptr<ScriptedBackend> second = std::make_shared<ScriptedBackend>("second");
};

TEST_F(CompileTest, FindsTargetsByKindArchitectureAndName) {
  EXPECT_EQ(job("cpu").target.device.id(), "first:CPU");
  EXPECT_EQ(job("second:CPU").target.device.id(), "second:CPU");
  EXPECT_EQ(job("npu:v2").target.device.id(), "second:NPU.v2");
  EXPECT_EQ(job("second:NPU.v1").target.device.id(), "second:NPU.v1");
  EXPECT_EQ(CompileTargets(registry).find("npu").status().code(), StatusCode::kDeviceNotFound) << "of which kind?";
  const auto unknown = CompileTargets(registry).find("npu:v22").status();
  EXPECT_EQ(unknown.code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(unknown.to_string(), AllOf(HasSubstr("npu:v2"), HasSubstr("did you mean")));
  first->present.clear();
  EXPECT_EQ(job("cpu").target.device.id(), "second:CPU");
}

TEST_F(CompileTest, AGpusTargetNamesItsArchitectureIfThatIsOneWord) {
  const auto gpu_of = [&](const std::string& architecture) {
    second->present.back() = {"second", "GPU", DeviceKind::kGpu, "a GPU", "1.0", {.architecture = architecture}};
    return job("gpu");
  };
  EXPECT_EQ(gpu_of("v12.55.8").target.device.target(), "gpu:v12.55.8");
  EXPECT_EQ(job("gpu:v12.55.8").target.device.id(), "second:GPU");
  EXPECT_EQ(variant_name(gpu_of("v12.55.8")), "gpu-v12.55.8-second-f32");
  // A sentence is for people: it is no part of a name.
  for (const char* sentence :
       {"GPU: v/12.70", "", "Xe-LPG 12.70", "a-word-that-is-longer-than-any-name-of-an-architecture"})
    EXPECT_EQ(gpu_of(sentence).target.device.target(), "gpu") << sentence;
}

TEST_F(CompileTest, ACompilerThatIsNotInstalledIsSaid) {
  const auto missing = CompileTargets(registry).find("npu:v3").status();
  EXPECT_EQ(missing.code(), StatusCode::kLibraryNotFound);
  EXPECT_THAT(missing.to_string(), HasSubstr("libcompiler.so, which the driver's package has"));
}

TEST_F(CompileTest, ComputesInWhatTheDeviceHas) {
  EXPECT_EQ(job("cpu").options.precision, Precision::kF32);
  EXPECT_EQ(job("npu:v1").options.precision, Precision::kF16);
}

TEST_F(CompileTest, NamesVariantsByWhatTheyAreFor) {
  EXPECT_EQ(variant_name(job("cpu")), "cpu-first-f32");
  EXPECT_EQ(variant_name(job("npu:v1", {Shape{1, 32}, Shape{1, 32}})), "npu-v1-f16-1x32");
  EXPECT_EQ(variant_name(job("npu:v1", {Shape{1, 32}, Shape{8}})), "npu-v1-f16-1x32+8");
}

TEST_F(CompileTest, WhatACompilerDidNotTakeIsKeptWithItsOutcome) {
  const LeftNodes left{.count = 2, .first = {{"NonZero", "find", "i64 [2,?]"}, {"Cast", "", ""}}};
  second->left_nodes["NPU.v1"] = second->left_nodes["NPU.v2"] = left;
  second->compile_failures["NPU.v1"] = Status(StatusCode::kDeviceFailed, "no tiling\nfor this");
  second->compile_failures["NPU.v2"] = Status(StatusCode::kUnsupported, "leaves 2 nodes");
  const std::vector<CompileJob> jobs{job("npu:v1", {Shape{1, 8}}), job("npu:v2"), job("second:CPU")};
  const auto outcomes = compile_all(model, jobs, {.keep_going = true});
  EXPECT_EQ(outcomes[0].left, left);
  EXPECT_EQ(outcomes[2].left, LeftNodes{});
  const auto refused = refused_target(model, jobs[0], outcomes[0]);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(*refused, (RefusedTarget{.variant = "npu-v1-f16-1x8",
                                     .target = "npu:v1",
                                     .backend = "second",
                                     .device = "NPU.v1",
                                     .runtime_version = "1.0",
                                     .precision = "f16",
                                     .shapes = {{1, 8}},
                                     .reason = "no tiling for this",
                                     .nodes = left}));
  // Compiled in part: the variant says what of it is left.
  ASSERT_TRUE(outcomes[1].blob.has_value());
  EXPECT_FALSE(refused_target(model, jobs[1], outcomes[1]).has_value());
  EXPECT_EQ(variant_of(jobs[1], outcomes[1]).latebind->left_to_cpu, left);
  EXPECT_FALSE(refused_target(model, jobs[2], outcomes[2]).has_value());
}

TEST_F(CompileTest, WhatFailedForWantOfMemoryIsNotHeldAgainstTheModel) {
  for (const StatusCode code :
       {StatusCode::kOutOfMemory, StatusCode::kDiskFull, StatusCode::kCancelled, StatusCode::kLibraryNotFound}) {
    EXPECT_FALSE(refused_target(model, job("npu:v1"), {.status = Status(code, "not now")}).has_value());
  }
}

TEST_F(CompileTest, WhereTheModelLayIsNotKept) {
  testing::write_file(folder / "m.onnx", "model");
  ModelForm form;
  form.format = ModelFormat::kOnnx;
  form.file = folder / "m.onnx";
  const Model in_file = Model::from_forms("m", {std::move(form)});
  const std::string place = (folder / "m.onnx").string();
  const auto refused =
      refused_target(in_file, job("npu:v1"),
                     {.status = Status(StatusCode::kInvalidModel, fmt::format("cannot read '{}': {}", place, place))});
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->reason, "cannot read 'm.onnx': m.onnx");
}

TEST_F(CompileTest, ABundleKeepsWhatItCouldNotBeCompiledForUntilItIs) {
  const auto writer_of = [&] {
    PackageWriter writer({.name = "a model"});
    VariantInput portable = portable_input(ModelFormat::kOnnx);
    portable.files.push_back({portable.latebind->model, testing::bytes_of("model")});
    EXPECT_TRUE(writer.add_variant(kModelComponent, std::move(portable)).ok());
    return writer;
  };
  const auto refused = [&](std::string_view target, std::string reason) {
    return *refused_target(model, job(target), {.status = Status(StatusCode::kDeviceFailed, std::move(reason))});
  };
  PackageWriter first_one = writer_of();
  ASSERT_TRUE(first_one.set_refused(kModelComponent, {refused("npu:v2", "two"), refused("npu:v1", "one")}, {}).ok());
  ASSERT_TRUE(first_one.write(folder / "b", PackageForm::kZip).ok());
  const auto package = Package::open(folder / "b");
  ASSERT_TRUE(package.ok()) << package.status().to_string();
  const auto kept = portable_variant(package->manifest().components.front())->latebind->refused;
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0], refused("npu:v1", "one"));

  PackageWriter second_one({.name = "a model"});
  ASSERT_TRUE(second_one.add_package(*package, kModelComponent, {}).ok());
  ASSERT_TRUE(second_one.set_refused(kModelComponent, {refused("npu:v2", "again")}, {"npu-v1-f16", "npu-v2-f16"}).ok());
  ASSERT_TRUE(second_one.write(folder / "c", PackageForm::kZip).ok());
  const auto later = Package::open(folder / "c");
  ASSERT_TRUE(later.ok()) << later.status().to_string();
  EXPECT_THAT(portable_variant(later->manifest().components.front())->latebind->refused,
              ElementsAre(refused("npu:v2", "again")));
}

TEST_F(CompileTest, OutcomesStandInTheOrderOfTheJobs) {
  std::vector<std::size_t> told;
  CompileRun run{.side_by_side = 3, .keep_going = true};
  run.tell = [&](std::size_t index, const CompileOutcome* outcome) {
    if (outcome != nullptr) told.push_back(index);
  };
  second->compile_failures["NPU.v1"] = Status(StatusCode::kDeviceFailed, "no tiling");
  const std::vector<CompileJob> jobs{job("cpu"), job("npu:v1"), job("npu:v2"), job("second:CPU")};
  const auto outcomes = compile_all(model, jobs, run);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_EQ(outcomes[0].blob->device, "CPU");
  EXPECT_THAT(outcomes[1].status.to_string(), HasSubstr("no tiling"));
  EXPECT_FALSE(outcomes[1].blob);
  EXPECT_EQ(outcomes[2].blob->device, "NPU.v2");
  EXPECT_EQ(outcomes[3].blob->backend, "second");
  std::ranges::sort(told);
  EXPECT_THAT(told, ElementsAre(0, 1, 2, 3));
}

TEST_F(CompileTest, NothingIsBegunAfterAFailure) {
  second->compile_failures["NPU.v1"] = Status(StatusCode::kDeviceFailed, "no tiling");
  const std::vector<CompileJob> jobs{job("npu:v1"), job("cpu")};
  const auto outcomes = compile_all(model, jobs, {});
  EXPECT_EQ(outcomes[0].status.code(), StatusCode::kDeviceFailed);
  EXPECT_EQ(outcomes[1].status.code(), StatusCode::kCancelled);
}

TEST_F(CompileTest, NodesLeftToTheCpuAreNotedAndStrictRefusesThem) {
  second->compile_failures["NPU.v1"] = Status(StatusCode::kUnsupported, "leaves Shape to the CPU");
  const std::vector<CompileJob> jobs{job("npu:v1")};
  const auto noted = compile_all(model, jobs, {});
  EXPECT_TRUE(noted[0].blob);
  EXPECT_THAT(noted[0].note, HasSubstr("leaves Shape to the CPU"));
  const auto refused = compile_all(model, jobs, {.strict = true});
  EXPECT_FALSE(refused[0].blob);
  EXPECT_EQ(refused[0].status.code(), StatusCode::kUnsupported);
}

TEST_F(CompileTest, ADeviceGetsItsOwnBlobsAndNoOthers) {
  const auto blobs = BundleBlobs::of(bundle({job("cpu"), job("second:CPU"), job("npu:v1", {Shape{1, 8}})}));
  ASSERT_TRUE(blobs.ok()) << blobs.status().to_string();
  const Device cpu = first->present.front();
  CompileOptions options;
  EXPECT_THAT(names((*blobs)->blobs_for(cpu, options)), ElementsAre("cpu-first-f32"));
  EXPECT_THAT(names((*blobs)->blobs_for(second->present.front(), options)), ElementsAre("cpu-second-f32"));
  options.precision = Precision::kBF16;
  EXPECT_THAT(names((*blobs)->blobs_for(cpu, options)), IsEmpty());
  options.precision = Precision::kF16;
  EXPECT_THAT(names((*blobs)->blobs_for(npu("v1"), options)), IsEmpty()) << "of any shape there is none";
  options.input_shapes = {Shape{1, 8}};
  EXPECT_THAT(names((*blobs)->blobs_for(npu("v1"), options)), ElementsAre("npu-v1-f16-1x8"));
  EXPECT_THAT(names((*blobs)->blobs_for(npu("v2"), options)), IsEmpty());
  const auto opened = (*blobs)->blobs_for(npu("v1"), options).front().open();
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(testing::text_of(opened->bytes), "blob of second:NPU.v1");
  EXPECT_EQ(opened->precision, Precision::kF16);
}

TEST_F(CompileTest, ADeviceThatIsHereTakesWhatWasMadeForItsArchitecture) {
  const auto blobs = BundleBlobs::of(bundle({job("npu:v1", {Shape{1, 8}})}));
  Device real = npu("v1");
  real.name = "NPU";
  real.traits.virtual_device.reset();
  CompileOptions options;
  options.precision = Precision::kF16;
  options.input_shapes = {Shape{1, 8}};
  const auto ready = (*blobs)->blobs_for(real, options);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].open()->device, "NPU") << "as it is called here";
}

TEST_F(CompileTest, TellsTheLengthsThatLieReady) {
  const auto blobs = BundleBlobs::of(bundle({job("npu:v1", {Shape{1, 16}, Shape{1, 16}}), job("npu:v1", {Shape{1, 8}}),
                                             job("npu:v1", {Shape{2, 32}}), job("npu:v2", {Shape{1, 4}})}));
  CompileOptions options;
  options.precision = Precision::kF16;
  EXPECT_THAT((*blobs)->static_lengths(npu("v1"), options, 1), ElementsAre(8, 16));
  EXPECT_THAT((*blobs)->static_lengths(npu("v1"), options, 2), ElementsAre(32));
  EXPECT_THAT((*blobs)->static_lengths(npu("v3"), options, 1), IsEmpty());
  options.precision = Precision::kF32;
  EXPECT_THAT((*blobs)->static_lengths(npu("v1"), options, 1), IsEmpty());
  EXPECT_EQ((*blobs)->padded().inputs, 0U) << "nothing says that its inputs may be padded";
}

TEST_F(CompileTest, InputsOfAModelThatEmbedsTextMayBePadded) {
  PackageWriter writer({.name = "embedder"});
  VariantInput portable = portable_input(ModelFormat::kOnnx);
  portable.latebind->assets[kModelFolderRole] = *writer.add_asset({{"tokenizer.json", testing::bytes_of("{}")}});
  portable.files.push_back({portable.latebind->model, testing::bytes_of("model")});
  ASSERT_TRUE(writer.add_variant(kModelComponent, std::move(portable)).ok());
  Blob blob;
  blob.backend = "second";
  blob.device = "NPU.v1";
  blob.bytes = testing::bytes_of("blob");
  for (const std::int64_t length : {16, 8}) {
    const Shape shape{1, length};
    ASSERT_TRUE(writer.add_variant(kModelComponent, variant_of(job("npu:v1", {shape, shape}), {.blob = blob})).ok());
  }
  const auto files = writer.write(folder / "b", PackageForm::kZip);
  ASSERT_TRUE(files.ok()) << files.to_string();
  const auto blobs = BundleBlobs::of(*Package::open(folder / "b"));
  ASSERT_TRUE(blobs.ok());
  EXPECT_EQ((*blobs)->padded().inputs, 2U);
  EXPECT_THAT((*blobs)->padded().lengths, ElementsAre(8, 16));
}

TEST_F(CompileTest, TheEngineLoadsTheBlobAndCompilesNothing) {
  const auto from_bundle = model_of_bundle(bundle({job("cpu")}));
  ASSERT_TRUE(from_bundle.ok()) << from_bundle.status().to_string();
  const auto placed = Engine(registry).load(*from_bundle, *Placement::parse("auto", registry), {});
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_EQ((*placed)->attestation()->active.backend, "first");
  EXPECT_TRUE((*placed)->attestation()->active.from_cache);
  EXPECT_EQ(first->loads, 0);
}

TEST_F(CompileTest, ABlobThatTheBackendRefusesIsNoFailure) {
  const auto from_bundle = model_of_bundle(bundle({job("cpu")}, "0.9"));
  const auto placed = Engine(registry).load(*from_bundle, *Placement::parse("auto", registry), {});
  ASSERT_TRUE(placed.ok()) << placed.status().to_string();
  EXPECT_FALSE((*placed)->attestation()->active.from_cache);
  EXPECT_FALSE((*placed)->attestation()->fallback) << "the same device compiles the portable model";
  EXPECT_EQ(first->loads, 1);
}

TEST_F(CompileTest, ADamagedBlobIsPassedOverAndADamagedPortableModelRefused) {
  (void)bundle({job("cpu")});
  std::string content = testing::read_file(folder / "bundle");
  const auto flip = [&](std::string_view what) {
    std::string damaged = content;
    damaged[damaged.find(what)] ^= 1;
    testing::write_file(folder / "damaged", damaged);
    return model_of_bundle(*Package::open(folder / "damaged"));
  };
  const auto load = [&](const Result<Model>& from_bundle) {
    return Engine(registry).load(*from_bundle, *Placement::parse("first", registry), {}).status();
  };
  EXPECT_TRUE(load(flip("blob of first")).ok());
  EXPECT_EQ(first->loads, 1) << "the portable model was compiled instead";
  EXPECT_TRUE(load(flip("weights")).ok()) << "nobody reads them";
  content[content.find("blob of first")] ^= 1;
  const auto refused = load(flip("weights"));
  EXPECT_EQ(refused.code(), StatusCode::kInvalidModel) << refused.to_string();
}

TEST_F(CompileTest, SaysOfEachVariantWhetherItLoads) {
  const Package package = bundle({job("cpu"), job("npu:v1", {Shape{1, 8}})});
  const Component& component = **model_component(package);
  const Device cpu = first->present.front();
  const auto reason = [&](const char* name) {
    return try_variant(package, *Package::find_variant(component, name), *first, cpu, {}).to_string();
  };
  EXPECT_EQ(reason("cpu-first-f32"), Status().to_string());
  EXPECT_THAT(reason("npu-v1-f16-1x8"), HasSubstr("made for the backend second"));
  EXPECT_THAT(reason("portable"), HasSubstr("portable"));
  CompileOptions options;
  options.precision = Precision::kF16;
  EXPECT_TRUE(
      try_variant(package, *Package::find_variant(component, "npu-v1-f16-1x8"), *second, npu("v1"), options).ok())
      << "whatever shape it is for";
}

TEST_F(CompileTest, APackageByOthersHasAPortableModelByItsProvider) {
  Component component;
  component.variants.resize(3);
  component.variants[0].name = "a";
  component.variants[0].ep = "SomeExecutionProvider";
  component.variants[0].executor_info["ort"] = {{"model_file", "a.onnx"}};
  component.variants[1].name = "b";
  component.variants[1].ep = "CPUExecutionProvider";
  component.variants[2].name = "c";
  component.variants[2].ep = "CPUExecutionProvider";
  component.variants[2].executor_info["ort"] = {{"model_file", "c.onnx"}};
  ASSERT_NE(portable_variant(component), nullptr);
  EXPECT_EQ(portable_variant(component)->name, "c");
  EXPECT_EQ(model_file_of(component.variants[2]), "c.onnx");
  EXPECT_THAT(judge(component.variants[0], npu("v1"), {}).to_string(), HasSubstr("another tool"));
}

}  // namespace
}  // namespace latebind::core
