// Engine with a compile cache: compiled once, loaded from then on, and compiled again whatever is wrong.
#include "core/cache/cached_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>

#include "core/backend/blob_source.h"
#include "core/engine/engine.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

// Its blob says what was compiled.
class CompilingBackend : public test::ScriptedBackend {
 public:
  using ScriptedBackend::ScriptedBackend;

  Result<LoadedModel> load_exporting(const Model& model, std::string_view device,
                                     const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
    if (gives_none) return LoadedModel{std::move(executable), nullptr};
    return LoadedModel{std::move(executable), [this]() -> Result<Blob> {
                         ++exports;
                         LB_RETURN_IF_ERROR(export_failure);
                         return Blob{{"toy", "CPU", "1.0"}, SharedBytes::from_string("compiled")};
                       }};
  }
  Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                           const CompileOptions& options) override {
    if (while_loading) while_loading();
    return ScriptedBackend::load(model, device, options);
  }
  Result<std::unique_ptr<Executable>> load_blob(const Blob& blob, std::string_view device,
                                                const CompileOptions& options) override {
    ++imports;
    LB_RETURN_IF_ERROR(import_failure);
    EXPECT_TRUE(options.input_shapes.empty());
    const std::string_view text(reinterpret_cast<const char*>(blob.bytes.bytes.data()), blob.bytes.bytes.size());
    EXPECT_EQ(text, "compiled");
    ActiveConfig active;
    active.backend = "toy";
    active.device = std::string(device);
    active.from_cache = true;
    return std::unique_ptr<Executable>(std::make_unique<test::ScriptedExecutable>(std::move(active), nullptr));
  }

  std::function<void()> while_loading;  // from a model
  Status import_failure;
  Status export_failure;
  bool gives_none = false;
  std::atomic<int> imports{0};
  std::atomic<int> exports{0};
};

class CachedLoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = platform::TemporaryFolder::create("latebind-cache-test");
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    folder.emplace(*std::move(made));
    toy = std::make_shared<CompilingBackend>("toy");
    toy->with("CPU", DeviceKind::kCpu);
    toy->blobs = true;
    ASSERT_TRUE(registry.add(toy).ok());
    // Files need not have settled, since nobody can set back the time of their last change.
    options.cache = std::make_shared<CompileCache>(folder->path() / "compiled", CompileStore::kBytesMax,
                                                   std::chrono::nanoseconds(0));
  }

  // Loads as a start of the program would; true when it came from the cache.
  bool from_cache(const Model& wanted) {
    const auto placed = Engine(registry).load(wanted, *Placement::parse("auto", registry), options);
    EXPECT_TRUE(placed.ok()) << placed.status().to_string();
    options.cache->settle();
    return placed.ok() && (*placed)->attestation()->active.from_cache;
  }
  static Model model_of(std::string graph) {
    return Model::from_forms("a model", {ModelForm{.format = ModelFormat::kOpenvinoIr,
                                                   .graph = SharedBytes::from_string(std::move(graph))}});
  }
  std::size_t entries() const { return options.cache->store()->list()->size(); }

  std::optional<platform::TemporaryFolder> folder;
  Registry registry;
  LoadOptions options;
  std::shared_ptr<CompilingBackend> toy;
  Model model = model_of("a graph");
};

TEST_F(CachedLoadTest, TheSecondStartCompilesNothing) {
  EXPECT_FALSE(from_cache(model));
  EXPECT_TRUE(from_cache(model));
  EXPECT_TRUE(from_cache(model));
  EXPECT_EQ(toy->loads, 1);
  EXPECT_EQ(toy->exports, 1);
}

TEST_F(CachedLoadTest, WithoutACacheNothingIsExported) {
  options.cache = nullptr;
  const auto placed = Engine(registry).load(model, *Placement::parse("auto", registry), options);
  ASSERT_TRUE(placed.ok());
  EXPECT_FALSE((*placed)->attestation()->active.from_cache);
  EXPECT_EQ(toy->exports, 0);
}

