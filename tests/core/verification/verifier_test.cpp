// Placements that are verified: who is compared with whom, what becomes of a device that disagrees, and of the verdict.
#include "core/verification/verifier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/blob_source.h"
#include "core/engine/engine.h"
#include "tests/core/cache_folder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class VerifierTest : public test::CacheFolderTest {
 protected:
  void SetUp() override {
    CacheFolderTest::SetUp();
    first->with("NPU", DeviceKind::kNpu).with("CPU", DeviceKind::kCpu);
    second->with("CPU", DeviceKind::kCpu);
    ASSERT_TRUE(registry.add(first).ok());
    ASSERT_TRUE(registry.add(second).ok());
    options.verification.enabled = true;
  }

  Result<Attestation> load(std::string_view placement = "auto") {
    const auto placed = Engine(registry).load(model, *Placement::parse(placement, registry), options);
    if (!placed.ok()) return placed.status();
    return *(*placed)->attestation();
  }
  std::string device_of(std::string_view placement = "auto") {
    const auto attested = load(placement);
    return attested.ok() ? attested->active.id() : attested.status().to_string();
  }

  std::shared_ptr<test::ScriptedBackend> first = std::make_shared<test::ScriptedBackend>("first");
  std::shared_ptr<test::ScriptedBackend> second = std::make_shared<test::ScriptedBackend>("second");
  Registry registry;
  Model model = Model::from_forms("a model", {ModelForm{}}).with_digest("a digest");
  LoadOptions options;
};

TEST_F(VerifierTest, ADeviceThatAgreesIsTakenAndSaysSo) {
  const auto attested = load();
  ASSERT_TRUE(attested.ok()) << attested.status().to_string();
  EXPECT_EQ(attested->active.id(), "first:NPU");
  EXPECT_THAT(attested->verification, StartsWith("agrees with first:CPU: largest difference 0"));
  EXPECT_FALSE(attested->fallback);
}

TEST_F(VerifierTest, NothingIsComparedWhereNobodyAskedForIt) {
  options.verification.enabled = false;
  first->wrong["NPU"] = 2;
  const auto attested = load();
  ASSERT_TRUE(attested.ok());
  EXPECT_EQ(attested->active.id(), "first:NPU");
  EXPECT_EQ(attested->verification, "");
  EXPECT_EQ(first->loads, 1);
}

TEST_F(VerifierTest, ADeviceThatDisagreesFallsBehindTheNextWithThatReason) {
  first->wrong["NPU"] = 2;
  const auto attested = load();
  ASSERT_TRUE(attested.ok()) << attested.status().to_string();
  EXPECT_EQ(attested->active.id(), "first:CPU");
  EXPECT_TRUE(attested->fallback);
  EXPECT_THAT(attested->reason, HasSubstr("first:NPU: it disagrees with first:CPU in f32: output 'y'"));
  // Who was right is not asked in its turn.
  EXPECT_EQ(attested->verification, "it is the device that others are compared with");
}

TEST_F(VerifierTest, InStrictModeADisagreementIsAnError) {
  first->wrong["NPU"] = 2;
  options.strict = true;
  const auto attested = load("first:NPU");
  EXPECT_THAT(attested.status().to_string(), HasSubstr("disagrees with"));
}

TEST_F(VerifierTest, APrecisionThatDisagreesLeavesItToTheNextOne) {
  first->wrong["NPU"] = 1.02F;
  options.compile.precision = Precision::kF32;
  options.other_precisions = {Precision::kInt8};
  const auto attested = load();
  ASSERT_TRUE(attested.ok()) << attested.status().to_string();
  EXPECT_EQ(attested->active.id(), "first:NPU");
  EXPECT_EQ(attested->active.precision, Precision::kInt8);
}

TEST_F(VerifierTest, TheReferenceIsTheOneThatIsNamed) {
  options.verification.against = "second:CPU";
  second->wrong["CPU"] = 2;
  EXPECT_EQ(device_of("first:NPU,second:CPU"), "second:CPU");
  options.verification.against = "first:CPU";
  EXPECT_EQ(device_of("first:NPU,second:CPU"), "first:NPU");
}

TEST_F(VerifierTest, AReferenceThatCannotLoadLeavesItToTheNextOne) {
  first->load_failures["CPU"] = Status(StatusCode::kDeviceFailed, "boom");
  const auto attested = load("first:NPU");
  ASSERT_TRUE(attested.ok()) << attested.status().to_string();
  EXPECT_THAT(attested->verification, StartsWith("agrees with second:CPU"));
}

