// What a program and the process of an isolated plug-in say to each other: structs of the contract, field by field.
//
// The program asks, the process answers; a lane is one socket with one question at a time. Both run on one machine and
// are of one release. The process is not trusted: the program reads its answers with a Reader, which stays within the
// message, and what was read is checked as all that plug-ins return. Values, for one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/plugin/contract.h"

namespace latebind::plugin {

enum class Ask : std::uint64_t {
  kLane,  // on the first lane alone: a file comes with it, the process's end of another lane
  kCreate,
  kAvailable,
  kVersion,
  kDevices,
  kTakes,
  kLoad,
  kPrepare,
  kRun,
  kCollect,  // outputs of the last run, which did not fit
  kDestroy,
};

inline constexpr std::size_t kQuestionMax = std::size_t{1} << 28U;
inline constexpr std::size_t kAnswerMax = std::size_t{1} << 22U;
// Tensors begin at multiples of this in the shared memory of a lane, behind its first one.
inline constexpr std::size_t kTensorStep = 64;
inline constexpr std::size_t stepped(std::size_t size) {
  return (size + kTensorStep - 1) / kTensorStep * kTensorStep;
}
// The command of the process.
inline constexpr const char* kHoldCommand = "hold-backend";

class Writer {
 public:
  void number(std::uint64_t number);
  void number(Ask ask) { number(static_cast<std::uint64_t>(ask)); }
  void integer(std::int64_t integer) { number(static_cast<std::uint64_t>(integer)); }
  void text(const char* text);  // which may be null
  void text(const std::string& text) { this->text(text.c_str()); }
  // A list that may be null.
  template <class T>
  void list(const T* values, std::size_t count) {
    block(values, values != nullptr ? count : 0, sizeof(T));
  }
  void append(const Writer& other) { bytes_ += other.bytes_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void block(const void* values, std::size_t count, std::size_t size);
  std::string bytes_;
};

// Reads what a Writer has written. Behind the end, numbers are 0 and texts null, and good() is false. What it returns
// belongs to it.
class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::uint64_t number();
  std::int64_t integer() { return static_cast<std::int64_t>(number()); }
  std::int32_t code() { return static_cast<std::int32_t>(number()); }
  std::uint32_t small() { return static_cast<std::uint32_t>(number()); }
  const char* text();
  // Reads how many items follow. Each takes at least eight bytes, so the size of the message bounds the count.
  std::size_t count();
  template <class T>
  const T* list(std::size_t& count) {
    return static_cast<const T*>(block(count, sizeof(T)));
  }
  // Makes as many structs of the contract as come, and a list of them.
  template <class T>
  T** structs(std::size_t& count) {
    return reinterpret_cast<T**>(structs_of(count, sizeof(T)));
  }
  template <class T>
  T* one() {
    return static_cast<T*>(room(sizeof(T), sizeof(T)));
  }
  // Makes zeroed memory, which begins with this number.
  void* room(std::size_t size, std::uint64_t first = 0);
  [[nodiscard]] bool good() const { return is_good_; }
  void spoil() { is_good_ = false; }

 private:
  const char* take(std::uint64_t size);
  const void* block(std::size_t& count, std::size_t size);
  void** structs_of(std::size_t& count, std::size_t size);

  const std::string bytes_;
  std::size_t at_ = 0;
  bool is_good_ = true;
  std::vector<std::unique_ptr<std::uint64_t[]>> rooms_;
};

}  // namespace latebind::plugin