TEST_F(CachedLoadTest, AnotherModelOrOptionIsCompiled) {
  EXPECT_FALSE(from_cache(model));
  EXPECT_FALSE(from_cache(model_of("another graph")));
  options.compile.precision = Precision::kBF16;
  EXPECT_FALSE(from_cache(model));
  options.compile.properties["K"] = "V";
  EXPECT_FALSE(from_cache(model));
  toy->present.front().traits.architecture = "newer";
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(entries(), 5U);
}

TEST_F(CachedLoadTest, ABlobThatIsRefusedIsReplaced) {
  EXPECT_FALSE(from_cache(model));
  toy->import_failure = Status(StatusCode::kIncompatibleBlob, "made by another version");
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(toy->loads, 2);
  EXPECT_EQ(entries(), 1U);
  toy->import_failure = {};
  EXPECT_TRUE(from_cache(model));
}

TEST_F(CachedLoadTest, AnEntryStaysWhenItsDeviceDoesNotTakeItNow) {
  EXPECT_FALSE(from_cache(model));
  const auto placement = *Placement::parse("auto", registry);
  for (const StatusCode code :
       {StatusCode::kDeviceNotFound, StatusCode::kBusy, StatusCode::kOutOfMemory, StatusCode::kDeviceFailed,
        StatusCode::kDeadlineExceeded, StatusCode::kLibraryNotFound, StatusCode::kIncompatibleBlob}) {
    // The device is away: it takes nothing at all, and may say so of the blob as if it were the blob's fault.
    toy->import_failure = Status(code, "not now");
    toy->load_failures["CPU"] = Status(StatusCode::kDeviceFailed, "not now");
    EXPECT_FALSE(Engine(registry).load(model, placement, options).ok());
    options.cache->settle();
    EXPECT_EQ(entries(), 1U) << name_of(code);
    toy->import_failure = {};
    toy->load_failures.clear();
    EXPECT_TRUE(from_cache(model)) << name_of(code);
  }
  toy->import_failure = Status(StatusCode::kBusy, "not now");
  toy->gives_none = true;
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(entries(), 1U) << "compiled, because the blob was refused only for now";
}

TEST_F(CachedLoadTest, AnEntryThatCannotBeReplacedIsDroppedWhenItIsIncompatible) {
  EXPECT_FALSE(from_cache(model));
  toy->import_failure = Status(StatusCode::kIncompatibleBlob, "made by another version");
  toy->gives_none = true;
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedLoadTest, NothingIsPutUnderADigestThatIsNotOfTheBytes) {
  const auto claims = [&](Status proof) { return model.with_digest("claimed").with_proof([proof] { return proof; }); };
  const Model forged = claims(Status(StatusCode::kInvalidModel, "the weights were changed"));
  const Model genuine = claims({});
  EXPECT_FALSE(from_cache(forged));
  EXPECT_EQ(entries(), 0U);
  EXPECT_FALSE(from_cache(genuine)) << "the forged one has poisoned the cache";
  EXPECT_EQ(entries(), 1U);
  // What stands under the digest is what the digest is of.
  EXPECT_TRUE(from_cache(forged));
  EXPECT_TRUE(from_cache(genuine));
}

TEST_F(CachedLoadTest, ABlobOfOtherShapesIsRefused) {
  options.compile.input_shapes = {Shape{3}};
  EXPECT_FALSE(from_cache(model));
  // The double declares [?] whatever it was compiled for.
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(toy->imports, 1);
}

// What comes with a model.
class TwoBlobs final : public BlobSource {
 public:
  [[nodiscard]] std::vector<ReadyBlob> blobs_for(const Device& /*device*/,
                                                 const CompileOptions& /*options*/) const override {
    const BlobLabel label{"toy", "CPU", version};
    return {{"damaged", label,
             [this]() -> Result<Blob> {
               ++opened;
               return Status(StatusCode::kIo, "another checksum");
             }},
            {"for another", label, [this, label]() -> Result<Blob> {
               ++opened;
               return Blob{label, SharedBytes::from_string("compiled")};
             }}};
  }

  std::string version = "1.0";
  mutable std::atomic<int> opened{0};
  [[nodiscard]] std::vector<std::size_t> static_lengths(const Device& /*device*/, const CompileOptions& /*options*/,
                                                        std::size_t /*rows*/) const override {
    return {};
  }
};

