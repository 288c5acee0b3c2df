#include "embedding/weights/torch/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "core/text/quote.h"
#include "embedding/weights/torch/pickle_names.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Kind = PickleValue::Kind;

constexpr std::uint64_t kProtocolMax = 5;
constexpr std::size_t kMemoMax = kPickleValuesMax;
// Calls may copy lists, which would otherwise multiply.
constexpr std::size_t kPickleItemsMax = 4 * kPickleValuesMax;
constexpr PickleId kNothing = std::numeric_limits<PickleId>::max();

// Runs the opcodes over a stack of values. The first error ends it.
class PickleReader {
 public:
  explicit PickleReader(std::string_view bytes) : bytes_(bytes) {}

  Result<Pickle> read() {
    while (!stopped_) {
      if (at_ >= kPickleBytesMax) return invalid(fmt::format("more than {} bytes", kPickleBytesMax));
      const auto code = byte();
      if (failed_) return invalid("it ends before its last opcode");
      LB_RETURN_IF_ERROR(step(code));
      if (failed_) return invalid("it is cut off, or takes more from its stack than was put there");
      if (items_ > kPickleItemsMax) return invalid(fmt::format("more than {} items", kPickleItemsMax));
      if (read_.values.size() > kPickleValuesMax) return invalid(fmt::format("more than {} values", kPickleValuesMax));
    }
    read_.size = at_;
    return std::move(read_);
  }

 private:
  static Status invalid(std::string_view what) { return {StatusCode::kInvalidModel, fmt::format("pickle: {}", what)}; }
  [[nodiscard]] Status invalid_here(std::string_view what) const {
    return invalid(fmt::format("{} before byte {}", what, at_));
  }

