#include "app/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::app {
namespace {

using core::ElementType;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;

static_assert(std::endian::native == std::endian::little, "bytes are written in the order of memory");

// The longest meaningful word in a header.
constexpr std::size_t kWordMax = 64;
constexpr std::string_view kMagic{"\x93NUMPY", 6};

struct TypeName {
  std::string_view descr;  // without the byte order
  ElementType type;
};
constexpr std::array kTypeNames{
    TypeName{"b1", ElementType::kBool}, TypeName{"i1", ElementType::kI8},  TypeName{"u1", ElementType::kU8},
    TypeName{"i2", ElementType::kI16},  TypeName{"u2", ElementType::kU16}, TypeName{"i4", ElementType::kI32},
    TypeName{"u4", ElementType::kU32},  TypeName{"i8", ElementType::kI64}, TypeName{"u8", ElementType::kU64},
    TypeName{"f2", ElementType::kF16},  TypeName{"f4", ElementType::kF32}, TypeName{"f8", ElementType::kF64},
    TypeName{"V2", ElementType::kBF16},
};

Status damaged(std::string_view what) {
  return Status(StatusCode::kInvalidModel, fmt::format("not a .npy file: {}", what));
}

Result<ElementType> type_from_descr(std::string_view descr) {
  if (descr.size() > 1 && descr.front() == '>' && descr.back() != '1') {
    return Status(StatusCode::kUnsupported,
                  fmt::format("elements '{}' are big-endian; save the array little-endian", descr));
  }
  const std::string_view name = descr.empty() ? descr : descr.substr(1);
  if (!descr.empty() && std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
    for (const TypeName& known : kTypeNames) {
      if (known.descr == name) return known.type;
    }
  }
  return Status(StatusCode::kUnsupported, fmt::format("elements '{}' have a type that tensors do not support", descr));
}

// Parses a header's dictionary, a Python literal with three known keys.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  Result<NpyHeader> parse() {
    NpyHeader header;
    bool have_type = false;
    bool have_order = false;
    bool have_shape = false;
    if (!take('{')) return damaged("its header is not a dictionary");
    while (!take('}')) {
      LB_ASSIGN_OR_RETURN(const std::string_view key, quoted());
      if (!take(':')) return damaged(fmt::format("no value for '{}'", key));
      if (key == "descr" && !have_type) {
        skip_space();
        if (!rest_.empty() && rest_.front() == '[') {
          return Status(StatusCode::kUnsupported, "it holds records; only arrays of plain elements are supported");
        }
        LB_ASSIGN_OR_RETURN(const std::string_view descr, quoted());
        LB_ASSIGN_OR_RETURN(header.type, type_from_descr(descr));
        have_type = true;
      } else if (key == "fortran_order" && !have_order) {
        if (take_word("True")) {
          header.column_major = true;
        } else if (!take_word("False")) {
          return damaged("'fortran_order' is neither True nor False");
        }
        have_order = true;
      } else if (key == "shape" && !have_shape) {
        LB_ASSIGN_OR_RETURN(header.shape, shape());
        have_shape = true;
      } else {
        return damaged(fmt::format("key '{}' is unknown or given twice", key));
      }
      if (!take(',')) {
        if (take('}')) break;
        return damaged("its dictionary does not end");
      }
    }
    if (!have_type || !have_order || !have_shape) {
      return damaged("'descr', 'fortran_order' or 'shape' is missing");
    }
    skip_space();
    if (!rest_.empty()) return damaged("unexpected text follows its dictionary");
    return header;
  }

 private:
  void skip_space() {
    const auto at = rest_.find_first_not_of(" \t\r\n");
    rest_ = at == std::string_view::npos ? std::string_view() : rest_.substr(at);
  }
  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  Result<std::string_view> quoted() {
    skip_space();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) {
      return damaged("a quoted word is expected in its header");
    }
    const auto end = rest_.find(rest_.front(), 1);
    // Also true for npos.
    if (end > kWordMax) return damaged("a word in its header has no end");
    const std::string_view word = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return word;
  }
  Result<Shape> shape() {
    if (!take('(')) return damaged("'shape' is not a tuple");
    std::vector<std::int64_t> dims;
    while (!take(')')) {
      skip_space();
      std::int64_t dim = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
      if (error != std::errc() || dim < 0) return damaged("a dimension is not a whole number");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (dims.size() == core::kRankMax) {
        return Status(StatusCode::kUnsupported, fmt::format("it has more than {} dimensions", core::kRankMax));
      }
      dims.push_back(dim);
      if (!take(',')) {
        if (take(')')) break;
        return damaged("its shape does not end");
      }
    }
    return Shape::make(dims);
  }

  std::string_view rest_;
};

