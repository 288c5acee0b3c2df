// What a plug-in does against the contract is named, whatever it is. The plug-ins are tables in this program.
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "core/backend/questions.h"
#include "core/log.h"
#include "tests/plugin/support.h"

struct lbb_backend {};
struct lbb_executable {};

namespace latebind::plugin::testing {
namespace {

// What the plug-in says and does. A test changes it; each test has a new one.
struct Script {
  std::function<lbb_code(lbb_error*)> create = [](lbb_error*) { return LBB_OK; };
  std::function<lbb_code(lbb_error*)> available = [](lbb_error*) { return LBB_OK; };
  std::function<lbb_code(lbb_error*)> load = [](lbb_error*) { return LBB_OK; };
  std::function<lbb_code(lbb_error*)> execute = [](lbb_error*) { return LBB_OK; };
  std::function<lbb_code(lbb_bytes*, lbb_text*)> compile;
  bool has_state = true;
  bool has_executable = true;
  bool throws_in_destroy = false;
  const lbb_device* listed = nullptr;
  const lbb_active* active = nullptr;

  std::array<std::int32_t, 1> precisions{LBB_PRECISION_F32};
  lbb_device device = sized<lbb_device>();
  std::array<std::int64_t, 2> dims{LBB_DYNAMIC, 2};
  std::array<lbb_tensor_info, 3> ports{sized<lbb_tensor_info>(), sized<lbb_tensor_info>(), sized<lbb_tensor_info>()};
  std::array<const lbb_tensor_info*, 2> inputs{ports.data(), &ports[1]};
  std::array<const lbb_tensor_info*, 1> outputs{&ports[2]};
  lbb_active loaded = sized<lbb_active>();

  Script() {
    device.name = "CPU";
    device.kind = LBB_KIND_CPU;
    device.full_name = "nothing";
    device.reads = LBB_READS_GRAPH;
    device.precisions = precisions.data();
    device.precision_count = precisions.size();
    listed = &device;
    const char* const names[] = {"x", "y", "z"};
    for (std::size_t i = 0; i < ports.size(); ++i) {
      ports[i].name = names[i];
      ports[i].type = LBB_F32;
      ports[i].dims = dims.data();
      ports[i].rank = dims.size();
    }
    loaded.requests = 1;
    loaded.device = "CPU";
    loaded.full_name = "nothing";
    loaded.inputs = inputs.data();
    loaded.input_count = inputs.size();
    loaded.outputs = outputs.data();
    loaded.output_count = outputs.size();
    active = &loaded;
  }
};

Script* g_script = nullptr;
lbb_backend g_state;
lbb_executable g_executable;

lbb_table make_table() {
  lbb_table table = sized<lbb_table>();
  table.abi = LBB_ABI;
  table.name = "bad";
  table.version = "1";
  table.create = [](const lbb_host*, const lbb_pair* const*, std::size_t, lbb_backend** backend, lbb_error* error) {
    if (g_script->has_state) *backend = &g_state;
    return g_script->create(error);
  };
  table.destroy = [](lbb_backend*) {
    if (g_script->throws_in_destroy) throw std::runtime_error("not a good time");
  };
  table.available = [](lbb_backend*, lbb_error* error) { return g_script->available(error); };
  table.devices = [](lbb_backend*, lbb_devices* devices, lbb_error*) {
    return own_host().add_device(devices, g_script->listed);
  };
  table.load = [](lbb_backend*, const lbb_model*, const char*, const lbb_options*, lbb_executable** executable,
                  lbb_error* error) {
    if (g_script->has_executable) *executable = &g_executable;
    return g_script->load(error);
  };
  table.describe_executable = [](lbb_executable*) { return g_script->active; };
  table.execute = [](lbb_executable*, const lbb_tensor* const*, std::size_t, lbb_output* const*, std::size_t,
                     const lbb_run*, lbb_error* error) { return g_script->execute(error); };
  table.destroy_executable = [](lbb_executable*) {};
  return table;
}

class BreachesTest : public ::testing::Test {
 protected:
  BreachesTest() { g_script = &script; }

