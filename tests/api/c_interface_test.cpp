// The C interface without any vendor library: errors, struct growth, misuse. Both backends are pointed at nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "latebind/latebind.h"
#include "latebind/latebind.hpp"
#include "tests/api/last_error.h"
#include "tests/api/options.h"

namespace {

using latebind::test::last_message;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kNowhere = "/nonexistent/folder";

class CInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const latebind::Options options{{"openvino.library", kNowhere}, {"onnxruntime.library", kNowhere}};
    ASSERT_EQ(lb_runtime_create(options.get(), &runtime), LB_OK);
  }
  void TearDown() override { lb_runtime_destroy(runtime); }

  lb_runtime* runtime = nullptr;
};

TEST_F(CInterfaceTest, SaysItsVersion) {
  EXPECT_EQ(lb_abi_version(), static_cast<uint32_t>(LATEBIND_ABI_VERSION));
  EXPECT_STREQ(lb_version(), LATEBIND_VERSION);
  EXPECT_STREQ(lb_code_name(LB_LIBRARY_NOT_FOUND), "LIBRARY_NOT_FOUND");
  EXPECT_STREQ(lb_code_name(12345), "UNKNOWN");
}

TEST_F(CInterfaceTest, MissingBackendsAreReasonsNotErrors) {
  lb_device_list* list = nullptr;
  ASSERT_EQ(lb_device_list_create(runtime, 0, &list), LB_OK);
  // What Latebind computes by itself is always there, last.
  EXPECT_EQ(lb_device_list_count(list), 1U);
  ASSERT_EQ(lb_device_list_backend_count(list), 3U);
  for (size_t i = 0; i < 2; ++i) {
    auto backend = LB_INIT(lb_backend);
    ASSERT_EQ(lb_device_list_backend(list, i, &backend), LB_OK);
    EXPECT_NE(backend.code, LB_OK);
    EXPECT_THAT(backend.reason, HasSubstr(kNowhere));
    EXPECT_THAT(backend.install_hint, HasSubstr("pip install"));
  }
  auto device = LB_INIT(lb_device);
  ASSERT_EQ(lb_device_list_get(list, 0, &device), LB_OK);
  EXPECT_STREQ(device.id, "native:CPU");
  EXPECT_EQ(lb_device_list_get(list, 1, &device), LB_INVALID_ARGUMENT);
  lb_device_list_destroy(list);
}

std::string value_of(const lb_device& device, const std::string& key) {
  for (size_t i = 0; i < device.metadata_count; ++i)
    if (key == device.metadata_keys[i]) return device.metadata_values[i];
  return {};
}

TEST_F(CInterfaceTest, VirtualDevicesAreListedWhenAskedFor) {
  lb_device_list* list = nullptr;
  ASSERT_EQ(lb_device_list_create(runtime, 1, &list), LB_OK);
  EXPECT_EQ(lb_device_list_backend_count(list), 3U);
  std::string targets;
  for (size_t i = 0; i < lb_device_list_count(list); ++i) {
    auto device = LB_INIT(lb_device);
    ASSERT_EQ(lb_device_list_get(list, i, &device), LB_OK);
    if (device.id == std::string("native:CPU")) continue;
    EXPECT_EQ(device.is_virtual, 1);
    EXPECT_EQ(device.kind, LB_DEVICE_NPU);
    EXPECT_EQ(value_of(device, "DiscoveredBy"), device.backend);
    EXPECT_EQ(value_of(device, "CompilerInstalled"), "0");
    EXPECT_NE(value_of(device, "Missing"), "");
    targets += std::string(device.id) + "=" + value_of(device, "Architecture") + " ";
  }
  EXPECT_THAT(targets, HasSubstr("openvino:NPU.4000=4000 "));
  EXPECT_THAT(targets, HasSubstr("onnxruntime:QNN.v73=v73 "));
  lb_device_list_destroy(list);
}

