#include "tests/hosts/executorch/support.h"

#include <dlfcn.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

namespace latebind::test {
namespace {

std::mutex g_mutex;
std::vector<std::string>& lines() {
  static auto* kept = new std::vector<std::string>;
  return *kept;
}

void take_line(et_timestamp_t /*time*/, et_pal_log_level_t /*level*/, const char* /*file*/, const char* /*function*/,
               size_t /*line*/, const char* message, size_t length) {
  const std::lock_guard lock(g_mutex);
  lines().emplace_back(message, length);
}

const bool g_captured = et::register_pal(et::PalImpl::create(&take_line, __FILE__));

std::vector<std::int32_t> strides_of(const std::vector<std::int32_t>& sizes, const std::vector<std::uint8_t>& order) {
  std::vector<std::int32_t> strides(sizes.size());
  std::int32_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = next;
    next *= std::max(sizes[order[i]], 1);
  }
  return strides;
}

std::vector<std::uint8_t> row_major(std::size_t rank) {
  std::vector<std::uint8_t> order(rank);
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  return order;
}

et::BackendInterface* open(const char* file, const char* id) {
  if (et::get_backend_class(id) == nullptr && dlopen(file, RTLD_NOW | RTLD_LOCAL) == nullptr) {
    ADD_FAILURE() << dlerror();  // NOLINT(concurrency-mt-unsafe)
  }
  return et::get_backend_class(id);
}

}  // namespace

std::vector<std::string> logged() {
  const std::lock_guard lock(g_mutex);
  return lines();
}

void clear_log() {
  const std::lock_guard lock(g_mutex);
  lines().clear();
}

std::string said() {
  std::string text;
  for (const std::string& line : logged()) {
    if (line.starts_with("LatebindBackend: ")) {
      text += (text.empty() ? "" : "\n") + line;
    } else if (line.starts_with("  ")) {
      text += line.substr(1);
    }
  }
  return text;
}

et::Error option(const char* key, const char* text, std::string* read) {
  std::array<et::BackendOption, 1> options{};
  std::strncpy(options[0].key, key, sizeof options[0].key - 1);
  std::array<char, et::kMaxOptionValueLength> value{};
  std::strncpy(value.data(), text, value.size() - 1);
  options[0].value = value;
  const et::Span<et::BackendOption> span(options.data(), options.size());
  const et::Error error =
      read != nullptr ? et::get_option("LatebindBackend", span) : et::set_option("LatebindBackend", span);
  if (read != nullptr && error == et::Error::Ok) {
    *read = std::get<std::array<char, et::kMaxOptionValueLength>>(options[0].value).data();
  }
  return error;
}

std::string option_of(const char* key) {
  std::string value;
  EXPECT_EQ(option(key, "", &value), et::Error::Ok) << key;
  return value;
}

et::BackendInterface* load_delegate() {
  return open(LATEBIND_EXECUTORCH_LIBRARY, "LatebindBackend");
}

et::BackendInterface* load_stock() {
  return open(LATEBIND_EXECUTORCH_SDK "/lib/libexecutorch_backend_openvino.so", "OpenvinoBackend");
}

HostTensor::HostTensor(ScalarType type, std::vector<std::int32_t> sizes, std::vector<std::uint8_t> order,
                       et::TensorShapeDynamism dynamism)
    : sizes_(std::move(sizes)),
      order_(order.empty() ? row_major(sizes_.size()) : std::move(order)),
      strides_(strides_of(sizes_, order_)),
      impl_(type, static_cast<ssize_t>(sizes_.size()), sizes_.data(), nullptr, order_.data(), strides_.data(),
            dynamism) {
  bytes_.resize(std::max<std::size_t>(impl_.nbytes(), 1));
  impl_.set_data(bytes_.data());
}

ProgramFolder::ProgramFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "latebind-et-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

ProgramFolder::~ProgramFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ProgramFolder::write(const pte::ProgramSpec& spec, std::span<const std::byte> payload,
                                 const std::string& name) const {
  const std::string file = (path_ / name).string();
  std::ofstream out(file, std::ios::binary);
  const auto written = pte::write_program(spec, pte::Payload::of(payload), [&](std::span<const std::byte> bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return core::Status();
  });
  EXPECT_TRUE(written.ok()) << written.message();
  return file;
}

std::string fake_ir(std::string_view text) {
  return "<net/>\nfake-model\n" + std::string(text);
}

pte::TensorSpec spec_of(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string type;
  std::string sizes;
  pte::TensorSpec spec;
  words >> spec.name >> type >> sizes;
  for (int number = 0; number < 32; ++number) {
    if (pte::name_of(static_cast<pte::ScalarType>(number)) == type) spec.type = static_cast<pte::ScalarType>(number);
  }
  if (sizes == "-") return spec;
  std::istringstream dims(sizes);
  for (std::string dim; std::getline(dims, dim, ',');) {
    if (dim.starts_with('?')) {
      spec.is_dynamic = true;
      dim.erase(0, 1);
    }
    spec.sizes.push_back(std::stoi(dim));
  }
  return spec;
}

pte::ProgramSpec program_of(const std::vector<std::string_view>& inputs, const std::vector<std::string_view>& outputs) {
  pte::ProgramSpec spec;
  for (const std::string_view input : inputs)
    spec.inputs.push_back(spec_of(input));
  for (const std::string_view output : outputs)
    spec.outputs.push_back(spec_of(output));
  return spec;
}

std::vector<float> floats(const et::EValue& value) {
  const auto& tensor = value.toTensor();
  const auto* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

}  // namespace latebind::test
