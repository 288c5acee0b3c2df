#include "embedding/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/graph/operators.h"
#include "core/platform/system_info.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Shape;
using core::Status;
using core::StatusCode;

Status unsupported(std::string message) {
  return Status(StatusCode::kUnsupported, std::move(message));
}

std::string names_of(std::span<const core::TensorInfo> infos) {
  std::string names;
  for (const core::TensorInfo& info : infos)
    names += (names.empty() ? "" : ", ") + info.name;
  return names;
}

}  // namespace

core::Result<Forward> Forward::bind(std::shared_ptr<core::PlacedModel> model, std::vector<BoundOutput> outputs,
                                    bool may_be_unattended) {
  Forward forward(std::move(model), std::move(outputs), may_be_unattended);
  LB_RETURN_IF_ERROR(forward.bind_inputs());
  for (BoundOutput& bound : forward.outputs_)
    LB_RETURN_IF_ERROR(forward.bind_end(bound.end));
  return forward;
}

Forward Forward::of_table(std::shared_ptr<const TermTable> table, std::shared_ptr<const Output> output) {
  const ModelEnd end{.pooled = true, .dimension = table->size()};
  Forward forward(nullptr, {{.output = std::move(output), .end = end}}, /*may_be_unattended=*/false);
  forward.table_ = std::move(table);
  core::Attestation attestation;
  attestation.active.backend = "none";
  attestation.active.device_full_name = "a table of weights, without a network";
  // A table needs no computation besides tokenizing, which every processor can do.
  attestation.active.requests = attestation.active.threads = platform::usable_processors();
  attestation.active.leaves_padding_out = true;
  attestation.active.compiles_nothing = true;
  attestation.conclude(attestation.active.id(), {});
  forward.no_device_ = std::make_shared<const core::Attestation>(std::move(attestation));
  return forward;
}

void Forward::take_tokenizer(const Tokenizer& tokenizer) {
  for (BoundOutput& bound : outputs_) {
    if (auto with = bound.output->with_tokenizer(tokenizer)) bound.output = std::move(with);
  }
}

std::shared_ptr<const core::Attestation> Forward::attestation() const {
  return model_ != nullptr ? model_->attestation() : no_device_;
}

Status Forward::bind_inputs() {
  for (const core::TensorInfo& input : model_->inputs()) {
    if (input.name == "input_ids") {
      feeds_.push_back(Feed::kIds);
    } else if (input.name == "attention_mask") {
      feeds_.push_back(Feed::kMask);
    } else if (input.name == "token_type_ids") {
      feeds_.push_back(Feed::kTokenTypes);
    } else if (input.name == "task_ids") {
      feeds_.push_back(Feed::kTasks);
    } else if (input.name == "position_ids" && outputs_.front().output->counts_positions()) {
      feeds_.push_back(Feed::kPositions);
    } else if (input.name.starts_with("past_key_values")) {
      return unsupported(
          fmt::format("the model has an input '{}': it is for generating text; export it without a cache (use_cache "
                      "false)",
                      input.name));
    } else {
      return unsupported(
          fmt::format("the model has an input '{}'; supported are input_ids, "
                      "attention_mask and token_type_ids",
                      input.name));
    }
    if (input.type != ElementType::kI64 && input.type != ElementType::kI32) {
      return unsupported(
          fmt::format("the model's input {} has type {}; i64 or i32 is needed", input.name, core::name_of(input.type)));
    }
    if (!input.shape.accepts(Shape{2, 3}) || !input.shape.accepts(Shape{1, 2})) {
      return unsupported(fmt::format("the model's input {} has shape {}; [batch, tokens] with both free is needed",
                                     input.name, input.shape.to_string()));
    }
  }
  for (const auto& [feed, name] : {std::pair{Feed::kIds, "input_ids"}, std::pair{Feed::kMask, "attention_mask"}}) {
    if (std::count(feeds_.begin(), feeds_.end(), feed) != 1) {
      return unsupported(
          fmt::format("the model has no input '{}'; its inputs are: {}", name, names_of(model_->inputs())));
    }
  }
  return {};
}

Status Forward::bind_end(ModelEnd& end) const {
  const auto outputs = model_->outputs();
  if (end.position >= outputs.size()) {
    return unsupported(fmt::format("the model has no output {}; its outputs are: {}", end.position, names_of(outputs)));
  }
  const core::TensorInfo& output = outputs[end.position];
  const std::size_t rank = end.pooled ? 2 : 3;
  if (output.shape.rank() != rank) {
    return unsupported(fmt::format("the model's output {} has shape {}; {} is needed", output.name,
                                   output.shape.to_string(), end.pooled ? "[batch, size]" : "[batch, tokens, size]"));
  }
  if (output.type != ElementType::kF32) {
    return unsupported(
        fmt::format("the model's output {} has type {}; f32 is needed", output.name, core::name_of(output.type)));
  }
  const std::int64_t declared = output.shape[rank - 1];
  if (end.dimension == 0 && declared > 0) end.dimension = static_cast<std::size_t>(declared);
  if (end.dimension == 0 || (declared != core::kDynamic && static_cast<std::size_t>(declared) != end.dimension)) {
    return unsupported(fmt::format("the model's output {} has shape {}, which does not give vectors of length {}",
                                   output.name, output.shape.to_string(), end.dimension));
  }
  return {};
}

