#include "backends/native/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "backends/native/compute.h"

namespace latebind::native {

using core::ElementType;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorView;

NativeExecutable::NativeExecutable(const Kernels& kernels, Plan plan, core::ActiveConfig active)
    : kernels_(kernels),
      plan_(std::move(plan)),
      active_(std::move(active)),
      team_(active_.threads),
      batches_(active_.requests, [] { return core::Result<Batch>(Batch{}); }) {
  const graph::Graph& graph = *plan_.graph;
  id_inputs_.resize(plan_.inputs.size());
  for (const graph::Node& node : graph.nodes()) {
    const auto* const input = std::get_if<graph::Input>(&node.op);
    if (input == nullptr) continue;
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (plan_.inputs[i].name == input->name) id_inputs_[i] = inputs_.size();
    }
    if (plan_.mask && plan_.mask->name == input->name) mask_input_ = inputs_.size();
    inputs_.push_back({.name = input->name, .type = input->type, .shape = input->shape});
  }
  for (const graph::GraphOutput& output : graph.outputs()) {
    const graph::Node& node = graph.node(output.value);
    outputs_.push_back({.name = output.name, .type = node.type, .shape = node.shape});
  }
}

Status NativeExecutable::pack(const WeightFiles& files) {
  Team::Crew crew = team_.take(team_.threads());
  LB_RETURN_IF_ERROR(
      plan_.matrices.pack(*plan_.graph, files, crew.size(), [&](std::size_t panels, const PackedMatrices::Part& part) {
        std::atomic<std::size_t> next{0};
        crew.run([&](std::size_t member) {
          for (std::size_t panel = next.fetch_add(1); panel < panels; panel = next.fetch_add(1))
            part(panel, member);
        });
      }));
  compute_places(kernels_, plan_.product, plan_.matrices, plan_.places, crew);
  return {};
}

Status NativeExecutable::gather(std::span<const TensorView> inputs, Batch& batch) const {
  const Shape& shape = inputs[id_inputs_.front()].shape;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].shape == shape) continue;
    return {
        StatusCode::kShapeMismatch,
        fmt::format("input '{}' has shape {} and '{}' has shape {}; they must be the same",
                    inputs_[id_inputs_.front()].name, shape.to_string(), inputs_[i].name, inputs[i].shape.to_string())};
  }
  const auto texts = static_cast<std::size_t>(shape[0]);
  const auto width = static_cast<std::size_t>(shape[1]);
  // Contiguous copies, in the caller's order.
  std::vector<std::vector<std::int64_t>> copies(inputs.size());
  std::vector<const std::int64_t*> data(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    data[i] = static_cast<const std::int64_t*>(inputs[i].data);
    if (inputs[i].is_contiguous()) continue;
    copies[i].resize(texts * width);
    LB_RETURN_IF_ERROR(inputs[i].copy_to_contiguous(copies[i].data()));
    data[i] = copies[i].data();
  }
  batch.ids.resize(plan_.inputs.size());
  for (auto& ids : batch.ids)
    ids.clear();
  batch.positions.clear();
  batch.counted_places.clear();
  batch.unattended.clear();
  batch.first.assign(1, 0);
  batch.padded = width;
  for (std::size_t text = 0; text < texts; ++text) {
    std::uint32_t counted = 0;
    std::size_t unattended = 0;
    for (std::size_t t = 0; t < width; ++t) {
      const std::size_t at = text * width + t;
      const auto& places = plan_.counted_places;
      // Every token but padding counts, whether the mask keeps it or not.
      const bool is_counted = places && data[id_inputs_[places->ids]][at] != places->padding;
      if (is_counted) ++counted;
      if (mask_input_ && data[*mask_input_][at] == 0) continue;
      if (plan_.positions_max != 0 && t >= plan_.positions_max) {
        return {StatusCode::kShapeMismatch,
                fmt::format("text {} has {} tokens; the model has {} positions", text, width, plan_.positions_max)};
      }
      const bool is_first = batch.positions.size() == batch.first.back();
      if (plan_.by_distance && !is_first && batch.positions.back() + 1 != t) {
        return {
            StatusCode::kInvalidArgument,
            fmt::format("text {} has a gap before token {}: the mask must not leave out tokens in between", text, t)};
      }
      if (plan_.may_be_unattended) {
        const bool is_attended = data[*mask_input_][at] != graph::kUnattended;
        if (is_attended && unattended > 0) {
          return {StatusCode::kInvalidArgument,
                  fmt::format("text {} attends to token {} after a token that it does not attend to", text, t)};
        }
        if (!is_attended) ++unattended;
      }
      batch.positions.push_back(static_cast<std::uint32_t>(t));
      if (places) batch.counted_places.push_back(places->padding + (is_counted ? counted : 0));
      for (std::size_t i = 0; i < batch.ids.size(); ++i) {
        const std::int64_t id = data[id_inputs_[i]][at];
        if (id < 0 || static_cast<std::uint64_t>(id) >= plan_.ids_end[i]) {
          return {StatusCode::kInvalidArgument,
                  fmt::format("input '{}' has {} for token {} of text {}; it must be below {}", plan_.inputs[i].name,
                              id, t, text, plan_.ids_end[i])};
        }
        batch.ids[i].push_back(static_cast<std::uint32_t>(id));
      }
    }
    batch.first.push_back(batch.positions.size());
    batch.unattended.push_back(unattended);
    if (batch.first[text] + unattended == batch.first[text + 1]) {
      return {StatusCode::kInvalidArgument, fmt::format("text {} has no token: its mask is all zero", text)};
    }
  }
  return {};
}

Status NativeExecutable::run(std::span<const TensorView> inputs, std::span<core::OutputTensor> outputs,
                             const core::RunOptions& options) {
  LB_RETURN_IF_ERROR(core::check_time(options));
  LB_ASSIGN_OR_RETURN(auto batch, batches_.checkout(options));
  LB_RETURN_IF_ERROR(gather(inputs, *batch));
  const Shape& given = inputs[id_inputs_.front()].shape;
  std::vector<float*> out(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Plan::Result& result = plan_.results[i];
    const auto width = static_cast<std::int64_t>(result.width);
    const Shape shape = result.by_text ? Shape{given[0], width} : Shape{given[0], given[1], width};
    LB_ASSIGN_OR_RETURN(void* const memory, outputs[i].prepare(ElementType::kF32, shape));
    out[i] = static_cast<float*>(memory);
    if (result.by_text) continue;
    LB_ASSIGN_OR_RETURN(const std::size_t size, shape.element_count());
    std::fill_n(out[i], size, 0.0F);
  }
  Team::Crew crew =
      team_.take(std::max<std::size_t>(1, team_.threads() / std::max<std::size_t>(1, options.side_by_side)));
  return compute(kernels_, plan_, *batch, crew, options, out);
}

}  // namespace latebind::native
