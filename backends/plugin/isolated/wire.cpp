#include "backends/plugin/isolated/wire.h"

#include <cstring>

namespace latebind::plugin {

void Writer::number(std::uint64_t number) {
  bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void Writer::text(const char* text) {
  block(text, text != nullptr ? std::strlen(text) + 1 : 0, 1);
}

void Writer::block(const void* values, std::size_t count, std::size_t size) {
  number(count);
  if (count > 0) bytes_.append(static_cast<const char*>(values), count * size);
}

const char* Reader::take(std::uint64_t size) {
  if (!is_good_ || size > bytes_.size() - at_) {
    is_good_ = false;
    return nullptr;
  }
  const char* const from = bytes_.data() + at_;
  at_ += size;
  return from;
}

std::uint64_t Reader::number() {
  std::uint64_t number = 0;
  const char* const from = take(sizeof number);
  if (from != nullptr) std::memcpy(&number, from, sizeof number);
  return number;
}

const char* Reader::text() {
  const std::uint64_t size = number();
  const char* const from = size > 0 ? take(size) : nullptr;
  if (from == nullptr || from[size - 1] == '\0') return from;
  is_good_ = false;
  return nullptr;
}

std::size_t Reader::count() {
  const std::uint64_t count = number();
  if (count <= (bytes_.size() - at_) / sizeof(std::uint64_t)) return count;
  is_good_ = false;
  return 0;
}

void* Reader::room(std::size_t size, std::uint64_t first) {
  auto& made = rooms_.emplace_back(std::make_unique<std::uint64_t[]>((size + 7) / 8 + 1));
  made[0] = first;
  return made.get();
}

const void* Reader::block(std::size_t& count, std::size_t size) {
  const std::uint64_t given = number();
  count = 0;
  if (given > bytes_.size()) is_good_ = false;
  const char* const from = given > bytes_.size() ? nullptr : take(given * size);
  if (from == nullptr || given == 0) return nullptr;
  count = given;
  // A copy that is aligned.
  return std::memcpy(room(count * size), from, count * size);
}

void** Reader::structs_of(std::size_t& count, std::size_t size) {
  count = this->count();
  auto* const list = static_cast<void**>(room(count * sizeof(void*)));
  auto* const made = static_cast<char*>(room(count * size));
  for (std::size_t i = 0; i < count; ++i) {
    list[i] = made + i * size;
    std::memcpy(list[i], &size, sizeof size);
  }
  return list;
}

}  // namespace latebind::plugin