template <class Id>
void Forward::fill(Feed feed, std::span<const TextRow> rows, std::size_t width, Id* to) const {
  for (const TextRow& row : rows) {
    const auto ids = row.ids;
    Id* const end = to + width;
    switch (feed) {
      case Feed::kIds:
        to = std::copy(ids.begin(), ids.end(), to);
        break;
      case Feed::kMask:
        to = std::fill_n(to, row.unattended_from, Id{1});
        to = std::fill_n(to, ids.size() - row.unattended_from,
                         static_cast<Id>(may_be_unattended_ ? graph::kUnattended : 0));
        break;
      case Feed::kTokenTypes:
        to = std::fill_n(to, row.type_one_from, Id{0});
        to = std::fill_n(to, ids.size() - row.type_one_from, Id{1});
        break;
      case Feed::kTasks:
        to = std::fill_n(to, ids.size(), static_cast<Id>(row.task));
        break;
      case Feed::kPositions:
        std::iota(to, to + ids.size(), Id{0});
        to += ids.size();
        break;
    }
    to = std::fill_n(to, end - to, Id{0});
  }
}

Status Forward::run(std::span<const TextRow> rows, std::size_t width, Scratch& scratch, const core::RunOptions& limits,
                    std::shared_ptr<const core::Attestation>* answered_by) const {
  if (table_ != nullptr) {
    for (const TextRow& row : rows) {
      if (row.targets.front().sparse != nullptr) {
        outputs_.front().output->look_up(*table_, row.ids, *row.targets.front().sparse);
      }
    }
    if (answered_by != nullptr) *answered_by = no_device_;
    return {};
  }
  const auto inputs = model_->inputs();
  const std::size_t elements = rows.size() * width;
  scratch.inputs.resize(inputs.size());
  scratch.views.resize(inputs.size());
  const Shape shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& buffer = scratch.inputs[i];
    if (buffer.size() < elements) buffer.resize(elements);
    if (inputs[i].type == ElementType::kI64) {
      fill(feeds_[i], rows, width, buffer.data());
    } else {
      fill(feeds_[i], rows, width, reinterpret_cast<std::int32_t*>(buffer.data()));
    }
    scratch.views[i] = {buffer.data(), inputs[i].type, shape, std::nullopt};
  }

  scratch.outputs.resize(model_->outputs().size());
  const BoundOutput& first = outputs_.front();
  float* const single = rows.size() == 1 ? rows[0].targets.front().numbers : nullptr;
  // The device writes a single text's vector directly to its target.
  if (first.end.pooled && first.form() == ResultForm::kRow && single != nullptr && scratch.outputs.size() == 1) {
    core::OutputTensor bound = core::OutputTensor::bound(single, first.computed() * sizeof(float));
    LB_RETURN_IF_ERROR(model_->execute(scratch.views, {&bound, 1}, limits, answered_by));
    LB_RETURN_IF_ERROR(check_shape(first.end, bound.view(), 1, width));
    first.output->complete({single, first.computed()});
    return {};
  }
  LB_RETURN_IF_ERROR(model_->execute(scratch.views, scratch.outputs, limits, answered_by));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ModelEnd& end = outputs_[i].end;
    const core::TensorView& view = scratch.outputs[end.position].view();
    LB_RETURN_IF_ERROR(check_shape(end, view, rows.size(), width));
    deliver(i, static_cast<const float*>(view.data), rows, width, scratch.numbers);
  }
  return {};
}

Status Forward::check_shape(const ModelEnd& end, const core::TensorView& output, std::size_t rows,
                            std::size_t width) const {
  const auto row_count = static_cast<std::int64_t>(rows);
  const auto length = static_cast<std::int64_t>(end.dimension);
  const Shape expected =
      end.pooled ? Shape{row_count, length} : Shape{row_count, static_cast<std::int64_t>(width), length};
  if (output.data != nullptr && output.type == ElementType::kF32 && output.shape == expected) return {};
  return {StatusCode::kShapeMismatch, fmt::format("the model's output {} has type {} and shape {}; expected f32 {}",
                                                  model_->outputs()[end.position].name, core::name_of(output.type),
                                                  output.shape.to_string(), expected.to_string())};
}

void Forward::deliver(std::size_t which, const float* numbers, std::span<const TextRow> rows, std::size_t width,
                      std::vector<float>& scratch) const {
  const auto& [output, end] = outputs_[which];
  for (const TextRow& row : rows) {
    const RowTarget& target = row.targets[which];
    if (target.numbers != nullptr || target.sparse != nullptr) {
      output->take({numbers, (end.pooled ? 1 : row.ids.size()) * end.dimension}, end,
                   {.count = row.ids.size(), .ids = row.ids, .pooled_from = row.pooled_from, .kept = row.kept}, target,
                   scratch);
    }
    numbers += (end.pooled ? 1 : width) * end.dimension;
  }
}

}  // namespace latebind::embedding
