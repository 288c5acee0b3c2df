#include "kit/child.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/platform/child_process.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "kit/checks/all.h"
#include "kit/context.h"
#include "kit/raw/watching_host.h"
#include "kit/result_file.h"
#include "kit/subject.h"

namespace latebind::kit {
namespace {

constexpr std::size_t kPrintedShown = 200;

// What is wrong with the end of the child; empty if nothing is.
std::string problem_of(const platform::ChildOutcome& outcome, const ChildResult& result, std::chrono::seconds limit) {
  using End = platform::ChildOutcome::End;
  const std::string where = result.step.empty() ? "before the check began" : "in: " + result.step;
  const std::string printed =
      outcome.errors.empty() ? "" : fmt::format("; it printed {}", core::quoted(outcome.errors, kPrintedShown));
  if (outcome.end == End::kTimedOut)
    return fmt::format("hangs: the process did not end within {} s {}", limit.count(), where);
  if (!result.finding && outcome.end == End::kExited)
    return fmt::format("ends the process, with exit status {}, {}{}", outcome.number, where, printed);
  if (!result.finding) return fmt::format("crashes: the process {} {}{}", platform::describe(outcome), where, printed);
  if (outcome.good() || outcome.end == End::kUnknown) return {};
  return fmt::format("the check passed, but at its end the process {}{}", platform::describe(outcome), printed);
}

// What is wrong with what the child printed; empty if nothing is.
std::string noise_of(const platform::ChildOutcome& outcome, bool is_plugin) {
  if (!outcome.output.empty())
    return fmt::format("writes to standard output: {}", core::quoted(outcome.output, kPrintedShown));
  if (is_plugin && !outcome.errors.empty())
    return fmt::format("writes to standard error: {}", core::quoted(outcome.errors, kPrintedShown));
  return {};
}

Finding finding_of(const Check& check, Context& context) {
  try {
    auto found = check.run(context);
    if (found.ok()) return *std::move(found);
    return {Verdict::kFailed, found.status().to_string(), {}};
  } catch (...) {
    return {Verdict::kFailed, core::Status::of_exception().to_string(), {}};
  }
}

// Runs the check, destroys what it has made, and adds what the host has noted.
Finding find(const Check& check, const Subject& subject, const Options& options, ResultFile& steps) {
  Finding finding;
  {
    Context context(subject, options, steps);
    finding = finding_of(check, context);
    context.step("destroying the backend");
  }
  const std::vector<std::string> breaches = take_breaches();
  if (breaches.empty()) return finding;
  return {Verdict::kFailed, fmt::format("{}", fmt::join(breaches, "; ")), {}};
}

}  // namespace

core::Result<CheckResult> run_in_child(const Options& options, const Check& check, std::string_view device,
                                       bool is_plugin, const std::filesystem::path& folder, core::Json* data) {
  const std::filesystem::path file = folder / "result";
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  const std::chrono::seconds limit = (options.time.count() > 0 ? options.time : check.time) + options.soak;
  LB_ASSIGN_OR_RETURN(const auto program, platform::own_program_file());
  const auto began = std::chrono::steady_clock::now();
  LB_ASSIGN_OR_RETURN(
      const auto outcome,
      platform::run_child(program, arguments_of_child(options, check.name, device, platform::path_to_utf8(file)),
                          {.time = limit}));
  CheckResult result{.name = std::string(check.name), .what = std::string(check.what)};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const ChildResult told = read_result(file);
  std::string problem = problem_of(outcome, told, limit);
  if (problem.empty()) problem = noise_of(outcome, is_plugin);
  if (!problem.empty() && (!told.finding || told.finding->verdict != Verdict::kFailed)) {
    result.verdict = Verdict::kFailed;
    result.text = std::move(problem);
    return result;
  }
  result.verdict = told.finding->verdict;
  result.text = told.finding->text;
  if (data != nullptr) *data = told.finding->data;
  return result;
}

int run_as_child(const Options& options) {
  constexpr int kUnusable = 2;
  const Check* const check = find_check(options.run_check);
  auto subject = Subject::find(options);
  auto result = ResultFile::create(platform::path_from_utf8(options.result_file));
  if (check == nullptr || !result.ok()) return kUnusable;
  if (!subject.ok()) {
    (*result)->finish({Verdict::kFailed, subject.status().to_string(), {}});
    return 0;
  }
  (*result)->finish(find(*check, *subject, options, **result));
  (*result)->step("the end of the process");
  return 0;
}

}  // namespace latebind::kit
