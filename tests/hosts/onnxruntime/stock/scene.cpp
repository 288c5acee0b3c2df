#include "tests/hosts/onnxruntime/stock/scene.h"

#include <array>
#include <chrono>
#include <thread>

#include "core/graph/onnx_builder.h"

#if defined(__SANITIZE_THREAD__)
// What ONNX Runtime, for which the sanitizer was not built, copies within itself looks like a race, since its own locks
// of atomics are not seen. NOLINTNEXTLINE(*-reserved-identifier)
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}
#endif

namespace latebind::test {

namespace {

const std::vector<std::string> kOutput{"y"};

}  // namespace

std::string plus_one_model(const std::string& constant) {
  const OnnxDims rows_of_two{std::int64_t{2}, std::int64_t{2}};
  const std::array<float, 1> one{1};
  const std::vector<std::string> inputs{"x", constant};
  return OnnxBuilder()
      .input("x", core::ElementType::kF32, rows_of_two)
      .output("y", core::ElementType::kF32, rows_of_two)
      .constant<float>(constant, core::ElementType::kF32, {1}, one)
      .node(graph::node_message("Add", inputs, kOutput, "fake-model\ninput x f32 2,2\noutput y plus-one 0\nend\n"))
      .bytes();
}

std::string context_model(const std::string& payload, bool is_embedded) {
  const std::vector<graph::ProtobufMessage> attributes{
      graph::string_attribute("ep_cache_context", payload), graph::string_attribute("source", "Latebind"),
      graph::int_attribute("embed_mode", is_embedded ? 1 : 0), graph::int_attribute("main_context", 1)};
  const std::vector<std::string> inputs{"x"};
  const OnnxDims rows_of_two{std::int64_t{2}, std::int64_t{2}};
  return OnnxBuilder()
      .input("x", core::ElementType::kF32, rows_of_two)
      .output("y", core::ElementType::kF32, rows_of_two)
      .node(graph::node_message("EPContext", inputs, kOutput, "toy", attributes, "com.microsoft"))
      .opset("com.microsoft", 1)
      .bytes();
}

void StockHostTest::SetUp() {
  setenv("LATEBIND_OPENVINO_LIBRARY", fake_.file().c_str(), 1);
  setenv("LATEBIND_ONNXRUNTIME_PROVIDERS", "none", 1);
  OnnxruntimeHostTest::SetUp();
  register_as("latebind");
}

void StockHostTest::TearDown() {
  OnnxruntimeHostTest::TearDown();
  EXPECT_EQ(fake_.defects(), "");
  // What probes a device that failed may still be at it.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (const char* kind : {"model", "compiled model", "request"}) {
    while (fake_.alive(kind) != 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    EXPECT_EQ(fake_.alive(kind), 0) << kind;
  }
}

std::string StockHostTest::session_of_file(const std::filesystem::path& file, OrtSession** session) const {
  OrtSessionOptions* options = options_for(devices());
  std::string error = text_of(api().CreateSession(env_, file.c_str(), options, session));
  api().ReleaseSessionOptions(options);
  return error;
}

std::string StockHostTest::run(OrtSession* session) {
  OrtMemoryInfo* memory = nullptr;
  std::string error = text_of(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  std::array<float, 4> x{1, -2, 3, 4};
  const std::array<std::int64_t, 2> shape{2, 2};
  OrtValue* input = nullptr;
  OrtValue* output = nullptr;
  const char* in = "x";
  const char* out = "y";
  if (error.empty()) {
    error = text_of(api().CreateTensorWithDataAsOrtValue(memory, x.data(), sizeof x, shape.data(), shape.size(),
                                                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  }
  if (error.empty()) error = text_of(api().Run(session, nullptr, &in, &input, 1, &out, 1, &output));
  void* data = nullptr;
  if (error.empty()) error = text_of(api().GetTensorMutableData(output, &data));
  for (std::size_t i = 0; error.empty() && i < x.size(); ++i)
    if (static_cast<const float*>(data)[i] != x[i] + 1) error = "WRONG NUMBERS";
  api().ReleaseValue(output);
  api().ReleaseValue(input);
  api().ReleaseMemoryInfo(memory);
  return error;
}

namespace {

std::string run_and_release(std::string error, OrtSession* session, std::string (*run)(OrtSession*)) {
  if (error.empty()) error = run(session);
  if (session != nullptr) api().ReleaseSession(session);
  return error;
}

}  // namespace

std::string StockHostTest::use(const std::string& bytes, const Texts& provider) const {
  OrtSession* session = nullptr;
  std::string error = session_of(bytes, &session, provider);
  return run_and_release(std::move(error), session, run);
}

std::string StockHostTest::use_file(const std::filesystem::path& file) const {
  OrtSession* session = nullptr;
  std::string error = session_of_file(file, &session);
  return run_and_release(std::move(error), session, run);
}

std::string StockHostTest::compile(const std::filesystem::path& to, bool is_embedded,
                                   const std::string& constant) const {
  const OrtCompileApi& compiler = *api().GetCompileApi();
  OrtSessionOptions* options = options_for(devices());
  OrtModelCompilationOptions* how = nullptr;
  const std::string bytes = plus_one_model(constant);
  std::string error = text_of(compiler.CreateModelCompilationOptionsFromSessionOptions(env_, options, &how));
  const auto go_on = [&](OrtStatus* status) {
    std::string text = text_of(status);
    if (error.empty()) error = std::move(text);
  };
  if (error.empty()) {
    go_on(compiler.ModelCompilationOptions_SetInputModelFromBuffer(how, bytes.data(), bytes.size()));
    go_on(compiler.ModelCompilationOptions_SetOutputModelPath(how, to.c_str()));
    go_on(compiler.ModelCompilationOptions_SetEpContextEmbedMode(how, is_embedded));
    go_on(compiler.CompileModel(env_, how));
    compiler.ReleaseModelCompilationOptions(how);
  }
  api().ReleaseSessionOptions(options);
  return error;
}

}  // namespace latebind::test
