#include "embedding/weights/adapters/task_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "embedding/weights/adapters/adapter_parts.h"
#include "embedding/weights/adapters/matrices.h"
#include "embedding/weights/floats_of.h"
#include "embedding/weights/made_tensors.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Status;
using core::StatusCode;

// Tables with at most this many rows, such as those of token types, get a row for each task.
constexpr std::size_t kFewRows = 1024;
constexpr std::string_view kStackedDown = ".parametrizations.weight.0.lora_A";
constexpr std::string_view kStackedWhole = ".parametrizations.weight.original";
constexpr std::string_view kStackedUp = ".parametrizations.weight.0.lora_B";

// A row-major matrix.
struct Matrix {
  std::vector<float> numbers;
  std::size_t columns = 0;

  [[nodiscard]] float& at(std::size_t row, std::size_t column) { return numbers[row * columns + column]; }
  [[nodiscard]] float at(std::size_t row, std::size_t column) const { return numbers[row * columns + column]; }
};

// The change of one matrix for one task.
struct TaskPart {
  std::size_t task = 0;  // from 1
  std::size_t rank = 0;
  float scale = 1;
  StoredTensor down{};  // A [rank, in], or its transpose
  StoredTensor up{};    // B [out, rank], or its transpose
  bool is_transposed = false;
};

struct ChangedTensor {
  std::string name;  // as the model calls it
  std::size_t in = 0;
  std::size_t out = 0;
  bool is_table = false;
  std::vector<TaskPart> parts;

  [[nodiscard]] std::size_t columns() const {
    std::size_t all = 0;
    for (const TaskPart& part : parts)
      all += part.rank;
    return all;
  }
  // The type of all parts, or f32 if they differ.
  [[nodiscard]] ElementType type() const {
    const ElementType first = parts.front().down.type;
    const bool is_same = std::ranges::all_of(
        parts, [&](const TaskPart& part) { return part.down.type == first && part.up.type == first; });
    return is_same ? first : ElementType::kF32;
  }
  // A of all tasks, transposed: [in, columns].
  [[nodiscard]] Matrix down_by_input() const {
    Matrix all{std::vector<float>(in * columns()), columns()};
    std::size_t first = 0;
    for (const TaskPart& part : parts) {
      const Matrix own{floats_of(part.down), part.is_transposed ? part.rank : in};
      for (std::size_t i = 0; i < in; ++i) {
        for (std::size_t k = 0; k < part.rank; ++k)
          all.at(i, first + k) = part.is_transposed ? own.at(i, k) : own.at(k, i);
      }
      first += part.rank;
    }
    return all;
  }
  // B of all tasks: [out, columns].
  [[nodiscard]] Matrix up() const {
    Matrix all{std::vector<float>(out * columns()), columns()};
    std::size_t first = 0;
    for (const TaskPart& part : parts) {
      const Matrix own{floats_of(part.up), part.is_transposed ? out : part.rank};
      for (std::size_t o = 0; o < out; ++o) {
        for (std::size_t k = 0; k < part.rank; ++k)
          all.at(o, first + k) = part.is_transposed ? own.at(k, o) : own.at(o, k);
      }
      first += part.rank;
    }
    return all;
  }
  [[nodiscard]] Matrix scales(std::size_t tasks) const {
    Matrix all{std::vector<float>((tasks + 1) * columns()), columns()};
    std::size_t first = 0;
    for (const TaskPart& part : parts) {
      for (std::size_t k = 0; k < part.rank; ++k)
        all.at(part.task, first + k) = part.scale;
      first += part.rank;
    }
    return all;
  }
};

