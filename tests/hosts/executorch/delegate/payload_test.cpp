// Payloads: what they may be, what becomes of their memory, and what damage does.
#include <executorch/extension/data_loader/buffer_data_loader.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "tests/hosts/executorch/delegate/bundle.h"
#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Gives the bytes of a program as segments of their own, and counts what of them is still out.
class CountingLoader final : public et::DataLoader {
 public:
  explicit CountingLoader(std::string bytes) : bytes_(std::move(bytes)) {}

  et::Result<et::FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return et::Error::InvalidArgument;
    auto* copy = new std::string(bytes_, offset, size);
    const bool payload = info.segment_type == SegmentInfo::Type::Backend;
    if (payload) ++payloads;
    return et::FreeableBuffer(
        copy->data(), size,
        payload ? &free_payload : [](void* c, void*, size_t) { delete static_cast<std::string*>(c); }, copy);
  }
  et::Result<size_t> size() const override { return bytes_.size(); }

  static std::atomic<int> payloads;

 private:
  static void free_payload(void* context, void* /*data*/, size_t /*size*/) {
    --payloads;
    delete static_cast<std::string*>(context);
  }
  const std::string bytes_;
};
std::atomic<int> CountingLoader::payloads{0};

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class PayloadTest : public DelegateTest {
 protected:
  et::Error load(std::string_view payload) {
    const auto file = folder.write(program_of({"x f32 2"}, {"y f32 2"}), payload);
    return Module(file, Module::LoadMode::Mmap).load_method("forward");
  }
};

TEST_F(PayloadTest, IsFreedWithTheMethodAndNotBefore) {
  const std::string program = read(folder.write(program_of({"x f32 2"}, {"y f32 2"}), fake_ir(kModel)));
  {
    Module module(std::make_unique<CountingLoader>(program));
    ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
    EXPECT_EQ(CountingLoader::payloads, 1);
    HostTensor x(ScalarType::Float, {2});
    EXPECT_TRUE(module.forward({x.value()}).ok());
    module.unload_method("forward");
    EXPECT_EQ(CountingLoader::payloads, 0);
  }
  // Whatever was made of it is gone as well, but for the library's own core.
  EXPECT_EQ(fake.alive("compiled model") + fake.alive("model") + fake.alive("request"), 0);
  EXPECT_EQ(fake.defects(), "");
}