  void refuse(const std::string& words) {
    expect_error(check_table(&table).status(), StatusCode::kLibraryUnusable, words);
    table = make_table();
  }
  Status devices() { return backend_of(&table)->devices().status(); }
  // The error of the device that the script has now. Afterwards it has a good one.
  void refuse_device(const std::string& words) {
    expect_error(devices(), StatusCode::kInternal, words);
    script.device = Script().device;
    script.device.precisions = script.precisions.data();
  }
  Status load() { return backend_of(&table)->load(sum(), "CPU", {}).status(); }
  void refuse_active(const std::string& words) {
    expect_error(load(), StatusCode::kInternal, words);
    const Script good;
    script.ports = good.ports;
    for (lbb_tensor_info& port : script.ports)
      port.dims = script.dims.data();
    script.dims = good.dims;
    script.loaded = good.loaded;
    script.loaded.inputs = script.inputs.data();
    script.loaded.outputs = script.outputs.data();
  }

  lbb_table table = make_table();
  Script script;
};

TEST_F(BreachesTest, ATableIsNotBelievedBeforeItsSize) {
  EXPECT_OK(check_table(&table).status());
  expect_error(check_table(nullptr).status(), StatusCode::kLibraryUnusable, "the plug-in gave no table");
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, offsetof(lbb_table, destroy_executable)}) {
    table.struct_size = size;
    table.abi = 99;  // not even this is looked at
    refuse("the plug-in's table says that it has " + std::to_string(size) + " bytes");
  }
  table.struct_size = std::numeric_limits<std::size_t>::max();
  refuse("bytes; the required slots end at");
  table.struct_size = offsetof(lbb_table, runtime_version);
  EXPECT_OK(check_table(&table).status());
}

TEST_F(BreachesTest, RequiredSlotsAreNamed) {
  table.create = nullptr;
  refuse("no create(), which is required");
  table.destroy = nullptr;
  refuse("no destroy()");
  table.available = nullptr;
  refuse("no available()");
  table.devices = nullptr;
  refuse("no devices()");
  table.load = nullptr;
  refuse("no load()");
  table.describe_executable = nullptr;
  refuse("no describe_executable()");
  table.execute = nullptr;
  refuse("no execute()");
  table.destroy_executable = nullptr;
  refuse("no destroy_executable()");
}

TEST_F(BreachesTest, VersionsThatTheHostDoesNotSpeakAreNamed) {
  table.abi = 0;
  refuse("uses version 0 of the contract, and this host speaks 1 to 1; get a newer plug-in");
  table.abi = 2;
  refuse("uses version 2 of the contract, and this host speaks 1 to 1; update Latebind");
}

TEST_F(BreachesTest, SlotsThatGoTogetherAreThereTogether) {
  table.compile = [](lbb_backend*, const lbb_model*, const char*, const lbb_options*, lbb_bytes*, lbb_text*,
                     lbb_error*) { return lbb_code{LBB_OK}; };
  refuse("some of the slots for blobs");
  table.export_blob = [](lbb_executable*, lbb_bytes*, lbb_text*, lbb_error*) { return lbb_code{LBB_OK}; };
  refuse("some of the slots for blobs");
  table.destroy_buffer = [](lbb_buffer*) {};
  refuse("some of the five slots for buffers");
}

TEST_F(BreachesTest, NamesAreWords) {
  for (const char* const name : {"", "Bad", "1bad", "b-ad", "b d", "bäd", "abcdefghijklmnopqrstuvwxyz1234567"}) {
    table.name = name;
    refuse("the plug-in's name is");
  }
  for (const char* const name : {"cpu", "npu", "gpu", "auto"}) {
    table.name = name;
    refuse("which has another meaning in placements");
  }
  table.name = nullptr;
  refuse("the plug-in's name is null");
  table.name = "b\xff";
  refuse("the plug-in's name is not UTF-8");
  table.version = nullptr;
  refuse("the plug-in bad: its version is null");
  table.version = "";
  refuse("the plug-in bad has no version");
  table.maker = "\xff";
  refuse("its maker is not UTF-8");
}

TEST_F(BreachesTest, SettingsAreSound) {
  lbb_setting one = sized<lbb_setting>();
  const lbb_setting* list[] = {&one, &one};
  const auto refuse_setting = [&](const std::string& words, std::size_t count = 1) {
    table.settings = list;
    table.setting_count = count;
    refuse(words);
    one = sized<lbb_setting>();
    one.key = "key";
    one.value = "N";
    one.help = "Help.";
  };
  refuse_setting("the key of a setting is null");
  refuse_setting("two settings have the key 'key'", 2);
  one.key = "a.b";
  refuse_setting("a setting has the key 'a.b'");
  one.help = nullptr;
  refuse_setting("the setting 'key': its help is null");
  one.is_number = 1;
  one.least = 2;
  refuse_setting("it is a number between 2 and 0");
  one.word_count = 1;
  refuse_setting("it has no list of words");
  one.struct_size = 0;
  refuse_setting("a setting 0 has the size 0");
  list[0] = nullptr;
  refuse_setting("a setting 0 is null");
  table.setting_count = 1;
  refuse("a setting: there is a count, but no list");
}