// The first row of a table for each task: [tasks + 1, out].
Matrix rows_of_tasks(const Matrix& down, const Matrix& up, const Matrix& scales, std::span<const float> row) {
  Matrix rows{{}, row.size()};
  for (std::size_t at = 0; at < scales.numbers.size(); at += scales.columns) {
    for (std::size_t o = 0; o < row.size(); ++o) {
      float sum = 0;
      for (std::size_t k = 0; k < scales.columns; ++k)
        sum += down.at(0, k) * scales.numbers[at + k] * up.at(o, k);
      rows.numbers.push_back(row[o] + sum);
    }
  }
  return rows;
}

using ChangedTensors = std::map<std::string, ChangedTensor>;

Status add(const ChangedTensors& changed, std::size_t tasks, ModelWeights& weights) {
  std::vector<MadeTensors::Wanted> wanted;
  std::map<std::vector<float>, std::string> scales;  // names by their numbers: most matrices have the same
  std::map<std::string, TaskChange> changes;
  for (const auto& [name, one] : changed) {
    const std::size_t columns = one.columns();
    TaskChange change{.down = name + "#down", .up = name + "#up", .columns = columns};
    const ElementType type = one.type();
    wanted.push_back({change.down, type, one.is_table ? dims_of({one.in, columns}) : dims_of({columns, one.in})});
    wanted.push_back({change.up, type, dims_of({one.out, columns})});
    const auto [known, is_new] = scales.try_emplace(one.scales(tasks).numbers, fmt::format("tasks#{}", scales.size()));
    change.scales = known->second;
    if (is_new) wanted.push_back({change.scales, ElementType::kF32, dims_of({tasks + 1, columns})});
    if (one.is_table && one.in <= kFewRows) {
      change.rows = name + "#rows";
      wanted.push_back({change.rows, ElementType::kF32, dims_of({tasks + 1, one.out})});
    }
    changes[name] = std::move(change);
  }
  LB_ASSIGN_OR_RETURN(MadeTensors made, MadeTensors::of("the parts of tasks", wanted));
  for (const auto& [numbers, name] : scales)
    write_floats(numbers, ElementType::kF32, made.to_write(name).data());
  for (const auto& [name, one] : changed) {
    const TaskChange& change = changes[name];
    const ElementType type = one.type();
    const Matrix down = one.down_by_input();
    const Matrix up = one.up();
    write_floats(one.is_table ? down.numbers : transposed(down.numbers, one.in, down.columns), type,
                 made.to_write(change.down).data());
    write_floats(up.numbers, type, made.to_write(change.up).data());
    if (change.rows.empty()) continue;
    LB_ASSIGN_OR_RETURN(StoredTensor table, weights.find_stored(name, dims_of({one.in, one.out})));
    const std::vector<float> numbers = floats_of(table);
    const Matrix rows = rows_of_tasks(down, up, one.scales(tasks), std::span(numbers).first(one.out));
    write_floats(rows.numbers, ElementType::kF32, made.to_write(change.rows).data());
  }
  weights.replace(std::move(made));
  weights.set_tasks(tasks, std::move(changes));
  return {};
}

// Returns the part of a stacked tensor for the task at this position.
StoredTensor slice_of(StoredTensor stacked, std::size_t position, std::size_t tasks) {
  const std::size_t size = stacked.bytes.size() / tasks;
  stacked.bytes = stacked.bytes.subspan(position * size, size);
  return stacked;
}

}  // namespace

