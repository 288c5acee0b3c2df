#include "backends/plugin/active.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/plugin/plugin_device.h"
#include "core/platform/files/folders.h"
#include "core/text/name_character.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::TensorInfo;

Result<TensorInfo> read_info(const lbb_tensor_info& given) {
  TensorInfo info;
  LB_ASSIGN_OR_RETURN(info.name, text_of("the name of a tensor", given.name));
  const std::string what = fmt::format("the tensor {}", core::quoted(info.name));
  LB_ASSIGN_OR_RETURN(info.type, type_of(what, given.type));
  LB_ASSIGN_OR_RETURN(info.shape, shape_of(what, given.dims, given.rank));
  if (given.upper == nullptr) return info;
  for (std::size_t i = 0; i < given.rank; ++i) {
    if (given.upper[i] < core::kDynamic)
      return breach(fmt::format("{} has at most {} in dimension {}", what, given.upper[i], i));
    info.upper.push_back(given.upper[i]);
  }
  if (std::ranges::all_of(info.upper, [](std::int64_t most) { return most == core::kDynamic; })) info.upper.clear();
  return info;
}

Status read_infos(std::string_view what, const lbb_tensor_info* const* list, std::size_t count,
                  std::vector<TensorInfo>& infos) {
  return read_list(what, list, count, [&](const lbb_tensor_info& given) -> Status {
    LB_ASSIGN_OR_RETURN(TensorInfo info, read_info(given));
    infos.push_back(std::move(info));
    return {};
  });
}

}  // namespace

Result<Active> read_active(const lbb_active* active, const Plugin& plugin) {
  if (active == nullptr) return breach("there is no description");
  if (!has_size(*active)) return breach(fmt::format("it has the size {}", active->struct_size));
  const lbb_active given = read_struct(*active);
  Active read;
  core::ActiveConfig& config = read.config;
  config.backend = plugin.name;
  LB_ASSIGN_OR_RETURN(config.precision, precision_of("it", given.precision));
  if (given.requests == 0 || given.requests > core::kCountMax)
    return breach(fmt::format("{} runs may execute at once", given.requests));
  config.requests = given.requests;
  if (given.threads > core::kCountMax) return breach(fmt::format("it has {} threads", given.threads));
  config.threads = given.threads;
  LB_ASSIGN_OR_RETURN(config.device, text_of("the name of its device", given.device));
  if (config.device.empty() || !std::ranges::all_of(config.device, core::is_name_character))
    return breach(fmt::format("its device has the name {}", core::quoted(config.device)));
  LB_ASSIGN_OR_RETURN(std::string full_name, text_of("the full name of its device", given.full_name));
  config.device_full_name = core::one_line(full_name);
  LB_ASSIGN_OR_RETURN(config.library_file, optional_text_of("the name of its library", given.library_file));
  if (config.library_file.empty()) config.library_file = platform::path_to_utf8(plugin.file);
  LB_ASSIGN_OR_RETURN(std::string version, optional_text_of("the version of its library", given.runtime_version));
  config.runtime_version = version.empty() ? plugin.version : core::one_line(version);
  LB_RETURN_IF_ERROR(read_infos("an input", given.inputs, given.input_count, read.inputs));
  LB_RETURN_IF_ERROR(read_infos("an output", given.outputs, given.output_count, read.outputs));
  if (read.outputs.empty()) return breach("it has no output");
  config.leaves_padding_out = given.leaves_padding_out != 0;
  config.packs_tokens = given.packs_tokens != 0;
  config.compiles_nothing = given.compiles_nothing != 0;
  config.emulated = given.emulated != 0;
  config.kept_shapes = static_cast<std::size_t>(given.kept_shapes);
  config.nodes = static_cast<std::size_t>(given.nodes);
  config.host_nodes = static_cast<std::size_t>(given.host_nodes);
  read.releases_bytes = given.releases_weights != 0;
  return read;
}

}  // namespace latebind::plugin