TEST_F(CachedLoadTest, WhatCameCompiledAndDidNotDoIsInTheAttestation) {
  const Model with_blobs = model.with_blobs(std::make_shared<const TwoBlobs>());
  const auto reason = [&] {
    const auto placed = Engine(registry).load(with_blobs, *Placement::parse("auto", registry), options);
    EXPECT_TRUE(placed.ok()) << placed.status().to_string();
    const auto attestation = (*placed)->attestation();
    EXPECT_FALSE(attestation->fallback);
    EXPECT_TRUE(attestation->steps.back().taken);
    return attestation->steps.back().reason;
  };
  EXPECT_EQ(reason(), "variant 'damaged' cannot be read: another checksum");
  toy->import_failure = Status(StatusCode::kIncompatibleBlob, "of another version");
  EXPECT_EQ(reason(),
            "variant 'damaged' cannot be read: another checksum; variant 'for another' does not do: of another "
            "version");
  const auto plain = Engine(registry).load(model, *Placement::parse("auto", registry), options);
  EXPECT_EQ((*plain)->attestation()->steps.back().reason, "");
}

TEST_F(CachedLoadTest, ABlobWhoseLabelDoesNotFitIsNotRead) {
  const auto blobs = std::make_shared<TwoBlobs>();
  const Model with_blobs = model.with_blobs(blobs);
  const auto reason = [&] {
    const auto placed = Engine(registry).load(with_blobs, *Placement::parse("auto", registry), options);
    EXPECT_TRUE(placed.ok()) << placed.status().to_string();
    return placed.ok() ? (*placed)->attestation()->steps.back().reason : "";
  };
  blobs->version = "0.9";
  EXPECT_EQ(reason(),
            "variant 'damaged' does not do: made for another version; variant 'for another' does not do: made for "
            "another version");
  EXPECT_EQ(blobs->opened, 0);
  EXPECT_EQ(toy->imports, 0);
  blobs->version = "1.0";
  EXPECT_EQ(reason(), "variant 'damaged' cannot be read: another checksum");
  EXPECT_EQ(blobs->opened, 2);
  EXPECT_EQ(toy->imports, 1);
}

TEST_F(CachedLoadTest, ABackendWithoutTheCapabilityIsLoadedWithoutTheCache) {
  toy->blobs = false;
  EXPECT_FALSE(from_cache(model));
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(toy->exports, 0);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedLoadTest, AFailedExportIsOnlySlower) {
  toy->export_failure = Status(StatusCode::kDeviceFailed, "no");
  EXPECT_FALSE(from_cache(model));
  EXPECT_FALSE(from_cache(model));
  toy->export_failure = {};
  EXPECT_FALSE(from_cache(model));
  EXPECT_TRUE(from_cache(model));
}

TEST_F(CachedLoadTest, ABackendWithoutBlobsWorksAsBefore) {
  toy->gives_none = true;
  EXPECT_FALSE(from_cache(model));
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedLoadTest, AFailedLoadIsTheLoadsOwnError) {
  toy->load_failures["CPU"] = Status(StatusCode::kInvalidModel, "garbage");
  const auto placed = Engine(registry).load(model, *Placement::parse("auto", registry), options);
  EXPECT_EQ(placed.status().code(), StatusCode::kInvalidModel);
}

