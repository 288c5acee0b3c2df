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

TaskOutcome outcome_of(Scheduler::Submission& submission, const VectorShape& shape) {
  TaskOutcome outcome;
  outcome.status = submission.wait();
  const Scheduler::Times times = submission.times();
  outcome.waiting = times.begun - times.submitted;
  outcome.computing = times.over - times.begun;
  outcome.answered_by = submission.answered_by();
  outcome.stats = submission.stats();
  outcome.stats.seconds = std::chrono::duration<double>(times.over - times.submitted).count();
  outcome.dimension = shape.dimensions();
  if (!outcome.status.ok()) return outcome;
  const auto counts = submission.token_counts();
  outcome.token_counts.assign(counts.begin(), counts.end());
  const auto of_tokens = submission.vector_counts();
  outcome.vector_counts.assign(of_tokens.begin(), of_tokens.end());
  outcome.sparse = submission.take_sparse();
  if (shape.is_as_computed()) {
    outcome.vectors = submission.take_vectors();
  } else {
    outcome.vectors.resize(counts.size() * shape.dimensions());
    shape.write(submission.vectors(), outcome.vectors);
  }
  return outcome;
}

}  // namespace

core::Result<EmbedTask> EmbedTask::start(const Encoder& encoder, const InputList& inputs, const TaskOptions& options,
                                         Done done) {
  const auto began = steady_clock::now();
  Pipeline& pipeline = encoder.pipeline();
  LB_ASSIGN_OR_RETURN(const TokenLimits limits, pipeline.limits_of(options.texts, inputs));
  LB_ASSIGN_OR_RETURN(const VectorShape shape, VectorShape::of(encoder.outputs().front(), options.texts));
  Scheduler::Texts texts;
  texts.queue_tokens_max = options.queue_tokens_max;
  LB_RETURN_IF_ERROR(pipeline.tokenize(inputs, limits, 0, {}, texts.tokens, options.name_of));
  if (options.tokens_max > 0 && texts.tokens.token_count() > options.tokens_max) {
    return Status(core::StatusCode::kTextTooLong, fmt::format("the texts have {} tokens together; at most {} are taken",
                                                              texts.tokens.token_count(), options.tokens_max));
  }
  const auto tokenizing = steady_clock::now() - began;
  LB_ASSIGN_OR_RETURN(auto ticket, pipeline.scheduler().submit_and_tell(
                                       std::move(texts), [shape, tokenizing, otherwise = encoder.attestation(),
                                                          done = std::move(done)](Scheduler::Submission submission) {
                                         TaskOutcome outcome;
                                         try {
                                           outcome = outcome_of(submission, shape);
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
