#include "embedding/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/platform/system_info.h"
#include "embedding/pooling.h"

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

core::Result<Forward> Forward::bind(std::shared_ptr<core::PlacedModel> model, const OutputRule& rule) {
  Forward forward(std::move(model), rule);
  LB_RETURN_IF_ERROR(forward.bind_inputs());
  LB_RETURN_IF_ERROR(forward.bind_output());
  return forward;
}

Forward Forward::of_table(std::shared_ptr<const TermTable> table, const SparseRule& rule) {
  Forward forward(nullptr, {.pooled = true, .sparse = rule, .dimension = table->size()});
  forward.table_ = std::move(table);
  core::Attestation attestation;
  attestation.active.backend = "none";
  attestation.active.device_full_name = "a table of weights, without a network";
  // As many as may tokenize at once: there is nothing else to do.
  attestation.active.requests = attestation.active.threads = platform::usable_processors();
  attestation.active.leaves_padding_out = true;
  attestation.active.compiles_nothing = true;
  attestation.conclude(attestation.active.id(), {});
  forward.no_device_ = std::make_shared<const core::Attestation>(std::move(attestation));
  return forward;
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
    } else {
      return unsupported(
          fmt::format("the model wants an input '{}'; an embedding model has input_ids, "
                      "attention_mask and perhaps token_type_ids",
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

Status Forward::bind_output() {
  const auto outputs = model_->outputs();
  if (rule_.output >= outputs.size()) {
    return unsupported(fmt::format("the model has no output {}; its outputs are: {}", rule_.output, names_of(outputs)));
  }
  const core::TensorInfo& output = outputs[rule_.output];
  const std::size_t rank = rule_.pooled ? 2 : 3;
  if (output.shape.rank() != rank) {
    return unsupported(fmt::format("the model's output {} has shape {}; {} is needed", output.name,
                                   output.shape.to_string(), rule_.pooled ? "[batch, size]" : "[batch, tokens, size]"));
  }
  if (output.type != ElementType::kF32) {
    return unsupported(
        fmt::format("the model's output {} has type {}; f32 is needed", output.name, core::name_of(output.type)));
  }
  const std::int64_t declared = output.shape[rank - 1];
  if (rule_.dimension == 0 && declared > 0) rule_.dimension = static_cast<std::size_t>(declared);
  if (rule_.dimension == 0 || (declared != core::kDynamic && static_cast<std::size_t>(declared) != rule_.dimension)) {
    return unsupported(fmt::format("the model's output {} has shape {}, which does not give vectors of length {}",
                                   output.name, output.shape.to_string(), rule_.dimension));
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
                         static_cast<Id>(rule_.may_be_unattended ? graph::kUnattended : 0));
        break;
      case Feed::kTokenTypes:
        to = std::fill_n(to, row.type_one_from, Id{0});
        to = std::fill_n(to, ids.size() - row.type_one_from, Id{1});
        break;
    }
    to = std::fill_n(to, end - to, Id{0});
  }
}

Status Forward::run(std::span<const TextRow> rows, std::size_t width, Scratch& scratch, const core::RunOptions& limits,
                    std::shared_ptr<const core::Attestation>* answered_by) const {
  if (table_ != nullptr) {
    for (const TextRow& row : rows)
      table_->weigh(row.ids, *rule_.sparse, *row.sparse);
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
  // A single text's vector goes directly to its place.
  const bool direct = rule_.pooled && !rule_.sparse && rows.size() == 1 && scratch.outputs.size() == 1;
  if (direct) {
    core::OutputTensor bound = core::OutputTensor::bound(rows[0].vector, rule_.dimension * sizeof(float));
    LB_RETURN_IF_ERROR(model_->execute(scratch.views, {&bound, 1}, limits, answered_by));
    return deliver(bound.view(), rows, width, /*is_in_place=*/true, scratch);
  }
  LB_RETURN_IF_ERROR(model_->execute(scratch.views, scratch.outputs, limits, answered_by));
  return deliver(scratch.outputs[rule_.output].view(), rows, width, /*is_in_place=*/false, scratch);
}

Status Forward::deliver(const core::TensorView& output, std::span<const TextRow> rows, std::size_t width,
                        bool is_in_place, Scratch& scratch) const {
  const std::size_t dimension = rule_.dimension;
  const auto row_count = static_cast<std::int64_t>(rows.size());
  const auto length = static_cast<std::int64_t>(dimension);
  const Shape expected =
      rule_.pooled ? Shape{row_count, length} : Shape{row_count, static_cast<std::int64_t>(width), length};
  if (output.data == nullptr || output.type != ElementType::kF32 || !(output.shape == expected)) {
    return Status(
        StatusCode::kShapeMismatch,
        fmt::format("the model's output {} came back as {} {}; f32 {} was due", model_->outputs()[rule_.output].name,
                    core::name_of(output.type), output.shape.to_string(), expected.to_string()));
  }
  const bool corrects = rule_.pooled && rule_.normalize;
  if (is_in_place) {
    if (corrects) correct_length({rows[0].vector, dimension});
    return {};
  }
  const auto* from = static_cast<const float*>(output.data);
  if (rule_.sparse) {
    deliver_sparse(from, rows, width, scratch.pooled);
    return {};
  }
  if (rule_.keep_tokens && !rule_.pooled) {
    deliver_tokens(from, rows, width);
    return {};
  }
  for (const TextRow& row : rows) {
    const std::span<float> to(row.vector, dimension);
    if (rule_.pooled) {
      std::copy_n(from, dimension, to.begin());
      if (corrects) correct_length(to);
      from += dimension;
    } else {
      pool(rule_.pooling, {from, row.ids.size() * dimension}, to, row.pooled_from);
      if (rule_.normalize) normalize(to);
      from += width * dimension;
    }
  }
  return {};
}

void Forward::deliver_tokens(const float* from, std::span<const TextRow> rows, std::size_t width) const {
  const std::size_t dimension = rule_.dimension;
  for (const TextRow& row : rows) {
    float* to = row.vector;
    for (std::size_t token = 0; token < row.ids.size(); ++token) {
      if (!row.kept.empty() && row.kept[token] == 0) continue;
      std::copy_n(from + token * dimension, dimension, to);
      if (rule_.normalize_tokens) correct_length({to, dimension});
      to += dimension;
    }
    from += width * dimension;
  }
}

void Forward::deliver_sparse(const float* from, std::span<const TextRow> rows, std::size_t width,
                             std::vector<float>& pooled) const {
  const std::size_t dimension = rule_.dimension;
  for (const TextRow& row : rows) {
    const std::span<const float> of_tokens(from, row.ids.size() * dimension);
    if (!rule_.pooled) pooled.resize(dimension);
    if (rule_.pooled) {
      read_sparse({from, dimension}, *rule_.sparse, *row.sparse);
    } else if (rule_.sparse->sums) {
      sum_sparse(of_tokens, *rule_.sparse, pooled, *row.sparse);
    } else {
      pool(rule_.pooling, of_tokens, pooled);
      read_sparse(pooled, *rule_.sparse, *row.sparse);
    }
    from += rule_.pooled ? dimension : width * dimension;
  }
}

}  // namespace latebind::embedding
