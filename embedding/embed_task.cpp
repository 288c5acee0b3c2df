#include "embedding/embed_task.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "embedding/outputs/vector_shape.h"
#include "embedding/pipeline.h"

namespace latebind::embedding {

using core::Status;
using std::chrono::steady_clock;

namespace {

// An output of a task, and the shape of its results.
struct Wanted {
  ResultForm form{};
  VectorShape shape;
};

// Takes the results of part `part` of a finished submission.
OutputResult take_result(Scheduler::Submission& submission, std::size_t part, const Wanted& wanted) {
  if (wanted.form == ResultForm::kSparseRow) return SparseRows{submission.take_sparse(part)};
  const VectorShape& shape = wanted.shape;
  if (wanted.form == ResultForm::kRaggedRows) {
    RaggedRows rows{.dimension = shape.dimensions()};
    for (const std::uint32_t count : submission.vector_counts(part))
      rows.begins.push_back(rows.begins.back() + count);
    rows.numbers = submission.take_vectors(part);
    return rows;
  }
  Rows rows{.dimension = shape.dimensions()};
  if (shape.is_as_computed()) {
    rows.numbers = submission.take_vectors(part);
  } else {
    rows.numbers.resize(submission.token_counts().size() * shape.dimensions());
    shape.write(submission.vectors(part), rows.numbers);
  }
  return rows;
}

TaskOutcome outcome_of(Scheduler::Submission& submission, std::span<const Wanted> wanted) {
  TaskOutcome outcome;
  outcome.status = submission.wait();
  const Scheduler::Times times = submission.times();
  outcome.waiting = times.begun - times.submitted;
  outcome.computing = times.over - times.begun;
  outcome.answered_by = submission.answered_by();
  outcome.stats = submission.stats();
  outcome.stats.seconds = std::chrono::duration<double>(times.over - times.submitted).count();
  if (!outcome.status.ok()) return outcome;
  const auto counts = submission.token_counts();
  outcome.token_counts.assign(counts.begin(), counts.end());
  for (std::size_t part = 0; part < wanted.size(); ++part)
    outcome.results.push_back(take_result(submission, part, wanted[part]));
  return outcome;
}

}  // namespace

core::Result<EmbedTask> EmbedTask::start(const Encoder& encoder, const InputList& inputs, const TaskOptions& options,
                                         Done done) {
  const auto began = steady_clock::now();
  Pipeline& pipeline = encoder.pipeline();
  LB_ASSIGN_OR_RETURN(const TokenLimits limits, pipeline.limits_of(options.texts, inputs));
  LB_ASSIGN_OR_RETURN(const std::vector<std::size_t> positions, encoder.find_outputs(options.outputs));
  Scheduler::Texts texts;
  std::vector<Wanted> wanted;
  for (const std::size_t position : positions) {
    const BoundOutput& bound = encoder.outputs()[position];
    LB_ASSIGN_OR_RETURN(const VectorShape shape, VectorShape::of(bound, options.texts));
    wanted.push_back({.form = bound.form(), .shape = shape});
    texts.wanted.push_back({.output = position});
  }
  texts.queue_tokens_max = options.queue_tokens_max;
  LB_RETURN_IF_ERROR(pipeline.tokenize(inputs, limits, 0, {}, texts.tokens, options.name_of));
  if (options.tokens_max > 0 && texts.tokens.token_count() > options.tokens_max) {
    return Status(core::StatusCode::kTextTooLong, fmt::format("the texts have {} tokens together; at most {} are taken",
                                                              texts.tokens.token_count(), options.tokens_max));
  }
  const auto tokenizing = steady_clock::now() - began;
  LB_ASSIGN_OR_RETURN(auto ticket,
                      pipeline.scheduler().submit_and_tell(
                          std::move(texts), [wanted = std::move(wanted), tokenizing, otherwise = encoder.attestation(),
                                             done = std::move(done)](Scheduler::Submission submission) {
                            TaskOutcome outcome;
                            try {
                              outcome = outcome_of(submission, wanted);
                            } catch (const std::exception&) {
                              outcome.status = Status::of_exception();
                            }
                            outcome.tokenizing = tokenizing;
                            if (outcome.answered_by == nullptr) outcome.answered_by = otherwise;
                            done(std::move(outcome));
                          }));
  return EmbedTask(std::move(ticket));
}

core::Result<EmbedTask> EmbedTask::start(const Embedder& embedder, const InputList& inputs, const TaskOptions& options,
                                         Done done) {
  LB_ASSIGN_OR_RETURN(const Encoder* const encoder, embedder.route_for(options.texts.role));
  return start(*encoder, inputs, options, std::move(done));
}

}  // namespace latebind::embedding
