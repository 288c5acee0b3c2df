#include "core/template/filters.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/quote.h"

namespace latebind::templates {

core::Result<Value> apply_filter(Run& run, std::string_view name, const Value& value, const Arguments& given) {
  LB_RETURN_IF_ERROR(run.spend_on(value));
  for (const auto part : {text_filters(), value_filters(), list_filters(), selecting_filters()}) {
    const auto found = std::ranges::find(part, name, &Function::name);
    if (found != part.end()) return found->call(run, value, given);
  }
  return unsupported(fmt::format("the filter {} is not supported", core::quoted(name)));
}

}  // namespace latebind::templates