TEST_F(BreachesTest, ErrorsWithoutWordsAreGivenSome) {
  script.available = [](lbb_error*) { return LBB_BUSY; };
  expect_error(backend_of(&table)->available(), StatusCode::kBusy,
               "bad failed in available() with BUSY, and gave no reason");
  script.available = [](lbb_error*) { return lbb_code{77}; };
  expect_error(backend_of(&table)->available(), StatusCode::kInternal,
               "bad returned the code 77 from available(), which the contract does not have");
  script.available = [](lbb_error* error) { return own_host().fail(error, 77, "at\tall\n"); };
  expect_error(backend_of(&table)->available(), StatusCode::kInternal, "which the contract does not have: at all");
  script.available = [](lbb_error* error) {
    own_host().fail(error, LBB_OK, "this is no error");
    return LBB_OK;
  };
  EXPECT_OK(backend_of(&table)->available());
}

TEST_F(BreachesTest, ExceptionsDoNotLeaveTheHost) {
  script.available = [](lbb_error*) -> lbb_code { throw std::runtime_error("oh"); };
  expect_error(backend_of(&table)->available(), StatusCode::kInternal,
               "bad threw an exception in available(), where none may leave: oh");
  script.available = [](lbb_error*) -> lbb_code { throw 7; };
  expect_error(backend_of(&table)->available(), StatusCode::kInternal, "an exception without a text");
  script.throws_in_destroy = true;
  std::string line;
  auto sink = [&](core::LogLevel, std::string_view text) { line = text; };
  core::set_log_sink(core::LogSink::to(sink));
  EXPECT_FALSE(backend_of(&table)->available().ok());
  core::set_log_sink({});
  EXPECT_EQ(line, "bad threw an exception in destroy(), where none may leave: not a good time");
  script.throws_in_destroy = false;
}

TEST_F(BreachesTest, NothingInsteadOfAnObjectIsNamed) {
  script.has_state = false;
  expect_error(backend_of(&table)->available(), StatusCode::kInternal, "bad created no state, and reported no error");
  script.has_state = true;
  script.has_executable = false;
  expect_error(load(), StatusCode::kInternal, "bad loaded nothing, and reported no error");
}

TEST_F(BreachesTest, DevicesAreSound) {
  EXPECT_OK(devices());
  script.listed = nullptr;
  refuse_device("bad describes a device wrongly: a device is null");
  script.listed = &script.device;
  script.device.struct_size = 0;
  refuse_device("a device has the size 0");
  script.device.name = nullptr;
  refuse_device("the name of a device is null");
  for (const char* const name : {"", "C PU", "C:PU", "C/PU"}) {
    script.device.name = name;
    refuse_device("a device has the name '" + std::string(name) + "'");
  }
  script.device.kind = 4;
  refuse_device("CPU: a device has the kind 4, which is none");
  script.device.full_name = nullptr;
  refuse_device("the full name of a device is null");
  script.device.runtime_version = "\xff";
  refuse_device("the version of a device's runtime is not UTF-8");
  script.device.reads = 0;
  refuse_device("reads no form of a model");
  script.device.precision_count = 0;
  refuse_device("computes in no precision");
  script.device.precisions = nullptr;
  refuse_device("has no list of precisions");
  script.precisions[0] = LBB_PRECISION_FAST;
  refuse_device("a device computes in the precision 4, which is none");
  script.precisions[0] = LBB_PRECISION_F32;
  script.device.preferred_count = 1;
  refuse_device("has no list of preferred precisions");
  script.device.is_virtual = 1;
  refuse_device("bad says that bad:CPU is not in this machine and that it is");
  script.device.fact_count = 1;
  refuse_device("a fact of a device: there is a count, but no list");
  for (const char* const key : {"", "two words", "GraphsOnly", "PluginDigest"}) {
    lbb_pair fact = sized<lbb_pair>();
    fact.key = key;
    fact.text = "1";
    const lbb_pair* const facts[] = {&fact};
    script.device.facts = facts;
    script.device.fact_count = 1;
    refuse_device("has a fact '" + std::string(key) + "'");
  }
  table.devices = [](lbb_backend*, lbb_devices* list, lbb_error*) {
    own_host().add_device(list, &g_script->device);
    return own_host().add_device(list, &g_script->device);
  };
  refuse_device("CPU: a device has the name of another one");
}

