// The delegate for ExecuTorch beside ExecuTorch's own OpenVINO backend and OpenVINO's C interface alone: one process,
// one blob, the same inputs, in turn, so that what comes from a shared machine hits all alike.
//
//   executorch_beside_stock OPENVINO_LIBRARY DELEGATE.so STOCK.so MODEL_DIR PRECISION [RUNS=300] [LOADS=10]
//
// Memory: with the program mapped, read from its file (both as Module's load modes), or in the host's own memory, which
// is not counted.
//
// MODEL_DIR is the default model's folder. PRECISION is what the model is compiled in, and what ours and the raw one
// run in; stock has no say in it. What one run costs over the raw one is measured on a model that adds two vectors.
// Peak memory is measured in a process of its own for each. Prints one JSON object.
#include <dlfcn.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/backend/interface.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backends/openvino/load.h"
#include "bench/raw_blob.h"
#include "bench/yardstick.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/temporary_folder.h"
#include "core/platform/system_info.h"
#include "embedding/export_onnx.h"
#include "embedding/folder/model_folder.h"
#include "formats/pte/writer.h"
#include "tests/support/onnx_builder.h"

namespace {

using namespace latebind;  // NOLINT: a program of one file, all of it about this
namespace et = ::executorch::runtime;
using bench::die;
using bench::Job;
using bench::Raw;
using ::executorch::aten::ScalarType;
using ::executorch::aten::TensorImpl;
using ::executorch::extension::Module;
using Clock = std::chrono::steady_clock;

constexpr std::int32_t kTokens = 16;
constexpr std::int32_t kVector = 64;

double microseconds_of(const std::function<void()>& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One program, and the inputs that it is run with.
class Program {
 public:
  // Called for each load.
  using MakeModule = std::function<std::unique_ptr<Module>()>;

  Program(Job& job, MakeModule make) : make_(std::move(make)) {
    for (std::size_t i = 0; i < job.spec.inputs.size(); ++i) {
      strides_ = {job.sizes[1], 1};
      impls_.emplace_back(job.type, 2, job.sizes.data(), job.data.data() + i * job.input_bytes(), order_.data(),
                          strides_.data());
    }
    for (TensorImpl& impl : impls_)
      inputs_.emplace_back(::executorch::aten::Tensor(&impl));
  }
  void load() {
    module_ = make_();
    if (module_->load_method("forward") != et::Error::Ok) die("a program does not load");
  }
  void run() {
    if (!module_->forward(inputs_).ok()) die("a program does not run");
  }

 private:
  MakeModule make_;
  std::array<std::uint8_t, 2> order_{0, 1};
  std::array<std::int32_t, 2> strides_{};
  std::deque<TensorImpl> impls_;
  std::vector<et::EValue> inputs_;
  std::unique_ptr<Module> module_;
};

// A program in memory that stays: stock frees a payload that OpenVINO may still read.
Program::MakeModule of_bytes(const std::string& bytes) {
  return [&bytes] {
    return std::make_unique<Module>(
        std::make_unique<::executorch::extension::BufferDataLoader>(bytes.data(), bytes.size()));
  };
}

Program::MakeModule of_file(const std::string& file, Module::LoadMode mode) {
  return [file, mode] { return std::make_unique<Module>(file, mode); };
}

std::string program_bytes(const Job& job, const std::string& blob, bool stock, const std::string& precision) {
  pte::ProgramSpec spec = job.spec;
  spec.backend = stock ? pte::kStockBackendId : pte::kBackendId;
  spec.compile_specs = {{"device", "CPU"}};
  if (!stock) spec.compile_specs.push_back({"precision", precision});
  std::string bytes;
  const auto written = pte::write_program(spec, pte::Payload::of(std::as_bytes(std::span(blob.data(), blob.size()))),
                                          [&](std::span<const std::byte> part) {
                                            bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
                                            return core::Status();
                                          });
  if (!written.ok()) die(written.message());
  return bytes;
}

Job minilm_job(const std::string& onnx_file) {
  Job job{.onnx_file = onnx_file,
          .spec = {},
          .type = ScalarType::Long,
          .element = core::ElementType::kI64,
          .sizes = {1, kTokens},
          .data = {}};
  for (const char* name : {"input_ids", "attention_mask"})
    job.spec.inputs.push_back({.name = name, .type = pte::ScalarType::kI64, .sizes = job.sizes});
  job.spec.outputs.push_back({.name = "sentence_embedding", .type = pte::ScalarType::kF32, .sizes = {1, 384}});
  job.data.resize(std::size_t{2} * kTokens * sizeof(std::int64_t));
  auto* values = reinterpret_cast<std::int64_t*>(job.data.data());
  for (std::int32_t i = 0; i < kTokens; ++i) {
    values[i] = 2000 + i;
    values[kTokens + i] = 1;
  }
  return job;
}

Job tiny_job(const std::string& onnx_file) {
  using core::ElementType;
  const test::OnnxDims dims{std::int64_t{1}, std::int64_t{kVector}};
  std::ofstream(onnx_file, std::ios::binary) << test::OnnxBuilder()
                                                    .input("a", ElementType::kF32, dims)
                                                    .input("b", ElementType::kF32, dims)
                                                    .output("sum", ElementType::kF32, dims)
                                                    .node("Add", {"a", "b"}, {"sum"})
                                                    .bytes();
  Job job{.onnx_file = onnx_file, .spec = {}, .sizes = {1, kVector}, .data = {}};
  for (const char* name : {"a", "b"})
    job.spec.inputs.push_back({.name = name, .type = pte::ScalarType::kF32, .sizes = job.sizes});
  job.spec.outputs.push_back({.name = "sum", .type = pte::ScalarType::kF32, .sizes = job.sizes});
  job.data.resize(std::size_t{2} * kVector * sizeof(float));
  return job;
}

void open(const char* file) {
  if (dlopen(file, RTLD_NOW) == nullptr) die(dlerror());  // NOLINT(concurrency-mt-unsafe)
}

struct Times {
  double raw = 0;
  double ours = 0;
  double stock = 0;
};

Times run_in_turn(Job& job, const openvino::Library& library, const std::string& blob, const std::string& precision,
                  int runs) {
  const std::string our_bytes = program_bytes(job, blob, false, precision);
  const std::string stock_bytes = program_bytes(job, blob, true, precision);
  Raw raw(library, precision);
  raw.import(blob);
  raw.bind(job);
  Program ours(job, of_bytes(our_bytes));
  ours.load();
  Program stock(job, of_bytes(stock_bytes));
  stock.load();
  std::array<std::vector<double>, 3> times;
  for (int i = 0; i < runs + 20; ++i) {
    const std::array<double, 3> once{microseconds_of([&] { raw.run(); }), microseconds_of([&] { ours.run(); }),
                                     microseconds_of([&] { stock.run(); })};
    if (i < 20) continue;
    for (std::size_t k = 0; k < once.size(); ++k)
      times[k].push_back(once[k]);
  }
  return {median(times[0]), median(times[1]), median(times[2])};
}

double mebibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

// Where the system counts the most that was resident from.
std::uint64_t start_of_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return platform::resident_bytes();
}

// In a process of its own: what loading a program adds at most to what is resident, and what loading and running it
// once adds. `how` is "ours-mmap" and so on. The vendor's library, its threads and a first small model are there
// before.
int measure_memory(char** argv, const std::string& how, const std::string& folder) {
  const std::string who = how.substr(0, how.find('-'));
  const std::string mode = how.substr(how.find('-') + 1);
  Job tiny = tiny_job(folder + "/tiny-of-child.onnx");
  Job job = minilm_job("");
  const auto say = [](std::uint64_t before) {
    fmt::print("{:.1f} ", mebibytes(platform::peak_resident_bytes() - before));
    std::fflush(stdout);
  };
  if (who == "raw") {
    const auto library = openvino::open_library(argv[1]);
    const std::string small = read(folder + "/tiny.blob");
    Raw first(**library, argv[5]);
    first.import(small);
    first.bind(tiny);
    first.run();
    const auto before = start_of_peak();
    const auto blob = platform::MappedFile::open(folder + "/minilm.blob");
    if (!blob.ok()) die(blob.status().to_string());
    Raw raw(**library, argv[5]);
    raw.import({reinterpret_cast<const char*>(blob->bytes().data()), blob->bytes().size()});
    say(before);
    raw.bind(job);
    raw.run();
    say(before);
    std::_Exit(0);
  }
  const std::string small = read(folder + "/tiny-" + who + ".pte");
  Program first(tiny, of_bytes(small));
  first.load();
  first.run();
  const std::string file = folder + "/" + who + ".pte";
  const std::string bytes = mode == "host" ? read(file) : std::string();
  Program program(job, mode == "host"
                           ? of_bytes(bytes)
                           : of_file(file, mode == "mmap" ? Module::LoadMode::Mmap : Module::LoadMode::File));
  const auto before = start_of_peak();
  program.load();
  say(before);
  program.run();
  say(before);
  std::_Exit(0);
}

// "loaded after-a-run", or what became of it.
std::string memory_in_a_child(char** argv, const std::string& how, const std::string& folder) {
  const std::string command = fmt::format("'{}' '{}' '{}' '{}' '{}' '{}' --memory {} '{}' 2>/dev/null", argv[0],
                                          argv[1], argv[2], argv[3], argv[4], argv[5], how, folder);
  std::FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): of this program, by its own arguments
  if (pipe == nullptr) die("no child");
  std::array<char, 128> line{};
  std::string text = std::fgets(line.data(), line.size(), pipe) != nullptr ? line.data() : "";
  const int status = pclose(pipe);
  return status == 0 ? text : text + " and then it crashed";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6)
    die("usage: executorch_beside_stock OPENVINO_LIBRARY DELEGATE STOCK MODEL_DIR PRECISION [RUNS] [LOADS]");
  setenv("LATEBIND_OPENVINO_LIBRARY", argv[1], 1);
  setenv("LATEBIND_ONNXRUNTIME_LIBRARY", "/nonexistent", 1);
  setenv("OPENVINO_LIB_PATH", argv[1], 1);
  open(argv[2]);
  open(argv[3]);
  if (argc == 9 && std::string_view(argv[6]) == "--memory") return measure_memory(argv, argv[7], argv[8]);
  const int runs = argc > 6 ? std::max(1, std::atoi(argv[6])) : 300;
  const int loads = argc > 7 ? std::max(1, std::atoi(argv[7])) : 10;
  const std::string precision = argv[5];

  const auto library = openvino::open_library(argv[1]);
  if (!library.ok()) die(library.status().to_string());
  const auto folder = platform::TemporaryFolder::create("beside");
  if (!folder.ok()) die(folder.status().to_string());
  const auto path = [&](const char* name) { return (folder->path() / name).string(); };
  const auto model = embedding::ModelFolder::open(argv[4]);
  if (!model.ok()) die(model.status().to_string());
  if (const auto written = embedding::write_onnx_file(model->documents(), {}, path("minilm.onnx")); !written.ok()) {
    die(written.to_string());
  }
  Job minilm = minilm_job(path("minilm.onnx"));
  Job tiny = tiny_job(path("tiny.onnx"));
  std::array<std::string, 2> blobs;
  for (const auto& [job, place, name] :
       {std::tuple(&minilm, &blobs[0], "minilm.blob"), std::tuple(&tiny, &blobs[1], "tiny.blob")}) {
    Raw(**library, precision).export_blob(*job, path(name));
    *place = read(path(name));
  }

  const Times of_tiny = run_in_turn(tiny, **library, blobs[1], precision, 10 * runs);
  const Times of_minilm = run_in_turn(minilm, **library, blobs[0], precision, runs);

  const std::string our_bytes = program_bytes(minilm, blobs[0], false, precision);
  const std::string stock_bytes = program_bytes(minilm, blobs[0], true, precision);
  std::ofstream(path("ours.pte"), std::ios::binary) << our_bytes;
  std::ofstream(path("stock.pte"), std::ios::binary) << stock_bytes;
  std::ofstream(path("tiny-ours.pte"), std::ios::binary) << program_bytes(tiny, blobs[1], false, precision);
  std::ofstream(path("tiny-stock.pte"), std::ios::binary) << program_bytes(tiny, blobs[1], true, precision);
  std::vector<double> our_loads;
  std::vector<double> stock_loads;
  {
    Program ours(minilm, of_bytes(our_bytes));
    ours.load();
    Program stock(minilm, of_bytes(stock_bytes));
    stock.load();
    for (int i = 0; i < loads; ++i) {
      our_loads.push_back(microseconds_of([&] { ours.load(); }) / 1000);
      stock_loads.push_back(microseconds_of([&] { stock.load(); }) / 1000);
    }
  }
  fmt::print(
      "{{\"openvino\": \"{}\", \"precision\": \"{}\", \"payload_mib\": {:.1f},\n"
      " \"tiny_us\": {{\"raw\": {:.1f}, \"ours\": {:.1f}, \"stock\": {:.1f}}},\n"
      " \"minilm_us\": {{\"raw\": {:.0f}, \"ours\": {:.0f}, \"stock\": {:.0f}}},\n"
      " \"load_ms\": {{\"ours\": {:.1f}, \"stock\": {:.1f}}},\n"
      " \"peak_mib_loaded_and_after_a_run\": {{",
      (*library)->version, precision, static_cast<double>(blobs[0].size()) / (1 << 20), of_tiny.raw, of_tiny.ours,
      of_tiny.stock, of_minilm.raw, of_minilm.ours, of_minilm.stock, median(our_loads), median(stock_loads));
  const char* comma = "";
  for (const char* how :
       {"raw-mmap", "ours-mmap", "stock-mmap", "ours-file", "stock-file", "ours-host", "stock-host"}) {
    fmt::print("{}\n  \"{}\": \"{}\"", comma, how, memory_in_a_child(argv, how, folder->path().string()));
    comma = ",";
  }
  fmt::print("}}}}\n");
  return 0;
}