std::array<std::int64_t, core::kRankMax> column_major_strides(const Shape& shape) {
  std::array<std::int64_t, core::kRankMax> strides{};
  std::int64_t step = 1;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) return damaged("it does not begin with \\x93NUMPY");
  if (text.size() < 10) return damaged("it ends within its header");
  const auto byte_at = [&](std::size_t i) { return static_cast<std::size_t>(std::to_integer<unsigned>(bytes[i])); };
  const std::size_t version = byte_at(6);
  if (version < 1 || version > 3 || byte_at(7) != 0) {
    return Status(StatusCode::kUnsupported,
                  fmt::format(".npy version {}.{} is not supported (supported: 1.0 to 3.0)", version, byte_at(7)));
  }
  // Version 1 stores the header's length in two bytes, later versions in four.
  const std::size_t start = version == 1 ? 10 : 12;
  if (text.size() < start) return damaged("it ends within its header");
  std::size_t length = byte_at(8) | byte_at(9) << 8U;
  if (version > 1) length |= byte_at(10) << 16U | byte_at(11) << 24U;
  if (length > kNpyHeaderMax) {
    return damaged(fmt::format("its header claims {} bytes, which is above the limit of {}", length, kNpyHeaderMax));
  }
  if (text.size() - start < length) return damaged("it ends within its header");
  LB_ASSIGN_OR_RETURN(auto header, HeaderText(text.substr(start, length)).parse());
  header.data_offset = start + length;
  return header;
}

Result<std::string> make_npy_header(ElementType type, std::span<const std::int64_t> dims, std::size_t size) {
  std::string_view name;
  for (const TypeName& known : kTypeNames) {
    if (known.type == type && type != ElementType::kBF16) name = known.descr;
  }
  if (name.empty()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("NumPy has no name for elements of type {}", core::name_of(type)));
  }
  std::string dictionary =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  core::size_of(type) == 1 ? '|' : '<', name, fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  constexpr std::size_t kStart = 10;
  constexpr std::size_t kAlignment = 64;
  const std::size_t least = kStart + dictionary.size() + 1;
  const std::size_t total = size != 0 ? size : (least + kAlignment - 1) / kAlignment * kAlignment;
  if (total < least || total - kStart > 0xFFFF) {
    return Status(StatusCode::kInternal, fmt::format("a .npy header of {} bytes does not fit in {}", least, total));
  }
  dictionary.resize(total - kStart - 1, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(dictionary.size() & 0xFFU);
  header += static_cast<char>(dictionary.size() >> 8U);
  return header + dictionary;
}

Result<NpyArray> read_npy(const std::filesystem::path& file) {
  const std::string name = platform::path_to_utf8(file);
  auto opened = platform::MappedFile::open(file);
  if (!opened.ok()) return opened.status();
  auto mapped = std::make_shared<const platform::MappedFile>(*std::move(opened));
  const auto bytes = mapped->bytes();
  auto header = parse_npy_header(bytes);
  if (!header.ok()) return header.status().with_context(name);
  auto size = core::byte_size_of(header->type, header->shape);
  if (!size.ok()) return size.status().with_context(name);
  const std::size_t there = bytes.size() - header->data_offset;
  if (there != *size) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: {} {} need {} bytes of data, but the file has {}", name, core::name_of(header->type),
                              header->shape.to_string(), *size, there));
  }
  NpyArray array;
  array.view.type = header->type;
  array.view.shape = header->shape;
  // Inputs are only read. The mapping is read-only.
  array.view.data = const_cast<std::byte*>(bytes.data() + header->data_offset);
  array.owner = std::move(mapped);
  const bool aligned = core::is_aligned(array.view.data, header->type);
  if (header->column_major && header->shape.rank() > 1) {
    array.view.strides = column_major_strides(header->shape);
  } else if (aligned) {
    return array;
  }
  // Vendors need contiguous rows at addresses aligned to the type.
  auto rows = std::make_shared<std::vector<std::uint64_t>>((*size + 7) / 8);
  if (aligned) {
    LB_RETURN_IF_ERROR(array.view.copy_to_contiguous(rows->data()).with_context(name));
  } else if (array.view.strides) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: column-major data at an odd offset; save it row-major", name));
  } else {
    std::memcpy(rows->data(), array.view.data, *size);
  }
  array.view.data = rows->data();
  array.view.strides.reset();
  array.owner = std::move(rows);
  return array;
}

Result<std::string> npy_bytes(const core::TensorView& tensor) {
  const bool widen = tensor.type == ElementType::kBF16;
  LB_ASSIGN_OR_RETURN(const std::size_t size, core::byte_size_of(tensor.type, tensor.shape));
  LB_ASSIGN_OR_RETURN(std::string bytes, make_npy_header(widen ? ElementType::kF32 : tensor.type, tensor.shape.dims()));
  const std::size_t start = bytes.size();
  bytes.resize(start + size);
  if (size > 0) LB_RETURN_IF_ERROR(tensor.copy_to_contiguous(bytes.data() + start));
  if (!widen) return bytes;
  // bf16 is the upper half of an f32.
  std::string wide = bytes.substr(0, start);
  wide.reserve(start + size * 2);
  for (std::size_t i = start; i < bytes.size(); i += 2) {
    wide.append(2, '\0');
    wide.append(bytes, i, 2);
  }
  return wide;
}

}  // namespace latebind::app
