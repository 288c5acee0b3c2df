#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include "tests/fakes/fake_openvino_state.h"

namespace latebind::fake {
namespace {

// In the order of the vendor's numbers, from 2025.1 on.
constexpr std::array kTypes{
    std::pair{"dynamic", 0}, std::pair{"bool", 1},   std::pair{"bf16", 2},   std::pair{"f16", 2},
    std::pair{"f32", 4},     std::pair{"f64", 8},    std::pair{"i4", 0},     std::pair{"i8", 1},
    std::pair{"i16", 2},     std::pair{"i32", 4},    std::pair{"i64", 8},    std::pair{"u1", 0},
    std::pair{"u2", 0},      std::pair{"u3", 0},     std::pair{"u4", 0},     std::pair{"u6", 0},
    std::pair{"u8", 1},      std::pair{"u16", 2},    std::pair{"u32", 4},    std::pair{"u64", 8},
    std::pair{"nf4", 0},     std::pair{"f8e4m3", 0}, std::pair{"f8e5m2", 0}, std::pair{"string", 0},
};

std::optional<std::vector<Dimension>> parse_shape(const std::string& text) {
  std::vector<Dimension> shape;
  if (text == "-") return shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    if (part == "?") {
      shape.push_back({0, -1});
    } else if (const auto dots = part.find(".."); dots != std::string::npos) {
      shape.push_back({std::stoll(part), std::stoll(part.substr(dots + 2))});
    } else {
      shape.push_back({std::stoll(part), std::stoll(part)});
    }
  }
  return shape;
}

std::optional<Op> parse_op(const std::string& word) {
  if (word == "add") return Op::kAdd;
  if (word == "identity") return Op::kIdentity;
  if (word == "plus-one") return Op::kPlusOne;
  if (word == "nonzero") return Op::kNonZero;
  if (word == "first-rows") return Op::kFirstRows;
  if (word == "scale") return Op::kScale;
  if (word == "encode") return Op::kEncode;
  return std::nullopt;
}

// Rounds away the bits of an f32 that the precision has not.
float rounded(float value, const std::string& precision) {
  const int lost = precision == "bf16" ? 16 : precision == "f16" ? 13 : 0;
  if (lost == 0) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value) & ~((1U << lost) - 1U);
  return std::bit_cast<float>(bits);
}

template <class T>
void sum(const std::vector<std::shared_ptr<TensorData>>& inputs, TensorData& out) {
  auto* target = reinterpret_cast<T*>(out.owned.data());
  const std::size_t count = out.owned.size() / sizeof(T);
  for (const auto& input : inputs) {
    const auto* source = reinterpret_cast<const T*>(input->data);
    for (std::size_t i = 0; i < count; ++i)
      target[i] = static_cast<T>(target[i] + source[i]);
  }
}

void add(const std::vector<std::shared_ptr<TensorData>>& inputs, TensorData& out) {
  if (out.type == "f32") return sum<float>(inputs, out);
  if (out.type == "f64") return sum<double>(inputs, out);
  if (out.type == "i64" || out.type == "u64") return sum<std::uint64_t>(inputs, out);
  if (out.type == "i32" || out.type == "u32") return sum<std::uint32_t>(inputs, out);
  if (out.type == "i16" || out.type == "u16") return sum<std::uint16_t>(inputs, out);
  if (out.type == "i8" || out.type == "u8") return sum<std::uint8_t>(inputs, out);
  defect("the fake does not add " + out.type);
}

void positions(const TensorData& input, TensorData& out) {
  const std::size_t size = size_of(input.type);
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < bytes_of(input.type, input.dims) / size; ++i) {
    const std::byte* const element = input.data + i * size;
    if (std::any_of(element, element + size, [](std::byte b) { return b != std::byte{0}; })) {
      found.push_back(static_cast<std::int64_t>(i));
    }
  }
  out.type = "i64";
  out.dims = {static_cast<std::int64_t>(found.size())};
  out.owned.resize(found.size() * sizeof(std::int64_t));
  if (!found.empty()) std::memcpy(out.owned.data(), found.data(), out.owned.size());
}

// Whatever stands behind a row's last number that is not 0 changes nothing.
void encode(const TensorData& input, std::int64_t size, TensorData& out) {
  const auto* ids = reinterpret_cast<const std::int64_t*>(input.data);
  out.type = "f32";
  out.dims = {input.dims.at(0), size};
  out.owned.resize(bytes_of(out.type, out.dims));
  auto* to = reinterpret_cast<float*>(out.owned.data());
  for (std::int64_t row = 0; row < out.dims[0]; ++row) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < input.dims.at(1); ++i)
      sum += *ids++ * (i + 1);
    for (std::int64_t d = 1; d <= size; ++d)
      *to++ = static_cast<float>(sum % (d + 16)) / 16;
  }
}

}  // namespace

