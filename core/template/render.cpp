// The part of Run that renders statements.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/template/lexer.h"
#include "core/template/python_text.h"
#include "core/template/run.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

Status Run::append(std::string_view text, std::string& out) {
  LB_RETURN_IF_ERROR(check_size(text.size()));
  if (out.size() + text.size() > limits_.output_bytes) return check_size(out.size() + text.size());
  out += text;
  return {};
}

Status Run::print(const Value& value, std::string& out) {
  if (value.is_text() || value.is(Kind::kMarkup)) return append(value.as_text(), out);
  LB_RETURN_IF_ERROR(spend_on(value));
  LB_ASSIGN_OR_RETURN(const std::string text, text_of(value));
  return append(text, out);
}

Status Run::render(const Body& statements, Scope& scope, std::string& out) {
  return render_body(statements, scope, out).status();
}

Result<Run::Flow> Run::render_body(const Body& statements, Scope& scope, std::string& out) {
  const Nesting::Level level(nesting_);
  LB_RETURN_IF_ERROR(check_nesting());
  for (const Statement& statement : statements) {
    LB_RETURN_IF_ERROR(spend(1));
    auto flow = render_one(statement, scope, out);
    if (!flow.ok()) {
      // The innermost statement has already added its line.
      const Status status = std::move(flow).status();
      return status.message().starts_with("line ") ? status : fault_at(statement.line, status.message(), status.code());
    }
    if (*flow != Flow::kNext) return *flow;
  }
  return Flow::kNext;
}