TEST_F(VerifierTest, WithoutAReferenceTheDeviceIsTakenAndSaysThatItIsNotVerified) {
  first->load_failures["CPU"] = Status(StatusCode::kDeviceFailed, "boom");
  second->availability = Status(StatusCode::kLibraryNotFound, "pip install second");
  const auto attested = load("first:NPU");
  ASSERT_TRUE(attested.ok()) << attested.status().to_string();
  EXPECT_THAT(attested->verification, AllOf(StartsWith("not verified: there is nothing to compare first:NPU with"),
                                            HasSubstr("first:CPU: boom"), HasSubstr("second: pip install second")));
  options.strict = true;
  EXPECT_THAT(load("first:NPU").status().to_string(), HasSubstr("there is nothing to compare"));
}

TEST_F(VerifierTest, ADeviceThatFailsOnASampleIsToBlameAndMayComeBack) {
  first->run_scripts["NPU"] = [](const RunOptions&) { return Status(StatusCode::kDeviceFailed, "boom"); };
  const auto attested = load();
  ASSERT_TRUE(attested.ok());
  EXPECT_EQ(attested->active.id(), "first:CPU");
  EXPECT_THAT(attested->reason, AllOf(HasSubstr("compared with first:CPU"), HasSubstr("boom")));
}

TEST_F(VerifierTest, TheVerdictIsKeptAndReadByTheNextStart) {
  const auto cache = [&] { return std::make_shared<CompileCache>(folder); };
  for (const float added : {1.0F, 2.0F}) {
    first->wrong["NPU"] = added;
    const std::string expected = added == 1 ? "first:NPU" : "first:CPU";
    options.cache = cache();
    EXPECT_EQ(device_of(), expected);
    options.cache->settle();
    EXPECT_EQ(options.cache->store()->list()->size(), 1U);
    // The reference is not needed: it would not load.
    options.cache = cache();
    const int loads = first->loads + second->loads;
    const auto again = load();
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->active.id(), expected);
    // Only what is used: no reference, or the device that was refused and the one that is taken.
    EXPECT_EQ(first->loads + second->loads, loads + (added == 1 ? 1 : 2));
    EXPECT_THAT(again->verification, StartsWith(added == 1 ? "agrees with first:CPU" : "it is the device that others"));
    ASSERT_TRUE(options.cache->store()->clear().ok());
  }
}

// Blobs that a model brings, none of which fits.
class RecordedBlobs final : public BlobSource {
 public:
  RecordedBlobs(std::string digest, Status proof) : digest_(std::move(digest)), proof_(std::move(proof)) {}
  [[nodiscard]] std::vector<ReadyBlob> blobs_for(const Device&, const CompileOptions&) const override { return {}; }
  [[nodiscard]] std::vector<std::size_t> static_lengths(const Device&, const CompileOptions&,
                                                        std::size_t) const override {
    return {};
  }
  [[nodiscard]] std::string digest_for(const Device&, const CompileOptions&) const override { return digest_; }
  [[nodiscard]] Status prove_for(const Device&, const CompileOptions&) const override { return proof_; }

 private:
  std::string digest_;
  Status proof_;
};

TEST_F(VerifierTest, OfAModelThatBringsBlobsTheVerdictIsKeptByWhatIsRecordedOfThem) {
  const Model plain = model;
  const auto kept_with = [&](const std::string& digest, Status proof = {}) {
    model = plain.with_blobs(std::make_shared<const RecordedBlobs>(digest, std::move(proof)));
    options.cache = std::make_shared<CompileCache>(folder);
    const int loads = first->loads + second->loads;
    EXPECT_EQ(device_of(), "first:NPU");
    const bool was_known = first->loads + second->loads == loads + 1;
    options.cache->settle();
    return was_known;
  };
  EXPECT_FALSE(kept_with("blobs"));
  EXPECT_TRUE(kept_with("blobs"));
  EXPECT_FALSE(kept_with("other blobs"));
  EXPECT_TRUE(kept_with("other blobs"));
  // Nothing is recorded of them, or it is not true.
  EXPECT_FALSE(kept_with(""));
  EXPECT_FALSE(kept_with(""));
  EXPECT_FALSE(kept_with("lies", Status(StatusCode::kInvalidModel, "they are others")));
  EXPECT_FALSE(kept_with("lies", Status(StatusCode::kInvalidModel, "they are others")));
  // Nor is it the verdict of the model by itself.
  model = plain;
  EXPECT_FALSE([&] {
    options.cache = std::make_shared<CompileCache>(folder);
    const int loads = first->loads + second->loads;
    EXPECT_EQ(device_of(), "first:NPU");
    return first->loads + second->loads == loads + 1;
  }());
}