std::size_t size_of(const std::string& type) {
  const auto* found = std::ranges::find(kTypes, type, [](const auto& entry) { return std::string(entry.first); });
  return found == kTypes.end() ? 0 : static_cast<std::size_t>(found->second);
}

std::size_t bytes_of(const std::string& type, const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), size_of(type),
                         [](std::size_t bytes, std::int64_t dim) { return bytes * static_cast<std::size_t>(dim); });
}

abi::ElementCode code_of(const std::string& type, bool old_numbering) {
  const auto* found = std::ranges::find(kTypes, type, [](const auto& entry) { return std::string(entry.first); });
  return static_cast<abi::ElementCode>(found - kTypes.begin()) + (old_numbering ? 1U : 0U);
}

std::string type_of(abi::ElementCode code, bool old_numbering) {
  const unsigned shift = old_numbering ? 1 : 0;
  return code < shift || code - shift >= kTypes.size() ? "undefined" : kTypes[code - shift].first;
}

std::optional<Network> Network::parse(const std::string& whole) {
  // One that is within something else, such as an attribute of an ONNX node, has an end of its own.
  const auto begin = whole.find("fake-model\n");
  const auto end = whole.find("\nend\n", begin);
  const bool is_within = begin != std::string::npos && end != std::string::npos;
  const std::string text = is_within ? whole.substr(begin, end + 1 - begin) : whole;
  Network network;
  network.text = text;
  std::istringstream lines(text);
  std::string line;
  // What tells an IR by its first bytes may go before it.
  if (std::getline(lines, line) && line.starts_with("<net")) std::getline(lines, line);
  if (const std::size_t size = Script::current()->encoder; text.starts_with("<?xml") && size > 0) {
    return parse("fake-model\ninput input_ids i64 ?,?\ninput attention_mask i64 ?,?\noutput vectors encode " +
                 std::to_string(size) + "\n");
  }
  if (line != "fake-model") {
    fail(-1, "Unable to read the model: it is no fake-model");
    return std::nullopt;
  }
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word == "platform") continue;  // the latter stands in blobs only
    std::string name;
    words >> name;
    if (word == "input") {
      std::string type;
      std::string dims;
      words >> type >> dims;
      const auto shape = parse_shape(dims);
      network.inputs.push_back({name, type, *shape});
    } else if (word == "output") {
      std::string op;
      Output output;
      words >> op >> output.input;
      const auto known = parse_op(op);
      if (!known) {
        fail(-1, "Cannot create operation " + op);
        return std::nullopt;
      }
      output.name = name;
      output.op = *known;
      if (output.op == Op::kEncode) output.size = static_cast<std::int64_t>(std::exchange(output.input, 0));
      network.outputs.push_back(output);
    } else {
      fail(-1, "Unable to read the model: " + line);
      return std::nullopt;
    }
  }
  return network;
}

Port Network::output_port(std::size_t i) const {
  const Output& output = outputs[i];
  Port port = inputs.at(output.op == Op::kAdd ? 0 : output.input);
  port.name = output.name;
  if (output.op == Op::kNonZero) {
    port.type = "i64";
    port.shape = {{0, -1}};
  } else if (output.op == Op::kFirstRows) {
    port.shape[0] = {0, port.shape[0].most};
  } else if (output.op == Op::kEncode) {
    port.type = "f32";
    port.shape[1] = {output.size, output.size};
  }
  return port;
}

TensorData compute(const Network& network, std::size_t i, const std::vector<std::shared_ptr<TensorData>>& inputs,
                   const std::string& precision) {
  const Output& output = network.outputs[i];
  const TensorData& input = *inputs.at(output.op == Op::kAdd ? 0 : output.input);
  TensorData out;
  out.type = input.type;
  out.dims = input.dims;
  if (output.op == Op::kNonZero) {
    positions(input, out);
    return out;
  }
  if (output.op == Op::kEncode) {
    encode(input, output.size, out);
    return out;
  }
  if (output.op == Op::kFirstRows) {
    float rows = 0;
    std::memcpy(&rows, input.data, sizeof(rows));
    out.dims[0] = std::min(out.dims[0], static_cast<std::int64_t>(rows));
  }
  out.owned.resize(bytes_of(out.type, out.dims));
  if (output.op == Op::kAdd) {
    add(inputs, out);
  } else if (!out.owned.empty()) {
    std::memcpy(out.owned.data(), input.data, out.owned.size());
  }
  if (out.type == "f32") {
    auto* values = reinterpret_cast<float*>(out.owned.data());
    for (std::size_t v = 0; v < out.owned.size() / sizeof(float); ++v) {
      if (output.op == Op::kScale) values[v] *= network.weights[0];
      if (output.op == Op::kPlusOne) values[v] += 1;
      values[v] = rounded(values[v], precision);
    }
  }
  return out;
}

}  // namespace latebind::fake
