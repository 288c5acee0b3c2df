#include "hosts/executorch/options.h"

#include <algorithm>
#include <array>
#include <variant>

#include "formats/pte/device_words.h"

namespace latebind::delegate {
namespace {

namespace et = ::executorch::runtime;

std::string last_message() {
  auto error = LB_INIT(lb_error);
  lb_last_error(&error);
  return error.message;
}

// The option of that name; std::nullopt on failure, with the reason in lb_last_error().
std::optional<lb_option_info> find(std::string_view key) {
  auto info = LB_INIT(lb_option_info);
  if (lb_option_find(std::string(key).c_str(), &info) != LB_OK) return std::nullopt;
  return info;
}

}  // namespace

std::string_view text_in(std::span<const char> buffer) {
  const auto end = std::ranges::find(buffer, '\0');
  return {buffer.data(), static_cast<std::size_t>(end - buffer.begin())};
}

OptionError LoadOptions::set_text(std::string_view key, std::string_view value) {
  if (key == kConfigKey) {
    config_file_ = value;
    return std::nullopt;
  }
  if (value.find('\0') != std::string_view::npos) return std::string(key) + ": the text contains a NUL";
  Options changed = options_;
  if (value.empty()) {
    changed.unset(key);
  } else if (key == "device") {
    pte::DeviceWords device = pte::device_words(value);
    if (!device.complaint.empty()) return std::move(device.complaint);
    changed.set(key, device.words);
  } else {
    changed.set(key, std::string(value));
  }
  if (!changed.status().ok()) return changed.status().message();
  options_ = std::move(changed);
  return std::nullopt;
}

OptionError LoadOptions::set_spec(std::string_view key, std::string_view value) {
  while (value.ends_with('\0'))
    value.remove_suffix(1);
  const auto info = key != kConfigKey ? find(key) : std::nullopt;
  if (key != kConfigKey && !info) return last_message();
  if (!info || info->of_model == 0) {
    return std::string(key) + " cannot be set by a program; set it with set_option or for one load";
  }
  return set_text(key, value);
}

OptionError LoadOptions::set(const et::BackendOption& option) {
  const std::string_view key = text_in(option.key);
  if (const bool* truth = std::get_if<bool>(&option.value)) return set_text(key, *truth ? "true" : "false");
  if (const int* number = std::get_if<int>(&option.value)) return set_text(key, std::to_string(*number));
  return set_text(key, text_in(std::get<std::array<char, et::kMaxOptionValueLength>>(option.value)));
}

void LoadOptions::apply(const LoadOptions& other) {
  if (!other.config_file_.empty()) config_file_ = other.config_file_;
  options_.apply(other.options_);
}

std::optional<std::string> LoadOptions::text(std::string_view key) const {
  if (key == kConfigKey) return config_file_;
  if (!find(key)) return std::nullopt;
  auto value = LB_INIT(lb_option_value);
  if (options_.get() == nullptr || lb_options_get(options_.get(), std::string(key).c_str(), &value) != LB_OK) return "";
  return value.is_set != 0 ? value.text : "";
}

Options LoadOptions::resolved() const {
  Options whole;
  if (!config_file_.empty()) whole.read_file(config_file_);
  whole.apply(options_);
  return whole;
}

}  // namespace latebind::delegate
