// Programs of ExecuTorch: the input as a whole .pte, read, converted with its payload and with another one, and read
// again; and the input as the payload of a program of ours.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/pte/converter.h"
#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace {

namespace core = latebind::core;
namespace pte = latebind::pte;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_one_line(const core::Status& status) {
  require(!status.message().empty() && status.message().find('\n') == std::string::npos);
}

// At an address that the reader takes, with nothing behind the last byte.
class Aligned {
 public:
  explicit Aligned(std::string_view bytes)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded(bytes.size()))), &std::free),
        offset_(rounded(bytes.size()) - bytes.size()) {
    // Only whole multiples of the alignment end where the memory does.
    if (offset_ % kAlignment != 0) offset_ = 0;
    if (!bytes.empty()) std::memcpy(memory_.get() + offset_, bytes.data(), bytes.size());
    size_ = bytes.size();
  }
  [[nodiscard]] std::span<const std::byte> span() const { return {memory_.get() + offset_, size_}; }

 private:
  static constexpr std::size_t kAlignment = 16;
  static std::size_t rounded(std::size_t size) { return (size + kAlignment) / kAlignment * kAlignment; }
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
  std::size_t offset_;
  std::size_t size_ = 0;
};

std::size_t sum_of(std::span<const std::byte> bytes) {
  std::size_t sum = 0;
  for (const std::byte byte : bytes)
    sum += std::to_integer<std::size_t>(byte);
  return sum;
}

// Touches everything that was read.
std::size_t use(const pte::Program& program) {
  std::size_t sum = 0;
  for (const pte::Method& method : program.methods) {
    sum += method.name.size();
    for (const auto* values : {&method.inputs, &method.outputs}) {
      for (const pte::Value& value : *values)
        sum += sum_of(std::as_bytes(std::span(value.name)));
    }
    for (const pte::Delegate& delegate : method.delegates) {
      sum += sum_of(delegate.payload) + sum_of(std::as_bytes(std::span(delegate.id)));
      for (const pte::DelegateSpec& spec : delegate.compile_specs)
        sum += sum_of(spec.value) + sum_of(std::as_bytes(std::span(spec.key)));
    }
  }
  return sum;
}

void convert(std::span<const std::byte> file, bool with_payload) {
  static const std::string payload(100, 'p');
  pte::Conversion conversion;
  if (with_payload) conversion.payload = pte::Payload::of(std::as_bytes(std::span(payload)));
  std::string bytes;
  const core::Status status = pte::convert_program(file, conversion, [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
    return core::Status();
  });
  if (!status.ok()) return require_one_line(status);
  const Aligned converted(bytes);
  // Parts of a hostile program may lie over each other, so that it is another one now; what there is is checked again.
  const auto program = pte::read_program(converted.span());
  if (program.ok()) use(*program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const Aligned file(input);
  const auto program = pte::read_program(file.span());
  if (program.ok()) {
    use(*program);
    convert(file.span(), false);
    convert(file.span(), true);
  } else {
    require_one_line(program.status());
  }
  if (input.empty()) return 0;
  pte::ProgramSpec spec;
  spec.inline_payload = size % 2 == 0;
  spec.payload_alignment = 16;
  spec.compile_specs = {{"key", std::string(input.substr(0, 100))}};
  const auto made = pte::program_bytes(spec, input);
  require(made.ok());
  const Aligned ours(*made);
  const auto again = pte::read_program(ours.span());
  require(again.ok() && again->methods.size() == 1 && again->methods[0].delegates.size() == 1);
  const auto payload = again->methods[0].delegates[0].payload;
  require(payload.size() == size && std::memcmp(payload.data(), data, size) == 0);
  return 0;
}