TEST_F(BreachesTest, LoadedModelsAreDescribedSoundly) {
  EXPECT_OK(load());
  script.active = nullptr;
  refuse_active("bad describes a loaded model wrongly: there is no description");
  script.active = &script.loaded;
  script.loaded.struct_size = 7;
  refuse_active("it has the size 7");
  script.loaded.precision = LBB_PRECISION_FAST;
  refuse_active("it computes in the precision 4, which is none");
  script.loaded.requests = 0;
  refuse_active("0 runs may execute at once");
  script.loaded.requests = 5000;
  refuse_active("5000 runs may execute at once");
  script.loaded.threads = 5000;
  refuse_active("it has 5000 threads");
  script.loaded.device = nullptr;
  refuse_active("the name of its device is null");
  script.loaded.device = "C PU";
  refuse_active("its device has the name 'C PU'");
  script.loaded.inputs = nullptr;
  refuse_active("an input: there is a count, but no list");
  script.loaded.output_count = 0;
  refuse_active("it has no output");
  script.ports[0].name = "\xff";
  refuse_active("the name of a tensor is not UTF-8");
  script.ports[1].type = 77;
  refuse_active("the tensor 'y' has the element type 77, which is none");
  script.ports[1].rank = 9;
  refuse_active("the tensor 'y' has 9 dimensions");
  script.ports[1].dims = nullptr;
  refuse_active("the tensor 'y' has a rank, but no dimensions");
  script.dims[0] = -2;
  refuse_active("the tensor 'x' has no shape");
  const std::int64_t upper[] = {-2, 2};
  script.ports[2].upper = upper;
  refuse_active("the tensor 'z' has at most -2 in dimension 0");
}

TEST_F(BreachesTest, WeightsAreKeptUnlessThePluginReleasesThem) {
  for (const bool releases : {false, true}) {
    script.loaded.releases_weights = releases ? 1 : 0;
    auto memory = std::make_shared<std::array<float, 4>>();
    const std::weak_ptr<const void> owner = memory;
    core::FilePart part;
    part.bytes = {memory, std::as_bytes(std::span(*memory))};
    graph::GraphBuilder builder{std::move(part)};
    const auto x = builder.add(graph::Input{"x", ElementType::kF32, {2}});
    const graph::Weight weight{.name = "w", .type = ElementType::kF32, .shape = {2, 2}};
    const auto y = builder.add(graph::Linear{.x = x, .weight = weight});
    auto model = std::make_optional(model_of(std::move(builder), y));
    memory.reset();
    const auto loaded = backend_of(&table)->load(*model, "CPU", {});
    ASSERT_OK(loaded.status());
    model.reset();
    EXPECT_EQ(owner.expired(), releases);
  }
}

TEST_F(BreachesTest, BlobsAreSound) {
  table.compile = [](lbb_backend*, const lbb_model*, const char*, const lbb_options*, lbb_bytes* bytes, lbb_text* text,
                     lbb_error*) { return g_script->compile(bytes, text); };
  table.check_blob = [](lbb_backend*, const lbb_blob_label*, const char*, const lbb_options*, lbb_error*) {
    return lbb_code{LBB_OK};
  };
  table.load_blob = [](lbb_backend*, const void*, std::uint64_t, const lbb_blob_label*, const char*, const lbb_options*,
                       lbb_executable**, lbb_error*) { return lbb_code{LBB_OK}; };
  const auto compile = [&] { return core::compile_blob(*backend_of(&table), sum(), "CPU", {}); };
  script.compile = [](lbb_bytes*, lbb_text*) { return LBB_OK; };
  expect_error(compile().status(), StatusCode::kInternal, "bad wrote a blob without bytes");
  script.compile = [](lbb_bytes* bytes, lbb_text* text) {
    own_host().set_text(text, "\xff");
    return own_host().write(bytes, "blob", 4);
  };
  expect_error(compile().status(), StatusCode::kInternal, "a compatibility text that is not UTF-8");
  script.compile = [](lbb_bytes* bytes, lbb_text*) {
    EXPECT_EQ(own_host().write(bytes, nullptr, 4), LBB_INVALID_ARGUMENT);
    return own_host().write(bytes, "blob", 4);
  };
  const auto blob = compile();
  ASSERT_OK(blob.status());
  expect_error(core::load_blob(*backend_of(&table), *blob, "CPU", {}).status(), StatusCode::kInternal,
               "bad loaded nothing, and reported no error");
}