  // The readers of bytes and of the stack return something harmless after they have set failed_.
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) {
      failed_ = true;
      return {};
    }
    const std::string_view taken = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }
  std::uint64_t number(std::size_t count) {
    const std::string_view taken = take(count);
    std::uint64_t value = 0;
    for (std::size_t i = taken.size(); i-- > 0;)
      value = value << 8U | static_cast<unsigned char>(taken[i]);
    return value;
  }
  unsigned char byte() { return static_cast<unsigned char>(number(1)); }
  std::string_view line() {
    const auto end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view taken = take(end - at_);
    ++at_;
    return taken;
  }

  // The values above the last mark belong to the structure that is being built.
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleId pop() {
    if (stack_.size() <= floor()) {
      failed_ = true;
      return kNothing;
    }
    const PickleId top = stack_.back();
    stack_.pop_back();
    return top;
  }
  std::vector<PickleId> pop_to_mark() {
    if (marks_.empty()) {
      failed_ = true;
      return {};
    }
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleId> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  [[nodiscard]] PickleId top() {
    if (stack_.size() > floor()) return stack_.back();
    failed_ = true;
    return kNothing;
  }
  void push(PickleValue value) {
    if (failed_) return;
    items_ += value.items.size();
    stack_.push_back(static_cast<PickleId>(read_.values.size()));
    read_.values.push_back(std::move(value));
  }
  void push_number(std::int64_t value) { push({.kind = Kind::kInt, .number = value}); }
  void push_text(std::uint64_t size) { push({.kind = Kind::kText, .text = take(size)}); }
  void push_tuple(std::size_t count) {
    std::vector<PickleId> items(count);
    for (std::size_t i = count; i-- > 0;)
      items[i] = pop();
    push({.kind = Kind::kTuple, .items = std::move(items)});
  }

  void push_long() {
    const std::string_view bytes = take(byte());
    if (bytes.size() > sizeof(std::uint64_t)) return push({.kind = Kind::kLong, .text = bytes});
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      value = value << 8U | static_cast<unsigned char>(bytes[i]);
    const std::size_t bits = 8 * bytes.size();
    const bool is_negative = !bytes.empty() && (value >> (bits - 1) & 1U) != 0;
    if (is_negative && bits < 64) value |= ~std::uint64_t{0} << bits;
    push_number(static_cast<std::int64_t>(value));
  }

  Status push_class(std::string_view module, std::string_view name) {
    if (failed_) return {};
    const std::string whole = fmt::format("{}.{}", module, name);
    const NamedClass* const found = find_pickle_class(whole);
    if (found == nullptr) {
      return {StatusCode::kUnsupported,
              fmt::format("it contains {}, which is not a part of tensors; only tensors are read, and nothing in the "
                          "file is executed",
                          core::quoted(whole))};
    }
    push({.kind = Kind::kClass, .of = found->of, .text = found->type});
    return {};
  }

  Status reduce() {
    const PickleId arguments = pop();
    const PickleId callee = pop();
    if (failed_) return {};
    if (read_[callee].kind != Kind::kClass || read_[arguments].kind != Kind::kTuple) {
      return invalid_here("a call of what is not a function");
    }
    const PickleClass of = read_[callee].of;
    const std::vector<PickleId>& given = read_[arguments].items;
    if (of == PickleClass::kOrderedDict) return push_dictionary(given);
    if (of == PickleClass::kStorage) return invalid_here("a storage inside the pickle");
    if (of == PickleClass::kSize) {
      if (given.size() != 1 || !is_sequence(given[0])) return invalid_here("a torch.Size without its numbers");
      push({.kind = Kind::kTuple, .items = read_[given[0]].items});
      return {};
    }
    push({.kind = Kind::kCall, .of = of, .items = {arguments}});
    return {};
  }

  [[nodiscard]] bool is_sequence(PickleId id) const {
    return read_[id].kind == Kind::kTuple || read_[id].kind == Kind::kList;
  }

  // Python 2 passes the pairs of an OrderedDict to its constructor.
  Status push_dictionary(const std::vector<PickleId>& given) {
    PickleValue made{.kind = Kind::kDict};
    if (given.size() > 1 || (given.size() == 1 && !is_sequence(given[0]))) {
      return invalid_here("an OrderedDict of what is not a list");
    }
    if (given.size() == 1) {
      for (const PickleId pair : read_[given[0]].items) {
        if (!is_sequence(pair) || read_[pair].items.size() != 2) return invalid_here("an OrderedDict without pairs");
        made.items.insert(made.items.end(), read_[pair].items.begin(), read_[pair].items.end());
      }
    }
    push(std::move(made));
    return {};
  }

  // Adds to the structure below; `kind` is what it must be.
  Status add_to_top(const std::vector<PickleId>& items, Kind kind) {
    const PickleId target = top();
    if (failed_) return {};
    PickleValue& value = read_.values[target];
    if (value.kind != kind) return invalid_here("items for what is not a list or dictionary");
    if (kind == Kind::kDict && items.size() % 2 != 0) return invalid_here("a key without its value");
    value.items.insert(value.items.end(), items.begin(), items.end());
    items_ += items.size();
    return {};
  }
  // Takes `count` items that no mark precedes.
  Status add_to_top(std::size_t count, Kind kind) {
    std::vector<PickleId> items(count);
    for (std::size_t i = count; i-- > 0;)
      items[i] = pop();
    return failed_ ? Status() : add_to_top(items, kind);
  }

  Status put(std::uint64_t place) {
    if (failed_) return {};
    if (place >= kMemoMax) return invalid(fmt::format("a memo of more than {} places", kMemoMax));
    if (place >= memo_.size()) memo_.resize(static_cast<std::size_t>(place) + 1, kNothing);
    memo_[static_cast<std::size_t>(place)] = top();
    return {};
  }
  Status get(std::uint64_t place) {
    if (failed_) return {};
    if (place >= memo_.size() || memo_[static_cast<std::size_t>(place)] == kNothing) {
      return invalid_here("a place of the memo that is empty");
    }
    stack_.push_back(memo_[static_cast<std::size_t>(place)]);
    return {};
  }

  Status step(unsigned char code) {
    switch (code) {
      case kProto: {
        const std::uint64_t protocol = byte();
        if (protocol <= kProtocolMax) return {};
        return {StatusCode::kUnsupported, fmt::format("pickle: protocol {}, at most {}", protocol, kProtocolMax)};
      }
      case kFrame:
        number(8);
        return {};
      case kStop:
        read_.root = pop();
        stopped_ = true;
        return {};
      case kMark:
        marks_.push_back(stack_.size());
        return {};
      case kPop:
        pop();
        return {};
      case kNone:
        push({});
        return {};
      case kNewTrue:
      case kNewFalse:
        push({.kind = Kind::kBool, .number = code == kNewTrue ? 1 : 0});
        return {};
      case kBinInt:
        push_number(static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4))));
        return {};
      case kBinInt1:
        push_number(byte());
        return {};
      case kBinInt2:
        push_number(static_cast<std::int64_t>(number(2)));
        return {};
      case kLong1:
        push_long();
        return {};
      case kBinFloat:
        take(8);
        push({.kind = Kind::kFloat});
        return {};
      default:
        return step_of_structure(code);
    }
  }

  Status step_of_structure(unsigned char code) {
    switch (code) {
      case kBinString:
      case kBinUnicode:
        push_text(number(4));
        return {};
      case kShortBinString:
      case kShortBinUnicode:
        push_text(byte());
        return {};
      case kBinUnicode8:
        push_text(number(8));
        return {};
      case kEmptyTuple:
        push({.kind = Kind::kTuple});
        return {};
      case kTuple:
        push({.kind = Kind::kTuple, .items = pop_to_mark()});
        return {};
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push_tuple(code - kTuple1 + 1U);
        return {};
      case kEmptyList:
        push({.kind = Kind::kList});
        return {};
      case kAppend:
        return add_to_top(1, Kind::kList);
      case kAppends: {
        const auto items = pop_to_mark();
        return add_to_top(items, Kind::kList);
      }
      case kEmptyDict:
        push({.kind = Kind::kDict});
        return {};
      case kSetItem:
        return add_to_top(2, Kind::kDict);
      case kSetItems: {
        const auto items = pop_to_mark();
        return add_to_top(items, Kind::kDict);
      }
      default:
        return step_of_objects(code);
    }
  }

  Status step_of_objects(unsigned char code) {
    switch (code) {
      case kGlobal: {
        const std::string_view module = line();
        return push_class(module, line());
      }
      case kStackGlobal: {
        const PickleId name = pop();
        const PickleId module = pop();
        if (failed_) return {};
        if (read_[name].kind != Kind::kText || read_[module].kind != Kind::kText) {
          return invalid_here("a class without a name");
        }
        return push_class(read_[module].text, read_[name].text);
      }
      case kReduce:
        return reduce();
      case kBuild: {
        // The state of a dictionary or a tensor, such as the versions of a network's modules, is no tensor.
        pop();
        const PickleId target = top();
        if (failed_ || read_[target].kind == Kind::kDict || read_[target].kind == Kind::kCall) return {};
        return invalid_here("a state for what has none");
      }
      case kBinPersId:
        push({.kind = Kind::kPersistent, .items = {pop()}});
        return {};
      case kBinPut:
        return put(byte());
      case kLongBinPut:
        return put(number(4));
      case kMemoize:
        return put(memo_.size());
      case kBinGet:
        return get(byte());
      case kLongBinGet:
        return get(number(4));
      default:
        break;
    }
    const std::string_view known = name_of_refused_opcode(code);
    if (known.empty()) return invalid(fmt::format("{:#04x} at byte {} is no opcode", code, at_ - 1));
    return {
        StatusCode::kUnsupported,
        fmt::format("pickle: the opcode {} at byte {} is not supported; weights do not contain it", known, at_ - 1)};
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  Pickle read_;
  std::vector<PickleId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<PickleId> memo_;
  std::size_t items_ = 0;  // of all values
  bool failed_ = false;
  bool stopped_ = false;
};

}  // namespace

Result<Pickle> read_pickle(std::string_view bytes) {
  return PickleReader(bytes).read();
}

}  // namespace latebind::embedding
