#include "backends/pjrt/blob.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/cache/compile_entry.h"
#include "core/json/read.h"
#include "core/json/value.h"

namespace latebind::pjrt {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::string_view kMagic("LBPJRT\x01\x00", 8);
constexpr std::size_t kLengthSize = 8;
constexpr std::size_t kSumSize = 32;
constexpr std::size_t kHeadSize = kMagic.size() + kLengthSize + kSumSize;
constexpr std::size_t kHeaderMax = std::size_t{16} << 20;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kListMax = 65'536;

std::size_t aligned(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Status damaged(std::string_view what) {
  return Status(StatusCode::kIncompatibleBlob, fmt::format("a damaged blob of pjrt: {}", what));
}

Json part_json(std::size_t offset, std::size_t size) {
  return Json::object({{"offset", offset}, {"size", size}});
}

Json info_json(const core::TensorInfo& info) {
  return Json::object(
      {{"name", info.name}, {"type", std::string(core::name_of(info.type))}, {"shape", Json(info.shape.dims())}});
}

std::optional<Element> element_of(std::string_view word) {
  for (const Element element : {Element::kI32, Element::kF16, Element::kBF16, Element::kF32})
    if (word_of(element) == word) return element;
  return std::nullopt;
}

// Reads the members of a header. The first mistake is kept.
class HeaderReader {
 public:
  HeaderReader(const Json& header, std::span<const std::byte> parts) : header_(header), parts_(parts) {}

  Result<BlobContent> read() {
    BlobContent content;
    const Json& origin = header_["origin"];
    content.origin = {.plugin_digest = text(origin, "plugin"),
                      .platform = text(origin, "platform"),
                      .device_kind = text(origin, "device")};
    const auto precision = core::parse_word<core::Precision>(text(origin, "precision"));
    if (precision.ok()) {
      content.origin.precision = *precision;
    } else {
      fail("its precision is not known");
    }
    for (const Json& input : list(header_, "inputs")) {
      NetworkInput read{.info = info(input)};
      read.ids_end = number(input, "ids_end", 0);
      read.is_mask = input["is_mask"].get<bool>();
      read.may_be_unattended = input["may_be_unattended"].get<bool>();
      if (read.info.type != core::ElementType::kI64 && read.info.type != core::ElementType::kF32)
        fail("an input is neither f32 nor i64");
      if (read.info.type == core::ElementType::kF32 && (read.ids_end != 0 || read.is_mask))
        fail("ids or a mask are f32");
      content.inputs.push_back(std::move(read));
    }
    for (const Json& output : list(header_, "outputs")) {
      content.outputs.push_back(info(output));
      if (content.outputs.back().type != core::ElementType::kF32) fail("an output is not f32");
    }
    if (content.outputs.empty()) fail("it has no output");
    content.program = part(header_["program"]);
    if (content.program.empty()) fail("it has no program");
    for (const Json& constant : list(header_, "constants")) {
      BlobConstant read;
      const auto element = element_of(text(constant, "type"));
      if (!element) fail("a weight has a type that is not known");
      read.element = element.value_or(Element::kF32);
      const core::Shape shape = shape_of(constant);
      read.dims = {shape.dims().begin(), shape.dims().end()};
      read.bytes = part(constant);
      const auto count = shape.element_count();
      if (!count.ok() || *count * size_of(read.element) != read.bytes.size()) fail("a weight has another size");
      content.constants.push_back(std::move(read));
    }
    LB_RETURN_IF_ERROR(status_);
    return content;
  }

 private:
  void fail(std::string_view what) {
    if (status_.ok()) status_ = damaged(what);
  }
  std::string text(const Json& object, const char* key) {
    const Json* const found = core::find_member(object, key);
    if (found == nullptr || !found->is_string()) fail(fmt::format("the header has no text '{}'", key));
    return found == nullptr ? std::string() : found->text();
  }
  std::int64_t number(const Json& object, const char* key, std::int64_t least) {
    const Json* const found = core::find_member(object, key);
    const std::int64_t number = found == nullptr ? least - 1 : found->whole<std::int64_t>().value_or(least - 1);
    if (number < least) fail(fmt::format("the header has no number '{}'", key));
    return std::max(number, least);
  }
  const Json& list(const Json& object, const char* key) {
    const Json* const found = core::find_member(object, key);
    if (found != nullptr && found->is_array() && found->size() <= kListMax) return *found;
    fail(fmt::format("the header has no list '{}'", key));
    return nothing_;
  }
  core::Shape shape_of(const Json& object) {
    Dims dims;
    for (const Json& dim : list(object, "shape")) {
      const auto number = dim.whole<std::int64_t>();
      if (!number || *number < 1) fail("a shape has a dimension that is no number from 1");
      dims.push_back(number.value_or(1));
    }
    const auto shape = core::Shape::make(dims);
    if (shape.ok() && shape->element_count().ok()) return *shape;
    fail("a shape is too large");
    return {};
  }
  core::TensorInfo info(const Json& object) {
    core::TensorInfo info{.name = text(object, "name"), .shape = shape_of(object)};
    const auto type = core::element_type_from_name(text(object, "type"));
    if (!type) fail("an input or output has a type that is not known");
    info.type = type.value_or(core::ElementType::kF32);
    return info;
  }
  std::span<const std::byte> part(const Json& object) {
    const auto offset = static_cast<std::uint64_t>(number(object, "offset", 0));
    const auto size = static_cast<std::uint64_t>(number(object, "size", 0));
    if (offset > parts_.size() || size > parts_.size() - offset || offset % kAlignment != 0) {
      fail("a part is beyond its end, or not at its place");
      return {};
    }
    return parts_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  const Json& header_;
  const std::span<const std::byte> parts_;
  const Json nothing_;
  Status status_;
};

}  // namespace

std::string write_blob(const BlobContent& content) {
  Json header = Json::object();
  header["origin"] = Json::object({{"plugin", content.origin.plugin_digest},
                                   {"platform", content.origin.platform},
                                   {"device", content.origin.device_kind},
                                   {"precision", std::string(core::word_of(content.origin.precision))}});
  header["inputs"] = Json::array();
  for (const NetworkInput& input : content.inputs) {
    Json& made = header["inputs"].emplace_back(info_json(input.info));
    made["ids_end"] = input.ids_end;
    made["is_mask"] = input.is_mask;
    made["may_be_unattended"] = input.may_be_unattended;
  }
  header["outputs"] = Json::array();
  for (const core::TensorInfo& output : content.outputs)
    header["outputs"].push_back(info_json(output));
  header["program"] = part_json(0, content.program.size());
  header["constants"] = Json::array();
  std::size_t offset = aligned(content.program.size());
  for (const BlobConstant& constant : content.constants) {
    Json& made = header["constants"].emplace_back(part_json(offset, constant.bytes.size()));
    made["type"] = std::string(word_of(constant.element));
    made["shape"] = Json(constant.dims);
    offset += aligned(constant.bytes.size());
  }
  std::vector<std::span<const std::byte>> parts{content.program};
  for (const BlobConstant& constant : content.constants)
    parts.push_back(constant.bytes);
  return seal_blob(header.dump(), parts);
}

std::string seal_blob(std::string header, std::span<const std::span<const std::byte>> parts) {
  // The parts begin at an aligned place of the whole.
  header.append(aligned(kHeadSize + header.size()) - kHeadSize - header.size(), ' ');
  std::size_t size = kHeadSize + header.size();
  for (const std::span<const std::byte> part : parts)
    size += aligned(part.size());
  std::string blob;
  blob.reserve(size);
  blob += kMagic;
  for (unsigned shift = 0; shift < 64; shift += 8)
    blob += static_cast<char>((static_cast<std::uint64_t>(header.size()) >> shift) & 0xFFU);
  blob.append(kSumSize, '0');
  blob += header;
  for (const std::span<const std::byte> part : parts) {
    blob.append(reinterpret_cast<const char*>(part.data()), part.size());
    blob.append(aligned(part.size()) - part.size(), '\0');
  }
  const std::string sum = core::payload_sum(bytes_of(blob).subspan(kHeadSize));
  std::ranges::copy(sum, blob.begin() + static_cast<std::ptrdiff_t>(kHeadSize - kSumSize));
  return blob;
}

Result<BlobContent> read_blob(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadSize) return damaged("it is too short");
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), kHeadSize);
  if (!head.starts_with(kMagic))
    return Status(StatusCode::kIncompatibleBlob, "this is no blob of pjrt, or one of another version of it");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthSize; ++i)
    length |= std::to_integer<std::uint64_t>(bytes[kMagic.size() + i]) << (8 * i);
  if (length > kHeaderMax || length > bytes.size() - kHeadSize || (kHeadSize + length) % kAlignment != 0)
    return damaged("its header has no place in it");
  if (core::payload_sum(bytes.subspan(kHeadSize)) != head.substr(kHeadSize - kSumSize))
    return damaged("its bytes have changed");
  const auto header_size = static_cast<std::size_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kHeadSize, header_size);
  Json header;
  if (const auto mistake = core::read_json(text, {.bytes_max = kHeaderMax}, header)) return damaged(*mistake);
  return HeaderReader(header, bytes.subspan(kHeadSize + header_size)).read();
}

}  // namespace latebind::pjrt