Result<Run::Flow> Run::render_one(const Statement& statement, Scope& scope, std::string& out) {
  switch (statement.kind) {
    case StatementKind::kText:
      LB_RETURN_IF_ERROR(append(statement.text, out));
      return Flow::kNext;
    case StatementKind::kPrint: {
      LB_ASSIGN_OR_RETURN(const Value value, evaluate(*statement.expression, scope));
      LB_RETURN_IF_ERROR(print(value, out));
      return Flow::kNext;
    }
    case StatementKind::kIf:
      for (const Branch& branch : statement.branches) {
        if (branch.condition != nullptr) {
          LB_ASSIGN_OR_RETURN(const Value condition, evaluate(*branch.condition, scope));
          if (!is_true(condition)) continue;
        }
        return render_body(branch.body, scope, out);
      }
      return Flow::kNext;
    case StatementKind::kFor:
      return render_for(statement, scope, out);
    case StatementKind::kSet: {
      LB_ASSIGN_OR_RETURN(Value value, evaluate(*statement.expression, scope));
      LB_RETURN_IF_ERROR(assign(statement.target, std::move(value), scope));
      return Flow::kNext;
    }
    case StatementKind::kSetBlock:
      LB_RETURN_IF_ERROR(set_block(statement, scope));
      return Flow::kNext;
    case StatementKind::kMacro:
      scope.set(statement.text,
                Value::callable(std::make_shared<const Callable>(Callable{.macro = &statement, .scope = &scope})));
      return Flow::kNext;
    case StatementKind::kScope: {
      Scope inner{.parent = &scope};
      return render_body(statement.branches.front().body, inner, out);
    }
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Result<Items> Run::looped_items(const Statement& loop, const Scope& scope) {
  LB_ASSIGN_OR_RETURN(const Value looped, evaluate(*loop.expression, scope));
  LB_ASSIGN_OR_RETURN(Items items, items_of(looped));
  if (loop.condition == nullptr) return items;
  Items kept;
  for (Value& item : items) {
    Scope tested{.parent = &scope};
    LB_RETURN_IF_ERROR(assign(loop.target, item, tested));
    LB_ASSIGN_OR_RETURN(const Value condition, evaluate(*loop.condition, tested));
    if (is_true(condition)) kept.push_back(std::move(item));
  }
  return kept;
}

Result<Run::Flow> Run::render_for(const Statement& loop, Scope& scope, std::string& out) {
  LB_ASSIGN_OR_RETURN(const Items items, looped_items(loop, scope));
  if (items.empty() && loop.branches.size() > 1) {
    Scope inner{.parent = &scope};
    return render_body(loop.branches[1].body, inner, out);
  }
  LoopState state{.items = items};
  for (; state.index < items.size(); ++state.index) {
    // Each iteration has a fresh scope within that of the enclosing block.
    Scope turn{.parent = &scope};
    turn.set("loop", Value::loop(&state));
    LB_RETURN_IF_ERROR(assign(loop.target, items[state.index], turn));
    LB_ASSIGN_OR_RETURN(const Flow flow, render_body(loop.branches.front().body, turn, out));
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

Status Run::set_block(const Statement& block, Scope& scope) {
  Scope inner{.parent = &scope};
  std::string text;
  LB_RETURN_IF_ERROR(render(block.branches.front().body, inner, text));
  Value value = Value::text(std::move(text));
  if (block.expression != nullptr) {
    Scope filtered{.parent = &scope};
    filtered.set(kBlockText, std::move(value));
    LB_ASSIGN_OR_RETURN(value, evaluate(*block.expression, filtered));
  }
  return assign(block.target, std::move(value), scope);
}

Status Run::assign(const Target& target, Value value, Scope& scope) {
  if (!target.parts.empty()) {
    LB_ASSIGN_OR_RETURN(Items items, items_of(value));
    if (items.size() != target.parts.size()) {
      return invalid(fmt::format("{} values are assigned to {} names", items.size(), target.parts.size()));
    }
    for (std::size_t i = 0; i < items.size(); ++i)
      LB_RETURN_IF_ERROR(assign(target.parts[i], std::move(items[i]), scope));
    return {};
  }
  if (target.attribute.empty()) {
    LB_RETURN_IF_ERROR(look_up(scope.names.size(), weight_of(target.name)));
    scope.set(target.name, std::move(value));
    return {};
  }
  const Value* const space = scope.find(target.name);
  if (space == nullptr || !space->is(Kind::kNamespace)) {
    return invalid(fmt::format("cannot set an attribute of {}, which is not a namespace", core::quoted(target.name)));
  }
  // In a namespace, such a value could outlive its block.
  if (value.is(Kind::kNamespace) || value.is(Kind::kLoop) || value.is(Kind::kCallable)) {
    return unsupported(fmt::format("{} in a namespace is not supported", name_of(value.kind())));
  }
  auto& members = space->as_namespace().members;
  LB_RETURN_IF_ERROR(look_up(members.size(), weight_of(target.attribute)));
  const auto found = std::ranges::find(members, target.attribute, &std::pair<std::string, Value>::first);
  if (found != members.end()) {
    found->second = std::move(value);
  } else {
    members.emplace_back(target.attribute, std::move(value));
  }
  return {};
}

Result<Value> Run::call_macro(const Callable& callable, const Arguments& given) {
  const Statement& macro = *callable.macro;
  if (given.positional.size() > macro.parameters.size()) {
    return invalid(fmt::format("the macro {} takes at most {} arguments, not {}", core::quoted(macro.text),
                               macro.parameters.size(), given.positional.size()));
  }
  Scope scope{.parent = callable.scope};
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    LB_RETURN_IF_ERROR(look_up(scope.names.size() + given.named.size(), weight_of(parameter.name)));
    const auto named = std::ranges::find(given.named, parameter.name, &std::pair<std::string, Value>::first);
    if (i < given.positional.size()) {
      if (named != given.named.end()) {
        return invalid(
            fmt::format("the macro {} has two arguments {}", core::quoted(macro.text), core::quoted(parameter.name)));
      }
      scope.set(parameter.name, given.positional[i]);
    } else if (named != given.named.end()) {
      scope.set(parameter.name, named->second);
    } else if (parameter.otherwise != nullptr) {
      LB_ASSIGN_OR_RETURN(Value otherwise, evaluate(*parameter.otherwise, scope));
      scope.set(parameter.name, std::move(otherwise));
    } else {
      scope.set(parameter.name, Value::undefined(parameter.name));
    }
  }
  for (const auto& [name, value] : given.named) {
    LB_RETURN_IF_ERROR(look_up(macro.parameters.size(), weight_of(name)));
    if (std::ranges::find(macro.parameters, name, &Parameter::name) == macro.parameters.end()) {
      return invalid(fmt::format("the macro {} takes no argument {}", core::quoted(macro.text), core::quoted(name)));
    }
  }
  std::string out;
  LB_RETURN_IF_ERROR(render(macro.branches.front().body, scope, out));
  return Value::text(std::move(out));
}

}  // namespace latebind::templates
