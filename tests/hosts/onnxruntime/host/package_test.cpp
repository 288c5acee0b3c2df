// A model package of ONNX Runtime's own with two compiled variants of Latebind's: the host selects by what the provider
// says of their compatibility strings.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/json/value.h"
#include "core/platform/files/temporary_folder.h"
#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {
namespace {

namespace fs = std::filesystem;

// Newer than the headers here: a stable table since 1.31, by the places of its functions.
constexpr std::uint32_t kSince = 31;
constexpr std::size_t kGetModelPackageApi = 427;
enum Place : std::size_t { kCreateOptions = 0, kCreateContext = 2, kSelect = 11, kSelectedName = 13, kSession = 15 };

template <class... Arguments>
OrtStatus* call(const void* table, std::size_t place, Arguments... arguments) {
  const auto* slots = static_cast<void* const*>(table);
  return reinterpret_cast<OrtStatus*(ORT_API_CALL*)(Arguments...)>(slots[place])(arguments...);
}

class OnnxruntimePackageTest : public OnnxruntimeHostTest {
 protected:
  void SetUp() override {
    OnnxruntimeHostTest::SetUp();
    const OrtApi* newest = base()->GetApi(kSince);
    if (newest == nullptr) GTEST_SKIP() << "ONNX Runtime " << base()->GetVersionString() << " opens no model packages";
    const auto get =
        reinterpret_cast<const void*(ORT_API_CALL*)()>(reinterpret_cast<void* const*>(newest)[kGetModelPackageApi]);
    packages_ = get();
    ASSERT_NE(packages_, nullptr);
    register_as("latebind");
    auto folder = platform::TemporaryFolder::create("test");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(*std::move(folder));
  }

  // A compiled variant's folder, and what the model says it is for.
  std::string compile(const char* name) {
    fs::create_directory(folder_->path() / name);
    const fs::path file = folder_->path() / name / "model.onnx";
    const OrtCompileApi& compiler = *api().GetCompileApi();
    OrtSessionOptions* options = options_for(devices());
    OrtModelCompilationOptions* how = nullptr;
    EXPECT_EQ(text_of(compiler.CreateModelCompilationOptionsFromSessionOptions(env_, options, &how)), "");
    const std::string bytes = model();
    EXPECT_EQ(text_of(compiler.ModelCompilationOptions_SetInputModelFromBuffer(how, bytes.data(), bytes.size())), "");
    EXPECT_EQ(text_of(compiler.ModelCompilationOptions_SetOutputModelPath(how, file.c_str())), "");
    EXPECT_EQ(text_of(compiler.ModelCompilationOptions_SetEpContextEmbedMode(how, true)), "");
    EXPECT_EQ(text_of(compiler.CompileModel(env_, how)), "");
    compiler.ReleaseModelCompilationOptions(how);
    OrtSession* session = nullptr;
    EXPECT_EQ(text_of(api().CreateSession(env_, file.c_str(), options, &session)), "");
    api().ReleaseSessionOptions(options);
    OrtModelMetadata* metadata = nullptr;
    EXPECT_EQ(text_of(api().SessionGetModelMetadata(session, &metadata)), "");
    OrtAllocator* allocator = nullptr;
    EXPECT_EQ(text_of(api().GetAllocatorWithDefaultOptions(&allocator)), "");
    char* value = nullptr;
    EXPECT_EQ(text_of(api().ModelMetadataLookupCustomMetadataMap(metadata, allocator, "ep_compatibility_info.Latebind",
                                                                 &value)),
              "");
    std::string compatibility = value != nullptr ? value : "";
    allocator->Free(allocator, value);
    api().ReleaseModelMetadata(metadata);
    api().ReleaseSession(session);
    return compatibility;
  }

  // The variant that the host selects of two with these strings, and whether a session of it computes; else the error.
  std::string selected(const std::string& a, const std::string& b) {
    const auto variant = [](const char* name, const std::string& text) {
      return std::string("\"") + name + "\": {\"variant_directory\": \"" + name +
             "\", \"ep\": \"Latebind\", \"device\": \"cpu\", \"compatibility_string\": " + core::Json(text).dump() +
             ", \"executor_info\": {\"ort\": {\"model_file\": \"model.onnx\"}}}";
    };
    std::ofstream(folder_->path() / "manifest.json")
        << "{\"schema_version\": \"1.0\", \"components\": {\"model\": {\"variants\": {" << variant("a", a) << ", "
        << variant("b", b) << "}}}}";
    OrtSessionOptions* settings = options_for(devices());
    void* options = nullptr;
    void* context = nullptr;
    void* component = nullptr;
    OrtSession* session = nullptr;
    const char* name = nullptr;
    std::string error = text_of(call(packages_, kCreateOptions, env_, settings, &options));
    if (error.empty()) error = text_of(call(packages_, kCreateContext, folder_->path().c_str(), &context));
    if (error.empty()) error = text_of(call(packages_, kSelect, context, "model", options, &component));
    if (error.empty()) error = text_of(call(packages_, kSelectedName, component, &name));
    if (error.empty()) {
      error = text_of(call(packages_, kSession, env_, component, static_cast<OrtSessionOptions*>(nullptr), &session));
    }
    // Of the package's own objects nothing is taken down: each test is a process.
    api().ReleaseSessionOptions(settings);
    if (!error.empty()) return error;
    expect_right(session);
    EXPECT_NE(attestations(), "[]");
    api().ReleaseSession(session);
    return name;
  }

  std::optional<platform::TemporaryFolder> folder_;
  const void* packages_ = nullptr;
};

TEST_F(OnnxruntimePackageTest, TheVariantForThisMachineIsSelected) {
  const std::string here = compile("a");
  EXPECT_EQ(compile("b"), here);
  EXPECT_TRUE(here.starts_with("latebind 1; devices=openvino:CPU@")) << here;
  const std::string older = "latebind 1; devices=openvino:CPU@1999.1; portable=1";
  const std::string elsewhere = "latebind 1; devices=openvino:NPU.4000@1; portable=0";
  EXPECT_EQ(selected(here, older), "a");
  EXPECT_EQ(selected(older, here), "b");
  EXPECT_EQ(selected(elsewhere, here), "b");
  EXPECT_EQ(selected(older, elsewhere), "a");
  EXPECT_NE(selected(elsewhere, elsewhere).find("No suitable"), std::string::npos);
}

}  // namespace
}  // namespace latebind::test