TEST_F(VerifierTest, AVerdictIsOfOneDeviceOneReferenceAndOneSetOfOptions) {
  const VerdictSubject subject{.device = first->present[0],
                               .compile = {},
                               .active = {},
                               .reference = second->present[0],
                               .reference_options = {},
                               .samples = "random 1"};
  const auto text_for = [&](const auto& change) {
    VerdictSubject other = subject;
    change(other);
    return make_verdict_key("digest", "name", other).text;
  };
  const std::string same = text_for([](VerdictSubject&) {});
  EXPECT_NE(same, make_compile_key("digest", "name", subject.device, subject.compile).text);
  EXPECT_NE(same, make_verdict_key("another", "name", subject).text);
  EXPECT_NE(same, text_for([&](VerdictSubject& other) { other.device.runtime_version = "2.0"; }));
  EXPECT_NE(same, text_for([&](VerdictSubject& other) { other.reference = first->present[1]; }));
  EXPECT_NE(same, text_for([](VerdictSubject& other) { other.compile.threads = 3; }));
  EXPECT_NE(same, text_for([](VerdictSubject& other) { other.active.precision = Precision::kF16; }));
  EXPECT_NE(same, text_for([](VerdictSubject& other) { other.active.static_lengths = {32}; }));
  EXPECT_NE(same, text_for([](VerdictSubject& other) { other.samples = "texts 1"; }));
  EXPECT_NE(same, text_for([](VerdictSubject& other) { other.blobs = "blobs"; }));
}

TEST_F(VerifierTest, LoadsThatKnowOfEachOtherAgreeOnWhoIsRight) {
  second->wrong["CPU"] = 2;
  options.verification.disagreements = std::make_shared<Disagreements>();
  EXPECT_THAT(device_of("second:CPU"), HasSubstr("disagrees with first:CPU"));
  // On its own it would be compared with second:CPU.
  const auto attested = load("first:CPU");
  ASSERT_TRUE(attested.ok()) << attested.status().to_string();
  EXPECT_EQ(attested->verification, "it is the device that others are compared with");
  options.verification.disagreements = nullptr;
  EXPECT_THAT(device_of("first:CPU"), HasSubstr("disagrees with second:CPU"));
}

TEST_F(VerifierTest, OfManyModelsTheFirstIsForgotten) {
  Disagreements all;
  for (std::size_t i = 0; i <= Disagreements::kModelsMax; ++i)
    all.add(fmt::format("{}", i), "first:NPU", "first:CPU");
  all.add("1", "second:NPU", "second:CPU");
  EXPECT_FALSE(all.is_refused("0", "first:NPU"));
  EXPECT_FALSE(all.is_reference("0", "first:CPU"));
  for (const auto* device : {"first:NPU", "second:NPU"})
    EXPECT_TRUE(all.is_refused("1", device));
  EXPECT_TRUE(all.is_reference("256", "first:CPU"));
}

TEST_F(VerifierTest, ReferencesAreOtherCpusThoseOfGraphsFirst) {
  second->present[0].traits.graphs_only = true;
  const auto found = reference_devices(registry.all(), "first:NPU", "");
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].id(), "second:CPU");
  EXPECT_EQ((*found)[1].id(), "first:CPU");
  EXPECT_EQ((*reference_devices(registry.all(), "second:CPU", "first:NPU"))[0].id(), "first:NPU");
  const auto missing = reference_devices(registry.all(), "first:NPU", "second:GPU");
  EXPECT_EQ(missing.status().code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(missing.status().to_string(), HasSubstr("available: second:CPU"));
  EXPECT_THAT(reference_devices(registry.all(), "x", "third:CPU").status().to_string(), HasSubstr("no such backend"));
  first->availability = Status(StatusCode::kLibraryNotFound, "pip install first");
  const auto none = reference_devices(registry.all(), "second:CPU", "");
  EXPECT_EQ(none.status().code(), StatusCode::kNoDevice);
  EXPECT_THAT(none.status().to_string(), HasSubstr("pip install first"));
}

}  // namespace
}  // namespace latebind::core
