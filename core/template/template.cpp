#include "core/template/template.h"

#include <fmt/format.h>

#include "core/template/parser.h"
#include "core/template/run.h"
#include "core/text/utf8.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

struct Template::Parts {
  Body statements;
  Limits limits;
};

Template::Template(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

Result<Template> Template::parse(std::string_view source, const Limits& limits) {
  if (source.size() > limits.source_bytes) {
    return Status(StatusCode::kUnsupported, fmt::format("the template has {} bytes, more than the {} supported",
                                                        source.size(), limits.source_bytes));
  }
  if (const auto bad = core::find_invalid_utf8(source)) {
    return Status(StatusCode::kInvalidModel, fmt::format("the template is not UTF-8 at byte {}", *bad));
  }
  LB_ASSIGN_OR_RETURN(Body statements, parse_statements(source, limits.depth));
  return Template(std::make_unique<const Parts>(Parts{.statements = std::move(statements), .limits = limits}));
}

Result<std::string> Template::render(const Variables& variables, const Clock& now) const {
  Run run(parts_->limits, now);
  Scope given;
  for (const auto& [name, value] : variables)
    given.set(name, value);
  Scope own{.parent = &given};
  std::string out;
  LB_RETURN_IF_ERROR(run.render(parts_->statements, own, out));
  return out;
}

}  // namespace latebind::templates
