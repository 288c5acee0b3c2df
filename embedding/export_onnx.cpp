#include "embedding/export_onnx.h"

#include "core/graph/onnx_writer.h"
#include "core/platform/files/output_file.h"

namespace latebind::embedding {

core::Status write_onnx_file(const Specification& model, const GraphOptions& options,
                             const std::filesystem::path& file) {
  for (const WeightsFile& weights : model.network.weights)
    LB_RETURN_IF_ERROR(model.files.check(weights.file));
  LB_ASSIGN_OR_RETURN(const graph::Graph made, make_graph(model, options));
  LB_ASSIGN_OR_RETURN(platform::OutputFile output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(graph::write_onnx(made, output));
  return output.commit();
}

}  // namespace latebind::embedding
