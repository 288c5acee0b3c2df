// Writes a folder's model as every backend has it, and the exported file, into a folder: for check_graph.py.
//
//     graph_driver MODEL_FOLDER POOLING OUT_FOLDER        POOLING: cls, mean, max, lasttoken or states
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "backends/openvino/read_model.h"
#include "core/model/onnx_form.h"
#include "embedding/build_model.h"
#include "embedding/export_onnx.h"
#include "embedding/folder/model_folder.h"
#include "embedding/outputs/dense.h"
#include "embedding/outputs/pooling.h"

namespace {

// NOLINTNEXTLINE(google-build-using-namespace): one page, one namespace
using namespace latebind;

void write(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

int fail(const core::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::filesystem::path out = arguments[3];
  const std::string pooling = arguments[2];
  static const std::map<std::string, embedding::PoolingMode> kModes{{"cls", embedding::PoolingMode::kCls},
                                                                    {"mean", embedding::PoolingMode::kMean},
                                                                    {"max", embedding::PoolingMode::kMax},
                                                                    {"lasttoken", embedding::PoolingMode::kLastToken}};
  const auto folder = embedding::ModelFolder::open(arguments[1]);
  if (!folder.ok()) return fail(folder.status());
  embedding::Specification model = folder->documents();
  embedding::GraphOptions options;
  if (pooling == "states") {
    options.outputs = {"token_vectors"};
  } else {
    model.outputs.front() = std::make_shared<const embedding::DenseOutput>(
        embedding::DenseOutput::Parameters{.pooling = kModes.at(pooling), .normalize = model.output().normalizes()});
  }
  const auto graph = embedding::build_model(model, options);
  if (!graph.ok()) return fail(graph.status());
  const auto onnx = core::onnx_form(graph->model);
  if (!onnx.ok()) return fail(onnx.status());
  write(out / "external.onnx", onnx->graph.bytes);
  for (const auto& external : onnx->external)
    write(out / external.location, external.data.bytes);
  const auto readable = openvino::readable_model(graph->model, false);
  if (!readable.ok()) return fail(readable.status());
  write(out / "model.xml", readable->forms().front().graph.bytes);
  write(out / "model.bin", readable->forms().front().weights.bytes);
  if (const auto status = embedding::write_onnx_file(model, options, out / "exported.onnx"); !status.ok()) {
    return fail(status);
  }
  return 0;
}