class CachedFileTest : public CachedLoadTest {
 protected:
  void SetUp() override {
    CachedLoadTest::SetUp();
    file = folder->path() / "model.onnx";
    write("\x08\x0a");
  }
  // A large file, so that its digest is not computed before loading.
  static std::string content(const std::string& head) {
    std::string bytes = head + std::string("\x3a\x00", 2);  // a graph, empty
    // An unknown field of its own length.
    bytes += "\xfa\x06";
    std::size_t size = std::size_t{2} << 20;
    for (std::size_t left = size; left > 0; left >>= 7U)
      bytes += static_cast<char>((left & 0x7fU) | (left > 0x7fU ? 0x80U : 0U));
    return bytes.append(size, 'x');
  }
  // In place, and until the system shows it: its clock for files may stand for some milliseconds.
  void write(const std::string& head) const { write_at_a_second(file, head); }
  // With a time of whole seconds, which every system can set again.
  static void write_at_a_second(const std::filesystem::path& place, const std::string& head) {
    write(place, content(head));
    const auto time = std::filesystem::last_write_time(place);
    std::filesystem::last_write_time(place, std::chrono::floor<std::chrono::seconds>(time));
  }
  static void write(const std::filesystem::path& place, const std::string& bytes) {
    const auto before = platform::file_identity(place);
    do {
      std::ofstream out(place, std::ios::binary);
      ASSERT_TRUE(out.is_open()) << place;
      out << bytes;
    } while (before.ok() && *platform::file_identity(place) == *before);
  }
  void write_keeping_the_time(const std::string& head) const {
    const auto before = *platform::file_identity(file);
    const auto time = std::filesystem::last_write_time(file);
    write(head);
    std::filesystem::last_write_time(file, time);
    const auto after = *platform::file_identity(file);
    ASSERT_EQ(after.modified_ns, before.modified_ns);
    ASSERT_EQ(after.size, before.size);
  }
  void replace(const std::string& head) const {
    const auto other = folder->path() / "other.onnx";
    write_at_a_second(other, head);
    std::filesystem::rename(other, file);
  }
  // A model of a graph in memory whose data is a file.
  static Model in_memory(const std::filesystem::path& data) {
    auto external = ExternalData::in_file("w", data);
    EXPECT_TRUE(external.ok()) << external.status().to_string();
    return Model::from_forms("a model",
                             {ModelForm{.graph = SharedBytes::from_string(std::string("\x08\x0a\x3a\x00", 4)),
                                        .external = {*std::move(external)}}});
  }
  Model opened() const {
    auto made = Model::from_file(file);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *std::move(made);
  }
  // As a loaded model loads again, for another length or on another device.
  Status load(const Model& wanted, bool cached = true) {
    return ready_or_cached_load(*toy, wanted, toy->present.front(), {}, cached ? options.cache.get() : nullptr)
        .status();
  }
  std::filesystem::path file;
};

TEST_F(CachedFileTest, AFileIsHashedInTheBackgroundAndKnownAtTheSecondStart) {
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_TRUE(from_cache(opened()));
  write("\x08\x0b");
  EXPECT_FALSE(from_cache(opened())) << "it was replaced";
  EXPECT_TRUE(from_cache(opened()));
}

TEST_F(CachedFileTest, AFileThatIsWrittenInPlaceWithItsTimeKeptIsAnotherModel) {
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_TRUE(from_cache(opened()));
  write_keeping_the_time("\x08\x0b");
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_TRUE(from_cache(opened()));
}

TEST_F(CachedFileTest, AFileThatWasJustWrittenIsNotKept) {
  options.cache = std::make_shared<CompileCache>(folder->path() / "compiled");
  write("\x08\x0a");
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedFileTest, AFileThatIsReplacedWhileItIsLoadedIsNotKept) {
  const Model old = opened();
  toy->export_failure = {};
  const auto placed = Engine(registry).load(old, *Placement::parse("auto", registry), options);
  ASSERT_TRUE(placed.ok());
  write("\x08\x0c");  // before the background has hashed it
  options.cache->settle();
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedFileTest, ALoadedModelIsNotLoadedAgainFromAnotherFile) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  for (const bool cached : {true, false}) {
    Model model_ = opened();
    EXPECT_TRUE(load(model_, cached).ok());
    EXPECT_TRUE(load(model_, cached).ok());
    replace("\x08\x0d");
    EXPECT_EQ(load(model_, cached).code(), StatusCode::kIo);
    EXPECT_THAT(load(model_, cached).to_string(), AllOf(HasSubstr(file.string()), HasSubstr("was replaced after")));

    model_ = opened();
    EXPECT_TRUE(load(model_, cached).ok());
    write_keeping_the_time("\x08\x0e");
    EXPECT_THAT(load(model_, cached).to_string(), HasSubstr("was changed after"));

    model_ = opened();
    EXPECT_TRUE(load(model_, cached).ok());
    // Windows removes no file that is open, as it is while its digest is made in the background.
    options.cache->settle();
    std::filesystem::remove(file);
    EXPECT_THAT(load(model_, cached).to_string(), HasSubstr("was removed after"));
    write("\x08\x0a");
    options.cache->settle();
  }
}

