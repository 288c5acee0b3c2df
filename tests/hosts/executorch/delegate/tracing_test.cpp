// What ExecuTorch's event tracer is told.
#include <algorithm>

#include "tests/hosts/executorch/delegate/fixture.h"

namespace latebind::test {
namespace {

using ::testing::Contains;

// Keeps the delegate's events as "name device", and nothing else.
class KeepingTracer final : public et::EventTracer {
 public:
  explicit KeepingTracer(std::vector<std::string>& events) : events_(events) {}

  et::EventTracerEntry start_profiling_delegate(const char* name, et::DelegateDebugIntId id) override {
    EXPECT_EQ(id, et::kUnsetDelegateDebugIntId);
    et::EventTracerEntry entry{};
    entry.event_id = static_cast<std::int64_t>(names_.size());
    names_.emplace_back(name);
    return entry;
  }
  void end_profiling_delegate(et::EventTracerEntry entry, const void* metadata, size_t size) override {
    events_.push_back(names_.at(static_cast<std::size_t>(entry.event_id)) + " " +
                      std::string(static_cast<const char*>(metadata), size));
  }

  void create_event_block(const char* /*name*/) override {}
  et::EventTracerEntry start_profiling(const char* /*name*/, et::ChainID /*chain*/,
                                       et::DebugHandle /*handle*/) override {
    return {};
  }
  void log_profiling_delegate(const char* /*name*/, et::DelegateDebugIntId /*id*/, et_timestamp_t /*start*/,
                              et_timestamp_t /*end*/, const void* /*metadata*/, size_t /*size*/) override {}
  void end_profiling(et::EventTracerEntry /*entry*/) override {}
  void track_allocation(et::AllocatorID /*id*/, size_t /*size*/) override {}
  et::AllocatorID track_allocator(const char* /*name*/) override { return 0; }
  et::Result<bool> log_evalue(const et::EValue& /*value*/, et::LoggedEValueType /*type*/) override { return true; }
  et::Result<bool> log_intermediate_output_delegate(const char* /*name*/, et::DelegateDebugIntId /*id*/,
                                                    const ::executorch::aten::Tensor& /*output*/) override {
    return true;
  }
  et::Result<bool> log_intermediate_output_delegate(
      const char* /*name*/, et::DelegateDebugIntId /*id*/,
      const et::ArrayRef<::executorch::aten::Tensor> /*output*/) override {
    return true;
  }
  et::Result<bool> log_intermediate_output_delegate(const char* /*name*/, et::DelegateDebugIntId /*id*/,
                                                    const int& /*output*/) override {
    return true;
  }
  et::Result<bool> log_intermediate_output_delegate(const char* /*name*/, et::DelegateDebugIntId /*id*/,
                                                    const bool& /*output*/) override {
    return true;
  }
  et::Result<bool> log_intermediate_output_delegate(const char* /*name*/, et::DelegateDebugIntId /*id*/,
                                                    const double& /*output*/) override {
    return true;
  }
  void set_delegation_intermediate_output_filter(et::EventTracerFilterBase* /*filter*/) override {}

 private:
  std::vector<std::string> names_;
  std::vector<std::string>& events_;
};

TEST_F(DelegateTest, TheTracerIsToldOfInitCompileAndExecuteWithTheDevice) {
  std::vector<std::string> events;
  const auto file = folder.write(program_of({"x f32 2"}, {"y f32 2"}), fake_ir("input x f32 2\noutput y identity 0\n"));
  Module module(file, Module::LoadMode::Mmap, std::make_unique<KeepingTracer>(events));
  HostTensor x(ScalarType::Float, {2});
  ASSERT_TRUE(module.forward({x.value()}).ok()) << said();
  EXPECT_THAT(events, Contains("latebind.init openvino:CPU"));
  EXPECT_THAT(events, Contains("latebind.compile openvino:CPU"));
  EXPECT_THAT(events, Contains("latebind.execute openvino:CPU"));
  EXPECT_EQ(events.size(), 3U);
}

}  // namespace
}  // namespace latebind::test