TEST_F(CInterfaceTest, WordsForTargetsAreDevicesOrErrorsWithTheNearestWord) {
  lb_device_list* list = nullptr;
  const auto find = [&](const char* word) { return lb_device_list_targets(runtime, &word, 1, &list); };
  EXPECT_EQ(find("npu:v37"), LB_DEVICE_NOT_FOUND);
  EXPECT_THAT(last_message(), HasSubstr("unknown target 'npu:v37'"));
  EXPECT_THAT(last_message(), HasSubstr("npu:v73"));
  EXPECT_EQ(find("npu:v73"), LB_LIBRARY_NOT_FOUND);
  EXPECT_EQ(find(nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_device_list_targets(nullptr, nullptr, 0, &list), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_device_list_targets(runtime, nullptr, 1, &list), LB_INVALID_ARGUMENT);
  EXPECT_EQ(list, nullptr);
  ASSERT_EQ(find("native:CPU"), LB_OK);
  auto device = LB_INIT(lb_device);
  ASSERT_EQ(lb_device_list_get(list, 0, &device), LB_OK);
  EXPECT_STREQ(device.id, "native:CPU");
  EXPECT_EQ(lb_device_list_count(list), 1U);
  lb_device_list_destroy(list);
}

TEST_F(CInterfaceTest, WithoutAnyDeviceTheErrorTellsWhatToType) {
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "tiny.onnx").string();
  std::ofstream(file, std::ios::binary) << std::string("\x08\x0a\x3a\x00", 4);
  lb_model* model = nullptr;
  EXPECT_EQ(lb_model_load_file(runtime, file.c_str(), nullptr, nullptr, &model), LB_NO_DEVICE);
  EXPECT_EQ(model, nullptr);
  EXPECT_THAT(last_message(), AnyOf(HasSubstr("latebind/runtime openvino"), HasSubstr("latebind\\runtime\" openvino")));
  EXPECT_THAT(last_message(),
              AnyOf(HasSubstr("latebind/runtime onnxruntime"), HasSubstr("latebind\\runtime\" onnxruntime")));
  std::filesystem::remove(file);
}

TEST_F(CInterfaceTest, UnknownDevicesAreRefusedBeforeAnythingIsLoaded) {
  lb_encoder* embedder = nullptr;
  const latebind::Options options{{"device", "nup"}};
  EXPECT_EQ(lb_encoder_open(runtime, "x", options.get(), nullptr, nullptr, &embedder), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("did you mean npu?"));
}

TEST_F(CInterfaceTest, AStructFromAnOlderHeaderIsReadAndWrittenOnlyAsFarAsItGoes) {
  // As if compiled when lb_call_options ended after `timeout_ms`: what is behind it is not looked at.
  alignas(lb_call_options) std::array<unsigned char, sizeof(lb_call_options)> memory;
  memory.fill(0xFF);
  auto* const old = reinterpret_cast<lb_call_options*>(memory.data());
  old->struct_size = offsetof(lb_call_options, cancellation);
  lb_model* model = nullptr;
  EXPECT_EQ(lb_model_load_file(runtime, "/nonexistent/old.onnx", nullptr, old, &model), LB_NOT_FOUND);

  // lb_last_error() is asked below.
  EXPECT_EQ(lb_runtime_create(nullptr, nullptr), LB_INVALID_ARGUMENT);
  struct {
    lb_error error;
    std::uint64_t guard;
  } room{};
  room.guard = 0x1234;
  room.error.struct_size = offsetof(lb_error, vendor_text);
  room.error.vendor_text = "untouched";
  lb_last_error(&room.error);
  EXPECT_EQ(room.error.code, LB_INVALID_ARGUMENT);
  EXPECT_STREQ(room.error.vendor_text, "untouched");
  EXPECT_EQ(room.guard, 0x1234U);
}

