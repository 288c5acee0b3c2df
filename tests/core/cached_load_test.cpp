// Engine with a compile cache: compiled once, loaded from then on, and compiled again whatever is wrong.
#include "core/cached_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>

#include "core/engine.h"
#include "core/platform/temporary_folder.h"
#include "tests/support/scripted_backend.h"

namespace latebind::core {
namespace {

// Its blob says what was compiled.
class CompilingBackend : public test::ScriptedBackend {
 public:
  using ScriptedBackend::load;
  using ScriptedBackend::ScriptedBackend;

  Result<LoadedModel> load_exporting(const Model& model, std::string_view device,
                                     const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(auto executable, ScriptedBackend::load(model, device, options));
    if (gives_none) return LoadedModel{std::move(executable), nullptr};
    return LoadedModel{std::move(executable), [this]() -> Result<Blob> {
                         ++exports;
                         LB_RETURN_IF_ERROR(export_failure);
                         return Blob{"toy", "CPU", "1.0", Precision::kF32, SharedBytes::from_string("compiled")};
                       }};
  }
  Result<std::unique_ptr<Executable>> load(const Blob& blob, std::string_view device,
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
    ASSERT_TRUE(registry.add(toy).ok());
    options.cache = std::make_shared<CompileCache>(folder->path() / "compiled");
  }

  // Loads as a start of the program would; true when it came from the cache.
  bool from_cache(const Model& wanted) {
    const auto placed = Engine(registry).load(wanted, *Placement::parse("auto", registry), options);
    EXPECT_TRUE(placed.ok()) << placed.status().to_string();
    options.cache->settle();
    return placed.ok() && (*placed)->attestation()->active.from_cache;
  }
  static Model model_of(std::string graph) {
    return Model::from_forms("a model", {ModelForm{.graph = SharedBytes::from_string(std::move(graph))}});
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
  toy->present.front().metadata["Architecture"] = "newer";
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

TEST_F(CachedLoadTest, ABlobOfOtherShapesIsRefused) {
  options.compile.input_shapes = {Shape{3}};
  EXPECT_FALSE(from_cache(model));
  // The double declares [?] whatever it was compiled for.
  EXPECT_FALSE(from_cache(model));
  EXPECT_EQ(toy->imports, 1);
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
    write("\x08\x0a", 100);
  }
  // A large file, so that its digest is not computed before loading.
  void write(const std::string& head, int age_s) {
    std::string bytes = head + std::string("\x3a\x00", 2);  // a graph, empty
    // An unknown field of its own length.
    bytes += "\xfa\x06";
    std::size_t size = std::size_t{2} << 20;
    for (std::size_t left = size; left > 0; left >>= 7U)
      bytes += static_cast<char>((left & 0x7fU) | (left > 0x7fU ? 0x80U : 0U));
    bytes.append(size, 'x');
    std::ofstream(file, std::ios::binary) << bytes;
    std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(age_s));
  }
  Model opened() const {
    auto made = Model::from_file(file);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *std::move(made);
  }
  std::filesystem::path file;
};

TEST_F(CachedFileTest, AFileIsHashedInTheBackgroundAndKnownAtTheSecondStart) {
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_TRUE(from_cache(opened()));
  write("\x08\x0b", 50);
  EXPECT_FALSE(from_cache(opened())) << "it was replaced";
  EXPECT_TRUE(from_cache(opened()));
}

TEST_F(CachedFileTest, AFileThatWasJustWrittenIsNotKept) {
  write("\x08\x0a", 0);
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedFileTest, AFileThatIsReplacedWhileItIsLoadedIsNotKept) {
  const Model old = opened();
  toy->export_failure = {};
  const auto placed = Engine(registry).load(old, *Placement::parse("auto", registry), options);
  ASSERT_TRUE(placed.ok());
  write("\x08\x0c", 30);  // before the background has hashed it
  options.cache->settle();
  EXPECT_EQ(entries(), 0U);
}

TEST_F(CachedFileTest, AFileWithDataInOtherFilesIsNotKept) {
  // Graph (7) with an initializer (5) whose data_location (14) is 1.
  write("\x08\x0a\x3a\x04\x2a\x02\x70\x01", 100);
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_FALSE(from_cache(opened()));
  EXPECT_EQ(entries(), 0U);
}

}  // namespace
}  // namespace latebind::core