Status add_task_adapters(std::span<const TaskAdapterFile> adapters, ModelWeights& weights) {
  ChangedTensors changed;
  std::size_t task = 0;
  for (const TaskAdapterFile& file : adapters) {
    ++task;
    LB_ASSIGN_OR_RETURN(const AdapterParts parts, read_adapter_parts(file.tensors, *file.config, weights));
    if (!parts.replaced.empty() || file.config->is_dora) {
      return {StatusCode::kUnsupported,
              fmt::format("{}: the adapter of a task with {} is not supported", file.config->file,
                          file.config->is_dora ? "'use_dora'" : "tensors that replace others")};
    }
    for (const LowRankChange& change : parts.changes) {
      ChangedTensor& one = changed[change.tensor];
      if (!one.parts.empty() && one.is_table != change.is_table) {
        return {
            StatusCode::kInvalidModel,
            fmt::format("{} changes a table of embeddings, but another task's adapter changes it as a matrix, or the "
                        "reverse",
                        place_of_tensor(file.tensors.name(), change.down))};
      }
      const auto dims = change.is_table ? dims_of({change.in, change.out}) : dims_of({change.out, change.in});
      LB_RETURN_IF_ERROR(weights.find_stored(change.tensor, dims).status());
      one.name = change.tensor;
      one.in = change.in;
      one.out = change.out;
      one.is_table = change.is_table;
      TaskPart part{.task = task, .rank = change.rank, .scale = change.scale};
      LB_ASSIGN_OR_RETURN(part.down, file.tensors.find(change.down, dims_of({change.rank, change.in})));
      LB_ASSIGN_OR_RETURN(part.up, file.tensors.find(change.up, dims_of({change.out, change.rank})));
      one.parts.push_back(std::move(part));
    }
  }
  return add(changed, adapters.size(), weights);
}

Status refuse_stacked_tasks(const ModelWeights& weights) {
  for (const std::string& name : weights.names()) {
    if (!name.ends_with(kStackedDown) && !name.ends_with(kStackedUp)) continue;
    return {
        StatusCode::kInvalidModel,
        fmt::format("the weights have low-rank parts of tasks, such as '{}', but config.json names no tasks", name)};
  }
  return {};
}

Status add_stacked_tasks(const StackedTasks& stacked, ModelWeights& weights) {
  ChangedTensors changed;
  const std::vector<std::string> all = weights.names();
  const std::set<std::string_view> names(all.begin(), all.end());
  for (const std::string& name : all) {
    if (name.ends_with(kStackedWhole)) {
      const std::string module = name.substr(0, name.size() - kStackedWhole.size());
      if (!names.contains(module + std::string(kStackedDown)))
        return {StatusCode::kInvalidModel, fmt::format("the tensor '{}' has no low-rank parts", name)};
    }
    if (!name.ends_with(kStackedDown)) continue;
    const std::string module = name.substr(0, name.size() - kStackedDown.size());
    const auto shape = weights.shape_of(module + ".weight");
    const auto down_shape = weights.shape_of(name);
    if (!shape || shape->size() != 2 || !down_shape || down_shape->size() != 3) {
      return {StatusCode::kInvalidModel,
              fmt::format("the tensor '{}' has no matrix that it changes, or not three dimensions", name)};
    }
    ChangedTensor& one = changed[module + ".weight"];
    one.name = module + ".weight";
    // In a table, the rank is the last dimension.
    one.is_table = (*down_shape)[1] == (*shape)[0] && (*down_shape)[2] == static_cast<std::int64_t>(stacked.rank);
    one.in = static_cast<std::size_t>((*shape)[one.is_table ? 0 : 1]);
    one.out = static_cast<std::size_t>((*shape)[one.is_table ? 1 : 0]);
    const auto [tasks, rank, scale] = stacked;
    LB_ASSIGN_OR_RETURN(
        const StoredTensor down,
        weights.find_stored(name, one.is_table ? dims_of({tasks, one.in, rank}) : dims_of({tasks, rank, one.in})));
    LB_ASSIGN_OR_RETURN(const StoredTensor up, weights.find_stored(module + std::string(kStackedUp),
                                                                   one.is_table ? dims_of({tasks, rank, one.out})
                                                                                : dims_of({tasks, one.out, rank})));
    for (std::size_t i = 0; i < tasks; ++i) {
      one.parts.push_back({.task = i + 1,
                           .rank = rank,
                           .scale = scale,
                           .down = slice_of(down, i, tasks),
                           .up = slice_of(up, i, tasks),
                           .is_transposed = one.is_table});
    }
  }
  return add(changed, stacked.tasks, weights);
}

}  // namespace latebind::embedding