TEST_F(PayloadTest, StaysWhileADeviceHangsAndNobodyWaitsForThat) {
  constexpr const char* kMachine = "device NPU\ndevice CPU\n";
  fake.script(std::string(kMachine) + "on NPU hang\n");
  ASSERT_EQ(set("failover.run_timeout_ms", "50"), et::Error::Ok) << said();
  auto spec = program_of({"x f32 2"}, {"y f32 2"});
  spec.compile_specs = {{"precision", "f16,f32"}};
  const std::string program = read(folder.write(spec, fake_ir(kModel)));
  Module module(std::make_unique<CountingLoader>(program));
  ASSERT_EQ(module.load_method("forward"), et::Error::Ok) << said();
  EXPECT_EQ(get("active_device"), "openvino:NPU");
  HostTensor x(ScalarType::Float, {2});
  EXPECT_TRUE(module.forward({x.value()}).ok()) << said();
  EXPECT_EQ(get("active_device"), "openvino:CPU");
  clear_log();
  const auto began = std::chrono::steady_clock::now();
  module.unload_method("forward");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
  EXPECT_EQ(CountingLoader::payloads, 1) << "the call that hangs uses it";
  EXPECT_THAT(said(), HasSubstr("a device still uses the payload"));
  fake.script(kMachine);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (CountingLoader::payloads != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_EQ(CountingLoader::payloads, 0);
  EXPECT_EQ(fake.defects(), "");
  EXPECT_EQ(set("failover.run_timeout_ms", ""), et::Error::Ok);
}

TEST_F(PayloadTest, IsFreedWhenItCannotBeLoaded) {
  const std::string program = read(folder.write(program_of({"x f32 2"}, {"y f32 2"}), "no model at all"));
  Module module(std::make_unique<CountingLoader>(program));
  EXPECT_EQ(module.load_method("forward"), et::Error::InvalidProgram);
  EXPECT_EQ(CountingLoader::payloads, 0);
}

TEST_F(PayloadTest, MayLieInTheHostsOwnMemoryOrInTheFlatbuffer) {
  for (const bool is_inline : {false, true}) {
    auto spec = program_of({"x f32 2"}, {"y f32 2"});
    spec.inline_payload = is_inline;
    const std::string program = read(folder.write(spec, fake_ir(kModel)));
    Module module(std::make_unique<::executorch::extension::BufferDataLoader>(program.data(), program.size()));
    HostTensor x(ScalarType::Float, {2});
    x.fill<float>({1, 2});
    const auto outputs = module.forward({x.value()});
    ASSERT_TRUE(outputs.ok()) << said();
    EXPECT_THAT(floats((*outputs)[0]), ElementsAre(2, 3));
  }
}

TEST_F(PayloadTest, AnIrMayHaveItsWeightsBehindIt) {
  std::string payload = fake_ir("input x f32 2\noutput y scale 0\n");
  payload.push_back('\0');
  payload.resize((payload.size() + 63) / 64 * 64);
  const float factor = 3;
  payload.append(reinterpret_cast<const char*>(&factor), sizeof factor);
  Module module(folder.write(program_of({"x f32 2"}, {"y f32 2"}), payload));
  HostTensor x(ScalarType::Float, {2});
  x.fill<float>({1, 2});
  const auto outputs = module.forward({x.value()});
  ASSERT_TRUE(outputs.ok()) << said();
  EXPECT_THAT(floats((*outputs)[0]), ElementsAre(3, 6));
}

TEST_F(PayloadTest, WhatIsNoModelIsRefusedByItsFirstBytes) {
  EXPECT_EQ(load("no model at all"), et::Error::InvalidProgram);
  EXPECT_THAT(said(), HasSubstr("15 bytes that begin with 6e 6f 20 6d 6f 64 65 6c are not a bundle"));
}

TEST_F(PayloadTest, ATruncatedBundleIsAnErrorWhereverItEnds) {
  const std::string bundle = fake_bundle(folder, kModel);
  ASSERT_EQ(load(bundle), et::Error::Ok) << said();
  for (std::size_t size = 1; size < bundle.size(); size += 1 + size / 16) {
    EXPECT_NE(load(std::string_view(bundle).substr(0, size)), et::Error::Ok) << size;
  }
}

TEST_F(PayloadTest, ABundleWithABitFlippedIsAnErrorOrTheSameModel) {
  const std::string bundle = fake_bundle(folder, kModel);
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string damaged = bundle;
    damaged[random() % damaged.size()] ^= static_cast<char>(1U << (random() % 8));
    const auto file = folder.write(program_of({"x f32 2"}, {"y f32 2"}), damaged);
    Module module(file, Module::LoadMode::Mmap);
    if (module.load_method("forward") != et::Error::Ok) {
      ++refused;
      continue;
    }
    // A bit of the padding between two files: nothing depends on it.
    HostTensor x(ScalarType::Float, {2});
    x.fill<float>({1, 2});
    const auto outputs = module.forward({x.value()});
    ASSERT_TRUE(outputs.ok()) << said();
    EXPECT_THAT(floats((*outputs)[0]), ElementsAre(2, 3));
  }
  EXPECT_GT(refused, 10);
}

TEST_F(PayloadTest, ABlobThatIsCutOffNeverReachesTheVendor) {
  // The table of the CPU's blobs: three parts, the last of which ends with the file.
  const auto blob = [](std::uint64_t last) {
    const std::array<std::uint64_t, 6> table{48, 8, 56, 8, 64, last};
    return std::string(reinterpret_cast<const char*>(table.data()), sizeof table) + std::string(24, 'x');
  };
  EXPECT_EQ(load(blob(9)), et::Error::InvalidProgram);
  EXPECT_THAT(said(), HasSubstr("the OpenVINO blob is damaged"));
  EXPECT_EQ(load(blob(~0ULL)), et::Error::InvalidProgram);
  EXPECT_EQ(fake.calls("ov_core_import_model"), 0);
  clear_log();
  // Whole, but not for this library.
  EXPECT_EQ(load(blob(8)), et::Error::DelegateInvalidCompatibility);
  EXPECT_THAT(said(), HasSubstr("compiled with another version or device"));
}

}  // namespace
}  // namespace latebind::test
