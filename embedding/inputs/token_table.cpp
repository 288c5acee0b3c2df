#include "embedding/inputs/token_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace latebind::embedding {

void TokenTable::clear() {
  ids_.clear();
  begins_.clear();
  lengths_.clear();
  truncated_.clear();
  type_one_from_.clear();
  pooled_from_.clear();
  tasks_.clear();
  unattended_from_.clear();
  kept_.clear();
  vector_begins_.clear();
  vector_counts_.clear();
  vector_count_ = 0;
}

const std::int32_t* unknown_id(std::span<const std::int32_t> ids, std::size_t vocabulary_size) {
  for (const std::int32_t& id : ids) {
    if (id < 0 || (vocabulary_size > 0 && static_cast<std::size_t>(id) >= vocabulary_size)) return &id;
  }
  return nullptr;
}

core::Status TokenTable::check(std::size_t begin, const TokenLimits& limits) const {
  if (const auto* id = unknown_id(std::span(ids_).subspan(begin), limits.vocabulary_size); id != nullptr) {
    return core::Status(core::StatusCode::kInvalidModel,
                        fmt::format("the tokenizer gave token id {}, but the model knows only ids below {}: "
                                    "tokenizer.json and the weights do not belong together",
                                    *id, limits.vocabulary_size));
  }
  return {};
}

core::Status TokenTable::finish(std::size_t begin, bool is_cut, const TokenLimits& limits, std::size_t pooled_from) {
  const std::size_t length = ids_.size() - begin;
  std::size_t filled = 0;
  if (limits.filling) {
    const Filling& filling = *limits.filling;
    if (length == 0) return core::Status(core::StatusCode::kInvalidArgument, "there is no token in it to fill up from");
    if (length < filling.length) filled = filling.length - length;
    ids_.resize(ids_.size() + filled, filling.id);
    unattended_from_.push_back(static_cast<std::uint32_t>(filling.is_attended ? length + filled : length));
  }
  if (limits.filter != nullptr) {
    const bool keeps_filling = !limits.filling || limits.filling->is_kept;
    vector_begins_.push_back(vector_count_);
    std::uint32_t count = 0;
    for (std::size_t i = begin; i < ids_.size(); ++i) {
      const bool is_kept = (keeps_filling || i < begin + length) && limits.filter->keeps(ids_[i]);
      kept_.push_back(is_kept ? 1 : 0);
      if (is_kept) ++count;
    }
    vector_counts_.push_back(count);
    vector_count_ += count;
  }
  if (limits.task > 0) {
    tasks_.resize(begins_.size());
    tasks_.push_back(limits.task);
  }
  close(begin, is_cut, pooled_from);
  return {};
}

void TokenTable::close(std::size_t begin, bool is_cut, std::size_t pooled_from) {
  if (pooled_from > 0) {
    pooled_from_.resize(begins_.size());
    pooled_from_.push_back(static_cast<std::uint32_t>(pooled_from));
  }
  if (is_cut) truncated_.push_back(begins_.size());
  begins_.push_back(begin);
  lengths_.push_back(static_cast<std::uint32_t>(ids_.size() - begin));
}

void TokenTable::append(const TokenTable& other) {
  const std::size_t base = ids_.size();
  const std::size_t first = begins_.size();
  ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end());
  for (const std::size_t begin : other.begins_)
    begins_.push_back(base + begin);
  lengths_.insert(lengths_.end(), other.lengths_.begin(), other.lengths_.end());
  type_one_from_.insert(type_one_from_.end(), other.type_one_from_.begin(), other.type_one_from_.end());
  if (!other.pooled_from_.empty()) {
    pooled_from_.resize(first);
    pooled_from_.insert(pooled_from_.end(), other.pooled_from_.begin(), other.pooled_from_.end());
  }
  if (!other.tasks_.empty()) {
    tasks_.resize(first);
    tasks_.insert(tasks_.end(), other.tasks_.begin(), other.tasks_.end());
  }
  unattended_from_.insert(unattended_from_.end(), other.unattended_from_.begin(), other.unattended_from_.end());
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  for (const std::size_t first_vector : other.vector_begins_)
    vector_begins_.push_back(vector_count_ + first_vector);
  vector_counts_.insert(vector_counts_.end(), other.vector_counts_.begin(), other.vector_counts_.end());
  vector_count_ += other.vector_count_;
  for (const std::size_t text : other.truncated_)
    truncated_.push_back(first + text);
}

}  // namespace latebind::embedding