TEST_F(BreachesTest, NodesThatACompilerLeavesAreReportedWithAnError) {
  table.compile = [](lbb_backend*, const lbb_model*, const char*, const lbb_options*, lbb_bytes* bytes, lbb_text*,
                     lbb_error* error) {
    own_host().add_left_node(bytes, "NonZero", "n1", "i64 [2,?]");
    own_host().add_left_node(bytes, "Loop", nullptr, nullptr);
    return own_host().fail(error, LBB_UNSUPPORTED, "two nodes are left");
  };
  table.check_blob = [](lbb_backend*, const lbb_blob_label*, const char*, const lbb_options*, lbb_error*) {
    return lbb_code{LBB_OK};
  };
  table.load_blob = [](lbb_backend*, const void*, std::uint64_t, const lbb_blob_label*, const char*, const lbb_options*,
                       lbb_executable**, lbb_error*) { return lbb_code{LBB_OK}; };
  core::LeftNodes left;
  const auto blob = core::compile_blob(*backend_of(&table), sum(), "CPU", {}, &left);
  expect_error(blob.status(), StatusCode::kUnsupported, "two nodes are left");
  EXPECT_EQ(left.count, 2U);
  ASSERT_EQ(left.first.size(), 2U);
  EXPECT_EQ(left.first[0], (core::LeftNode{"NonZero", "n1", "i64 [2,?]"}));
  EXPECT_EQ(left.first[1], (core::LeftNode{"Loop", "", ""}));
}

// A plug-in may pass null where the contract does not allow it.
TEST_F(BreachesTest, FunctionsOfTheHostTakeNull) {
  const lbb_host& host = own_host();
  host.log(99, nullptr);
  EXPECT_EQ(host.fail(nullptr, LBB_IO, nullptr), LBB_IO);
  host.fail_with_vendor(nullptr, 1, nullptr);
  host.spoil(nullptr);
  host.set_text(nullptr, nullptr);
  EXPECT_EQ(host.write(nullptr, nullptr, 1), LBB_INVALID_ARGUMENT);
  host.add_left_node(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(host.add_device(nullptr, nullptr), LBB_INVALID_ARGUMENT);
  EXPECT_EQ(host.prepare_output(nullptr, 0, nullptr, 0), nullptr);
  host.add_search_step(nullptr, nullptr, nullptr, nullptr, 0);
  host.add_unavailable(nullptr, nullptr, nullptr);
  host.set_install_hint(nullptr, nullptr);
}

TEST(LoadPluginTest, WhatIsNoPluginIsNamed) {
  expect_error(load_plugin("/no/such/plugin.so").status(), StatusCode::kNotFound, "/no/such/plugin.so");
  expect_error(load_plugin(std::string(LATEBIND_SOURCE_DIR) + "/CMakeLists.txt").status(), StatusCode::kLibraryUnusable,
               "CMakeLists.txt");
  lbb_host other = own_host();
  other.abi_least = 2;
  other.abi_most = 3;
  expect_error(load_plugin(TOY_PLUGIN, {}, other).status(), StatusCode::kLibraryUnusable,
               "toy does not speak this host's versions of the contract");
}

// The host of an earlier release has fewer functions than the plug-in needs, and says so by its size.
TEST(LoadPluginTest, AHostThatIsTooSmallIsRefusedByThePlugin) {
  lbb_host smaller = own_host();
  smaller.struct_size = offsetof(lbb_host, set_install_hint);
  smaller.set_install_hint = nullptr;
  expect_error(load_plugin(LATEBIND_BACKEND_NATIVE, {}, smaller).status(), StatusCode::kLibraryUnusable,
               "the host speaks 1 to 1 and has " + std::to_string(smaller.struct_size));
  EXPECT_OK(load_plugin(TOY_PLUGIN_CUT, {}, smaller).status());
}

TEST(LoadPluginTest, AGivenDigestIsKept) {
  const auto plugin = load_plugin(TOY_PLUGIN, "1234");
  ASSERT_OK(plugin.status());
  EXPECT_EQ((*plugin)->digest, "1234");
  EXPECT_EQ((*plugin)->maker, "Latebind's tests");
  EXPECT_EQ((*plugin)->settings.size(), 2U);
  EXPECT_EQ((*plugin)->file, TOY_PLUGIN);
}

}  // namespace
}  // namespace latebind::plugin::testing