// Half of a pointer would be read, or written.
TEST_F(CInterfaceTest, ASizeThatNoVersionOfAStructHasIsRefused) {
  auto call = LB_INIT(lb_call_options);
  auto info = LB_INIT(lb_option_info);
  for (const std::size_t size :
       {sizeof call - 4, sizeof call + 1, std::size_t{7}, std::size_t{0xCDCD'CDCD'CDCD'CDC8}}) {
    call.struct_size = size;
    lb_model* model = nullptr;
    EXPECT_EQ(lb_model_load_file(runtime, "/nonexistent/old.onnx", nullptr, &call, &model), LB_INVALID_ARGUMENT);
    EXPECT_THAT(last_message(), HasSubstr("lb_call_options.struct_size is " + std::to_string(size)));
    info.struct_size = size;
    EXPECT_EQ(lb_option_at(0, &info), LB_INVALID_ARGUMENT);
    EXPECT_EQ(info.struct_size, size);
    EXPECT_EQ(info.key, nullptr);
  }
}

TEST_F(CInterfaceTest, AStructWithoutItsSizeIsRefused) {
  const lb_call_options call{};
  lb_model* model = nullptr;
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "unsized.onnx").string();
  std::ofstream(file, std::ios::binary) << std::string("\x08\x0a\x3a\x00", 4);
  EXPECT_EQ(lb_model_load_file(runtime, file.c_str(), nullptr, &call, &model), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("LB_INIT(lb_call_options)"));
  std::filesystem::remove(file);
}

TEST_F(CInterfaceTest, NullIsMisuseNotACrash) {
  EXPECT_EQ(lb_runtime_create(nullptr, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_device_list_create(nullptr, 0, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_device_list_create(runtime, 0, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_model_load_file(runtime, nullptr, nullptr, nullptr, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_model_run(nullptr, nullptr, 0, nullptr, 0, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_encoder_encode(nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_model_attestation(nullptr, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_output_get(nullptr, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_device_list_count(nullptr), 0U);
  lb_last_error(nullptr);
  lb_runtime_destroy(nullptr);
  lb_model_destroy(nullptr);
  lb_encoder_destroy(nullptr);
  lb_output_destroy(nullptr);
  lb_attestation_destroy(nullptr);
  lb_device_list_destroy(nullptr);
}

TEST_F(CInterfaceTest, WhatLedToAnErrorIsAFieldOfItsOwn) {
  const latebind::Options options{{"openvino.library", "/nonexistent/libopenvino_c.so"}};
  lb_runtime* without = nullptr;
  ASSERT_EQ(lb_runtime_create(options.get(), &without), LB_OK) << last_message();
  const std::string file = (std::filesystem::path(::testing::TempDir()) / "details.onnx").string();
  std::ofstream(file, std::ios::binary) << std::string("\x08\x0a\x3a\x00", 4);
  lb_model* model = nullptr;
  const latebind::Options device{{"device", "openvino:CPU"}};
  EXPECT_NE(lb_model_load_file(without, file.c_str(), device.get(), nullptr, &model), LB_OK);
  std::filesystem::remove(file);
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  EXPECT_THAT(error.message, HasSubstr("install it ("));
  EXPECT_EQ(std::string_view(error.message).find('\n'), std::string_view::npos);
  EXPECT_THAT(error.details, HasSubstr("openvino: /nonexistent/libopenvino_c.so"));
  EXPECT_THAT(error.details, HasSubstr("set LATEBIND_OPENVINO_LIBRARY to"));
  EXPECT_EQ(lb_runtime_create(nullptr, nullptr), LB_INVALID_ARGUMENT);
  lb_last_error(&error);
  EXPECT_STREQ(error.details, "");
  lb_runtime_destroy(without);
}

TEST_F(CInterfaceTest, EachThreadHasItsOwnLastError) {
  EXPECT_EQ(lb_runtime_create(nullptr, nullptr), LB_INVALID_ARGUMENT);
  lb_code other = -1;
  std::thread([&] {
    auto error = LB_INIT(lb_error);
    lb_last_error(&error);
    other = error.code;
  }).join();
  EXPECT_EQ(other, LB_OK);
}

TEST_F(CInterfaceTest, MemoryOfAModelIsReleasedOnceWhateverHappens) {
  std::atomic<int> released{0};
  auto memory = LB_INIT(lb_model_memory);
  memory.graph = "garbage";
  memory.graph_size = 7;
  memory.release = [](void* context) { ++*static_cast<std::atomic<int>*>(context); };
  memory.context = &released;
  lb_model* model = nullptr;
  EXPECT_NE(lb_model_load_memory(runtime, &memory, nullptr, nullptr, &model), LB_OK);
  EXPECT_EQ(released, 1);
  memory.format = 77;
  EXPECT_EQ(lb_model_load_memory(runtime, &memory, nullptr, nullptr, &model), LB_INVALID_ARGUMENT);
  EXPECT_EQ(released, 2);
}

TEST_F(CInterfaceTest, TheCppLayerListsVirtualDevices) {
  const auto runtime_or = latebind::Runtime::create(latebind::test::with_openvino(kNowhere));
  ASSERT_TRUE(runtime_or.ok());
  const auto real = runtime_or->devices();
  ASSERT_TRUE(real.ok());
  ASSERT_EQ(real->devices.size(), 1U);
  EXPECT_FALSE(real->devices.front().is_virtual);
  const auto all = runtime_or->devices(true);
  ASSERT_TRUE(all.ok());
  ASSERT_GT(all->devices.size(), 1U);
  for (const latebind::Device& device : all->devices) {
    if (device.id == real->devices.front().id) continue;
    EXPECT_TRUE(device.is_virtual);
    EXPECT_EQ(device.metadata.at("IsVirtual"), "1");
  }
}

TEST_F(CInterfaceTest, TheCppLayerCarriesTheWholeError) {
  const auto runtime_or = latebind::Runtime::create(latebind::test::with_openvino(kNowhere));
  ASSERT_TRUE(runtime_or.ok());
  const auto model = runtime_or->load("/nonexistent/model.onnx");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), LB_NOT_FOUND);
  EXPECT_STREQ(model.status().name(), "NOT_FOUND");
  EXPECT_THAT(model.status().message(), HasSubstr("/nonexistent/model.onnx"));
}

}  // namespace
