// PJRT plug-ins that cannot be used are refused with a reason, and those that can are devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/pjrt/backend.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/small_encoder.h"

namespace latebind::pjrt {
namespace {

using core::StatusCode;
using ::testing::HasSubstr;

std::string fake(const std::string& fault) {
  return LATEBIND_FAKE_PJRT "fake_pjrt_" + fault + LATEBIND_MODULE_SUFFIX;
}

std::shared_ptr<core::Backend> backend_with(const std::string& paths) {
  return configured_backend({{"pjrt.plugins", paths}});
}

struct Refusal {
  std::string path;
  StatusCode code;
  std::string words;

  friend std::ostream& operator<<(std::ostream& out, const Refusal& one) { return out << one.words; }
};

class RefusedPluginTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedPluginTest, SaysWhy) {
  const auto backend = backend_with(GetParam().path);
  const core::Status status = backend->available();
  EXPECT_EQ(status.code(), GetParam().code) << status.to_string();
  EXPECT_THAT(status.to_string(), HasSubstr(GetParam().words));
  EXPECT_EQ(status.to_string().find('\n'), std::string::npos);
  EXPECT_FALSE(backend->devices().ok());
  const auto diagnosis = backend->diagnosis(nullptr);
  ASSERT_EQ(diagnosis.search.size(), 1U);
  EXPECT_FALSE(diagnosis.search.front().opened);
}

INSTANTIATE_TEST_SUITE_P(
    Plugins, RefusedPluginTest,
    ::testing::Values(Refusal{"", StatusCode::kLibraryNotFound, "plugin.pjrt.plugins"},
                      Refusal{"/no/such/plugin.so", StatusCode::kNotFound, "/no/such/plugin.so"},
                      Refusal{"relative.so", StatusCode::kInvalidArgument, "relative.so"},
                      Refusal{LATEBIND_SOURCE_DIR, StatusCode::kLibraryUnusable, "folder"},
                      Refusal{LATEBIND_SOURCE_DIR "/README.md", StatusCode::kLibraryUnusable, "README.md"},
                      Refusal{fake("ENTRY"), StatusCode::kLibraryUnusable, "is no PJRT plug-in"},
                      Refusal{fake("TABLE"), StatusCode::kLibraryUnusable, "returned null"},
                      Refusal{fake("SIZE"), StatusCode::kLibraryUnusable, "300 bytes, and 608 are needed"},
                      Refusal{fake("VERSION"), StatusCode::kLibraryUnusable, "0.40"},
                      Refusal{fake("FUNCTION"), StatusCode::kLibraryUnusable, "lacks function 55"},
                      Refusal{fake("INITIALIZE"), StatusCode::kLibraryUnusable, "no driver"},
                      Refusal{fake("CLIENT"), StatusCode::kDeviceNotFound, "No visible GPU devices."},
                      Refusal{fake("DEVICES"), StatusCode::kDeviceNotFound, "has no device"}));

TEST(PluginsTest, OneThatFailsDoesNotHideTheOthers) {
  const auto backend = backend_with(fake("CLIENT") + "," + fake("NONE"));
  const auto devices = backend->devices();
  ASSERT_TRUE(devices.ok()) << devices.status().to_string();
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[0].name, "FAKE");
  EXPECT_EQ((*devices)[1].name, "FAKE.1");
  EXPECT_EQ((*devices)[0].full_name, "Fake 9000");
  EXPECT_THAT((*devices)[0].runtime_version, HasSubstr("0.90"));
  EXPECT_TRUE((*devices)[0].traits.static_shapes);
  EXPECT_TRUE((*devices)[0].traits.graphs_only);
  const auto diagnosis = backend->diagnosis(nullptr);
  ASSERT_EQ(diagnosis.unavailable.size(), 1U);
  EXPECT_EQ(diagnosis.unavailable.front().name, fake("CLIENT"));
}

TEST(PluginsTest, ADeviceThatIsNotThereIsNamedWithThoseThatAre) {
  const auto graph = kit::small_graph();
  ASSERT_TRUE(graph.ok());
  const auto loaded = backend_with(fake("NONE"))->load(kit::model_of(*graph), "TPU", {});
  EXPECT_EQ(loaded.status().code(), StatusCode::kDeviceNotFound);
  EXPECT_THAT(loaded.status().to_string(), HasSubstr("FAKE.1"));
}

core::Status load_status(core::CompileOptions options) {
  const auto graph = kit::small_graph();
  return backend_with(fake("NONE"))->load(kit::model_of(*graph), "FAKE", options).status();
}

const std::vector<core::Shape> kShapes{{3, 5}, {3, 5}};

TEST(PluginsTest, ThePluginsErrorsKeepTheirMeaningAndText) {
  const core::Status status = load_status({.input_shapes = kShapes});
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(status.vendor_code(), 8);
  EXPECT_EQ(status.vendor_text(), "Out of memory allocating 17 bytes");
}

TEST(PluginsTest, OptionsThatItCannotHonourAreRefused) {
  const auto refused = [](core::CompileOptions options, const char* word) {
    const core::Status status = load_status(std::move(options));
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.to_string();
    EXPECT_THAT(status.to_string(), HasSubstr(word));
  };
  refused({}, "static shapes");
  refused({.threads = 2, .input_shapes = kShapes}, "threads");
  refused({.precision = core::Precision::kInt8, .input_shapes = kShapes}, "int8");
  refused({.input_shapes = kShapes, .properties = {{"LEVEL", "3"}}}, "LEVEL");
}

}  // namespace
}  // namespace latebind::pjrt
