// Being there: registration, availability, and what is said when nothing is installed.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kIdentity = "input x f32 2,2\noutput y identity 0\n";

TEST_F(DelegateTest, RegistersItselfWithoutLoadingAnything) {
  EXPECT_EQ(et::get_backend_class("LatebindBackend"), backend);
  EXPECT_EQ(fake.calls("ov_core_create"), 0);
  EXPECT_TRUE(logged().empty());
}

TEST_F(DelegateTest, ASecondCopyOfTheLibraryLeavesTheFirstInPlace) {
  const auto copy = folder.path() / "another.so";
  std::filesystem::copy_file(LATEBIND_EXECUTORCH_LIBRARY, copy);
  // By soname it would be the same library: a host that has two of them has changed the name.
  std::string bytes;
  {
    std::ifstream in(copy, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto at = bytes.find("liblatebind_executorch.so");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 3, "lob");
  std::ofstream(copy, std::ios::binary) << bytes;
  ASSERT_NE(dlopen(copy.c_str(), RTLD_NOW), nullptr) << dlerror();  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(et::get_backend_class("LatebindBackend"), backend);
  EXPECT_THAT(said(), HasSubstr("another library has already registered this name"));
}

TEST_F(DelegateTest, AHundredQuestionsOpenTheVendorLibraryOnce) {
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(backend->is_available());
  EXPECT_EQ(fake.calls("ov_core_create"), 1);
  EXPECT_TRUE(logged().empty());
}

// An instruction set that no build has.
void without_native() {
  setenv("LATEBIND_NATIVE_ISA", "none", 1);
}

TEST_F(DelegateTest, IsAvailableForEmbeddingModelsWithoutAnyVendor) {
  fake.remove();
  EXPECT_TRUE(backend->is_available());
  EXPECT_TRUE(logged().empty());
}

TEST_F(DelegateTest, WithoutAnyDeviceItIsNotAvailable) {
  without_native();
  fake.script("no-devices\n");
  EXPECT_FALSE(backend->is_available());
  EXPECT_THAT(said(), HasSubstr("openvino: it has no device here"));
  EXPECT_THAT(said(), HasSubstr("native.isa is 'none'"));
}

TEST_F(DelegateTest, WithNothingInstalledTheRemedyIsInTheFirst200BytesOfTheLog) {
  fake.remove();
  const auto module = module_of(kIdentity, program_of({"x f32 2,2"}, {"y f32 2,2"}));
  EXPECT_EQ(module->load_method("forward"), et::Error::DelegateInvalidCompatibility);
  const auto lines = logged();
  const auto line = std::ranges::find_if(lines, [](const std::string& l) { return l.starts_with("LatebindBackend"); });
  ASSERT_NE(line, lines.end());
  EXPECT_LE(line->size(), 200U);
  EXPECT_THAT(line->substr(0, 200), HasSubstr("pip install -U --target ~/.local/share/latebind/runtime openvino"));
  EXPECT_THAT(said(), HasSubstr("onnxruntime: "));
  EXPECT_THAT(said(),
              HasSubstr("native:CPU: it runs embedding models with their config.json and weights, and nothing else"));
  for (const std::string& one : lines)
    EXPECT_LT(one.size(), 250U) << one;
}

TEST_F(DelegateTest, TheReasonsAreSaidOnceWhileTheyStayTheSame) {
  without_native();
  fake.remove();
  EXPECT_FALSE(backend->is_available());
  EXPECT_FALSE(logged().empty());
  clear_log();
  EXPECT_FALSE(backend->is_available());
  EXPECT_TRUE(logged().empty());
  // Installed meanwhile: no restart is needed.
  fake.install();
  EXPECT_TRUE(backend->is_available());
  EXPECT_TRUE(module_of(kIdentity, program_of({"x f32 2,2"}, {"y f32 2,2"}))->load_method("forward") == et::Error::Ok);
}

}  // namespace
}  // namespace latebind::test
