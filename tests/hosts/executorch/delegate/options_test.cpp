// Compile specs, options of the backend and options of one load.
#include <array>

#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OptionsTest : public DelegateTest {
 protected:
  void SetUp() override {
    DelegateTest::SetUp();
    fake.script("device GPU\ndevice CPU\n");
  }

  et::Error load(const std::vector<pte::CompileSpec>& specs, et::Span<et::BackendOption> options = {}) {
    pte::ProgramSpec spec = program_of({"x f32 2"}, {"y f32 2"});
    spec.compile_specs = specs;
    module = module_of(kModel, spec, "program" + std::to_string(++programs) + ".pte");
    et::LoadBackendOptionsMap map;
    EXPECT_EQ(map.set_options("LatebindBackend", options), et::Error::Ok);
    EXPECT_EQ(module->load(map), et::Error::Ok);
    return module->load_method("forward");
  }

  std::unique_ptr<Module> module;
  int programs = 0;
};

TEST_F(OptionsTest, ACompileSpecChoosesTheDevice) {
  ASSERT_EQ(load({{"device", "cpu"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  EXPECT_EQ(get("active_precision"), "f32");
  EXPECT_THAT(get("active_runtime_version"), HasSubstr("2026."));
  EXPECT_EQ(said(), "") << "a line for each load is more than ExecuTorch's log bears in Python";
}

TEST_F(OptionsTest, PaddingWithNulsIsNoPartOfTheWord) {
  ASSERT_EQ(load({{"device", std::string("cpu\0\0\0\0", 7)}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
}

TEST_F(OptionsTest, TheStockBackendsNamesOfDevicesAreUnderstood) {
  ASSERT_EQ(load({{"device", "CPU"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  ASSERT_EQ(load({{"device", "AUTO:NPU,CPU"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  ASSERT_EQ(load({{"device", "HETERO:GPU,CPU"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:GPU");
  ASSERT_EQ(set("device", "AUTO:GPU,CPU"), et::Error::Ok) << said();
  EXPECT_EQ(get("device"), "openvino:GPU,openvino:CPU");
  clear_log();
  EXPECT_EQ(set("device", "MULTI:GPU,CPU"), et::Error::InvalidArgument);
  EXPECT_EQ(load({{"device", "BATCH:GPU(4)"}}), et::Error::InvalidArgument);
  EXPECT_THAT(said(), AllOf(HasSubstr("the device 'MULTI:GPU,CPU' runs a model on several devices"),
                            HasSubstr("the device 'BATCH:GPU(4)' gathers runs")));
}

TEST_F(OptionsTest, TheOptionsOfALoadWin) {
  et::BackendOptions<6> options;
  ASSERT_EQ(options.set_option("device", "gpu"), et::Error::Ok);
  ASSERT_EQ(options.set_option("strict", true), et::Error::Ok);
  ASSERT_EQ(options.set_option("threads", 1), et::Error::Ok);
  ASSERT_EQ(load({{"device", "cpu"}, {"precision", "f32"}}, options.view()), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:GPU");
}

TEST_F(OptionsTest, TheBackendsOptionIsForTheNextLoadsAndBeatsTheProgram) {
  ASSERT_EQ(set("device", "gpu"), et::Error::Ok) << said();
  EXPECT_EQ(get("device"), "gpu");
  ASSERT_EQ(load({{"device", "cpu"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:GPU");
  ASSERT_EQ(set("device", ""), et::Error::Ok) << said();
  ASSERT_EQ(load({{"device", "cpu"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  module.reset();
  EXPECT_EQ(get("active_device"), "");
}

TEST_F(OptionsTest, UnknownKeysAreRefusedByNameWithTheNearest) {
  EXPECT_EQ(load({{"divice", "cpu"}}), et::Error::InvalidArgument);
  EXPECT_THAT(said(),
              HasSubstr("compile spec: unknown setting 'divice' (did you mean device?); `latebind config` lists all"));
  clear_log();
  EXPECT_NE(set("treads", "2"), et::Error::Ok);
  EXPECT_THAT(said(), HasSubstr("unknown setting 'treads' (did you mean threads?)"));
  clear_log();
  std::string ignored;
  EXPECT_NE(option("active_divice", "", &ignored), et::Error::Ok);
  EXPECT_THAT(said(), HasSubstr("unknown setting 'active_divice'"));
  for (const char* key : {"active_device", "active_precision", "active_runtime_version"})
    EXPECT_NE(set(key, "cpu"), et::Error::Ok) << key;
}

TEST_F(OptionsTest, UnknownWordsAreRefusedWithTheNearest) {
  EXPECT_EQ(load({{"device", "cpuu"}}), et::Error::InvalidArgument);
  EXPECT_THAT(said(), AllOf(HasSubstr("'cpuu'"), HasSubstr("did you mean cpu?")));
  clear_log();
  EXPECT_EQ(load({{"precision", "f31"}}), et::Error::InvalidArgument);
  EXPECT_THAT(said(), AllOf(HasSubstr("unknown precision 'f31'"), HasSubstr("f32")));
  clear_log();
  EXPECT_EQ(set("precision", "half"), et::Error::InvalidArgument);
  EXPECT_EQ(get("precision"), "");
}

TEST_F(OptionsTest, ValuesOfTheWrongKindAreRefusedByName) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"threads", "many"},
                                                                                   {"threads", "-1"},
                                                                                   {"threads", "99999999999"},
                                                                                   {"strict", "perhaps"},
                                                                                   {"input_shapes", "1xx2"},
                                                                                   {"input_shapes", "1,,2"},
                                                                                   {"input_shapes", "99999999999999"},
                                                                                   {"device", std::string("c\0pu", 4)},
                                                                                   {"device", std::string(5000, 'x')},
                                                                                   {"device", "c\npu"}}) {
    clear_log();
    EXPECT_EQ(load({{key, value}}), et::Error::InvalidArgument) << value.substr(0, 40);
    EXPECT_THAT(said(), AllOf(HasSubstr("forward"), HasSubstr(key)));
  }
  et::BackendOptions<1> options;
  ASSERT_EQ(options.set_option("device", 4), et::Error::Ok);
  clear_log();
  EXPECT_EQ(load({}, options.view()), et::Error::InvalidArgument);
  EXPECT_THAT(said(), HasSubstr("'4'"));
}

TEST_F(OptionsTest, StrictTurnsAFallbackIntoAnError) {
  fake.script("device GPU\ndevice CPU\non GPU fail ov_core_compile_model * -1 no memory\n");
  EXPECT_EQ(load({{"device", "gpu,cpu"}}), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  EXPECT_EQ(load({{"device", "gpu,cpu"}, {"strict", "true"}}), et::Error::NotSupported);
  EXPECT_THAT(said(), HasSubstr("strict"));
}

TEST_F(OptionsTest, ThePrecisionIsTheOneThatWasAskedFor) {
  ASSERT_EQ(load({{"precision", "bf16"}}), et::Error::Ok) << said();
  HostTensor x(ScalarType::Float, {2});
  x.fill<float>({1.001F, 2.0F});
  const auto rounded = module->forward({x.value()});
  ASSERT_TRUE(rounded.ok());
  EXPECT_NE(floats((*rounded)[0])[0], 2.001F);
  ASSERT_EQ(load({}), et::Error::Ok) << said();
  const auto exact = module->forward({x.value()});
  EXPECT_EQ(floats((*exact)[0])[0], 2.001F);
}

TEST_F(OptionsTest, ShapesMakeADynamicModelStatic) {
  fake.script("device NPU\n");
  pte::ProgramSpec spec = program_of({"x f32 ?8,2"}, {"y f32 ?8,2"});
  spec.compile_specs = {{"precision", "f16"}};
  EXPECT_NE(module_of("input x f32 ?,2\noutput y plus-one 0\n", spec)->load_method("forward"), et::Error::Ok);
  spec.compile_specs.push_back({"input_shapes", "3x2"});
  module = module_of("input x f32 ?,2\noutput y plus-one 0\n", spec, "fixed.pte");
  ASSERT_EQ(module->load_method("forward"), et::Error::Ok) << said();
  HostTensor right(ScalarType::Float, {3, 2});
  EXPECT_TRUE(module->forward({right.value()}).ok()) << said();
  HostTensor wrong(ScalarType::Float, {2, 2});
  EXPECT_FALSE(module->forward({wrong.value()}).ok());
  EXPECT_THAT(said(), HasSubstr("takes f32 [3,2], but shape [2,2] was given"));
}

TEST_F(OptionsTest, AConfigurationFileGivesTheDefaults) {
  const std::string file = (folder.path() / "config.toml").string();
  std::ofstream(file) << "device = \"gpu\"\n[cache]\nenabled = false\n";
  et::BackendOptions<1> options;
  ASSERT_EQ(options.set_option("config", file.c_str()), et::Error::Ok);
  ASSERT_EQ(load({}, options.view()), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:GPU");
  ASSERT_EQ(load({{"device", "cpu"}}, options.view()), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  std::ofstream(file) << "divice = \"gpu\"\n";
  EXPECT_EQ(load({}, options.view()), et::Error::InvalidArgument);
  EXPECT_THAT(said(), HasSubstr("divice"));
  std::ofstream(file) << "[openvino]\nlibrary = \"/tmp/x.so\"\n";
  EXPECT_EQ(load({}, options.view()), et::Error::InvalidArgument);
  EXPECT_THAT(said(), HasSubstr("set the variable LATEBIND_OPENVINO_LIBRARY"));
  ASSERT_EQ(options.set_option("config", "/nonexistent/config.toml"), et::Error::Ok);
  EXPECT_EQ(load({}, options.view()), et::Error::NotFound);
}

TEST_F(OptionsTest, AProgramChoosesNoCodeAndNoFiles) {
  for (const std::string key : {"openvino.library", "cache.folder", "cache.enabled", "property.CACHE_DIR",
                                "failover.run_timeout_ms", "config"}) {
    clear_log();
    EXPECT_EQ(load({{key, "/tmp/x"}}), et::Error::InvalidArgument) << key;
    EXPECT_THAT(said(), HasSubstr("compile spec: " + key + " cannot be set by a program"));
  }
  const std::string cache = (folder.path() / "cache").string();
  EXPECT_EQ(set("cache.folder", cache.c_str()), et::Error::Ok) << "the host may: " << said();
  EXPECT_EQ(get("cache.folder"), cache);
  EXPECT_EQ(set("cache.folder", ""), et::Error::Ok) << said();
  EXPECT_EQ(get("cache.folder"), "");
}

}  // namespace
}  // namespace latebind::test