TEST_F(CachedFileTest, WhatIsLoadedWhileItsFileIsReplacedIsNoModel) {
  for (const bool cached : {true, false}) {
    toy->while_loading = [&] { replace("\x08\x0d"); };
    EXPECT_EQ(load(opened(), cached).code(), StatusCode::kIo);
    // Nor is it the vendor's word that counts, who may have read half of each.
    toy->load_failures["CPU"] = Status(StatusCode::kInvalidModel, "garbage");
    EXPECT_EQ(load(opened(), cached).code(), StatusCode::kIo);
    toy->while_loading = {};
    EXPECT_EQ(load(opened(), cached).code(), StatusCode::kInvalidModel);
    toy->load_failures.clear();
  }
}

TEST_F(CachedFileTest, AMappingOutlivesTheNameOfItsFileButNotAChange) {
  const Model mapped = model.with_sources({{.file = file, .identity = *platform::file_identity(file), .mapped = true}});
  EXPECT_TRUE(load(mapped).ok());
  options.cache->settle();
  const auto kept = entries();
  replace("\x08\x0d");
  EXPECT_TRUE(load(mapped).ok());
  EXPECT_TRUE(load(mapped, false).ok());
  std::filesystem::remove(file);
  EXPECT_TRUE(load(mapped, false).ok());
  EXPECT_EQ(entries(), kept);

  write("\x08\x0a");
  const Model again = model.with_sources({{.file = file, .identity = *platform::file_identity(file), .mapped = true}});
  EXPECT_TRUE(load(again).ok());
  write_keeping_the_time("\x08\x0e");
  EXPECT_THAT(load(again).to_string(), ::testing::HasSubstr("was changed after"));
  EXPECT_EQ(load(again, false).code(), StatusCode::kIo);
}

TEST_F(CachedFileTest, DataOfAModelInMemoryIsKnownByItsFile) {
  const auto data = folder->path() / "weights.bin";
  // More than what is hashed again and again, since it takes no time.
  write(data, std::string(3U << 20U, 'a'));
  EXPECT_EQ(in_memory(data)
                .digest([](const auto&) -> Result<std::string> { return Status(StatusCode::kNotFound, "not yet"); })
                .status()
                .code(),
            StatusCode::kNotFound)
      << "the file is not read";
  EXPECT_FALSE(from_cache(in_memory(data)));
  EXPECT_TRUE(from_cache(in_memory(data)));
  write(data, std::string(3U << 20U, 'b'));
  EXPECT_FALSE(from_cache(in_memory(data)));
  EXPECT_TRUE(from_cache(in_memory(data)));
  std::filesystem::remove(data);
  EXPECT_EQ(ExternalData::in_file("w", data).status().code(), StatusCode::kNotFound);
}

TEST_F(CachedFileTest, DataThatIsWrittenOverWhileItsModelLivesIsAnError) {
  const auto data = folder->path() / "weights.bin";
  write(data, std::string(3U << 20U, 'a'));
  const Model model_in_memory = in_memory(data);
  EXPECT_TRUE(load(model_in_memory).ok());
  write(data, std::string(3U << 20U, 'b'));
  EXPECT_THAT(load(model_in_memory).to_string(), ::testing::HasSubstr("weights.bin was changed after"));
}

TEST_F(CachedFileTest, DataInOtherFilesBelongsToTheModel) {
  const auto data = folder->path() / "weights.bin";
  write(data, "weights");
  // Graph (7) with an initializer (5) whose external_data (13) has the location (key 1, value 2) weights.bin.
  write(file, "\x08\x0a\x3a\x1b\x2a\x19\x6a\x17\x0a\x08location\x12\x0bweights.bin");
  const Model with_data = opened();
  EXPECT_TRUE(load(with_data).ok());
  EXPECT_TRUE(load(with_data).ok());
  write(data, "another");
  EXPECT_THAT(load(with_data).to_string(), ::testing::HasSubstr("weights.bin was changed after"));
}

TEST_F(CachedFileTest, AFileWithDataInOtherFilesIsNotKept) {
  // Graph (7) with an initializer (5) whose data_location (14) is 1.
  write(file, "\x08\x0a\x3a\x04\x2a\x02\x70\x01");
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace latebind::core
