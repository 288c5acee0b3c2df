#include "cli/data/run_inputs.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "app/shape_text.h"
#include "cli/data/npy.h"
#include "core/platform/files/folders.h"

namespace latebind::cli {
namespace {

using core::ElementType;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

Result<Shape> chosen_shape(const TensorInfo& declared, const std::optional<Shape>& wished) {
  if (wished) {
    if (!declared.shape.accepts(*wished)) {
      return Status(StatusCode::kShapeMismatch,
                    fmt::format("--shape: input '{}' has shape {}, which {} does not fit", declared.name,
                                declared.shape.to_string(), wished->to_string()));
    }
    return *wished;
  }
  Shape shape = declared.shape;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] == core::kDynamic) shape[i] = 1;
  }
  return shape;
}

// A multiple of 1/128 from -1 to 1 has at most eight bits: exact in every type of float.
float small_float(std::uint64_t bits) {
  return (static_cast<float>(bits & 0xFFU) - 128.0F) / 128.0F;
}

// Exact for the values of small_float.
std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value == 0) return 0;
  const std::uint32_t exponent = (bits >> 23U & 0xFFU) - 127 + 15;
  return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | exponent << 10U | (bits >> 13U & 0x3FFU));
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

void fill_random(ElementType type, std::uint64_t seed, std::span<std::byte> bytes) {
  std::mt19937_64 random(seed);
  const std::size_t size = core::size_of(type);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const std::uint64_t bits = random() >> 32U;
    const float value = small_float(bits);
    std::byte* const to = bytes.data() + at;
    switch (type) {
      case ElementType::kF64:
        put(to, static_cast<double>(value));
        break;
      case ElementType::kF32:
        put(to, value);
        break;
      case ElementType::kF16:
        put(to, to_f16(value));
        break;
      case ElementType::kBF16:
        put(to, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U));
        break;
      default:
        // Little-endian: the first byte is the lowest one of any integer.
        std::memset(to, 0, size);
        *to = static_cast<std::byte>(bits & 1U);
    }
  }
}

Status check_wishes(const InputWishes& wishes) {
  for (const auto* given : {&wishes.files, &wishes.shapes}) {
    std::set<std::string_view> names;
    for (const std::string& one : *given) {
      if (one.find('=') == std::string::npos) {
        return {StatusCode::kInvalidArgument,
                fmt::format("'{}' must be NAME=VALUE, as in --input x=x.npy or --shape x=1x128", one)};
      }
      // With several '=' the model says where the name ends.
      const std::string_view name = std::string_view(one).substr(0, one.find('='));
      if (one.find('=') == one.rfind('=') && !names.insert(name).second) {
        return {StatusCode::kInvalidArgument,
                fmt::format("{}: input '{}' is given twice", given == &wishes.files ? "--input" : "--shape", name)};
      }
    }
  }
  // Names may hold '=', shapes do not.
  for (const std::string& one : wishes.shapes)
    LB_RETURN_IF_ERROR(app::parse_shape("--shape", std::string_view(one).substr(one.rfind('=') + 1)).status());
  return {};
}

Result<std::vector<RunInput>> make_inputs(std::span<const TensorInfo> declared, const InputWishes& wishes) {
  LB_ASSIGN_OR_RETURN(const auto files, app::match_by_name(declared, "input", "--input", wishes.files));
  LB_ASSIGN_OR_RETURN(const auto shapes, app::match_by_name(declared, "input", "--shape", wishes.shapes));
  std::vector<RunInput> inputs;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    RunInput input;
    input.declared = declared[i];
    const auto file = files.find(i);
    const auto wished = shapes.find(i);
    if (file != files.end()) {
      if (wished != shapes.end()) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("--shape: input '{}' comes from a file, which has a shape", declared[i].name));
      }
      LB_ASSIGN_OR_RETURN(NpyArray array, read_npy(platform::path_from_utf8(file->second)));
      input.owner = std::move(array.owner);
      input.view = array.view;
      input.source = file->second;
      input.file = file->second;
      inputs.push_back(std::move(input));
      continue;
    }
    std::optional<Shape> shape;
    if (wished != shapes.end()) {
      LB_ASSIGN_OR_RETURN(shape, app::parse_shape("--shape", wished->second));
    }
    LB_ASSIGN_OR_RETURN(input.view.shape, chosen_shape(declared[i], shape));
    input.view.type = declared[i].type;
    LB_ASSIGN_OR_RETURN(const std::size_t size, core::byte_size_of(input.view.type, input.view.shape));
    if (size > kRandomBytesMax) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("input '{}' of shape {} needs {} bytes of random data, at most {} "
                                "GiB are made; give a smaller --shape",
                                declared[i].name, input.view.shape.to_string(), size, kRandomBytesMax >> 30U));
    }
    auto memory = std::make_shared<std::vector<std::uint64_t>>(size / 8 + 1);
    fill_random(input.view.type, wishes.seed + i, std::as_writable_bytes(std::span(*memory)).first(size));
    input.view.data = memory->data();
    input.owner = std::move(memory);
    input.source = fmt::format("random, seed {}", wishes.seed);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace latebind::cli
