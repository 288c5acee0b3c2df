#include "backends/plugin/isolated/call.h"

#include <string>

namespace latebind::plugin {

using core::Result;
using core::Status;

lbb_code failed(lbb_error* error, const Status& status) {
  return own_host().fail(error, code_of(status.code()), std::string(status.message()).c_str());
}

Status damaged() {
  return breach("the process of the plug-in gave a damaged answer");
}

lbb_code outcome(Reader& said, lbb_error* error) {
  const lbb_code code = said.code();
  const char* const message = said.text();
  const bool has_vendor = said.number() != 0;
  const std::int64_t vendor_code = said.integer();
  const char* const vendor_text = said.text();
  const bool is_spoiled = said.number() != 0;
  for (std::size_t left = said.count(); left > 0; --left) {
    const std::int32_t level = said.code();
    own_host().log(level, said.text());
  }
  if (!said.good()) return failed(error, damaged());
  if (code == LBB_OK) return code;
  if (has_vendor) own_host().fail_with_vendor(error, vendor_code, vendor_text);
  if (is_spoiled) own_host().spoil(error);
  return own_host().fail(error, code, message);
}

Result<Call> Call::in(const SessionPointer& session) {
  LB_ASSIGN_OR_RETURN(auto lane, session->take());
  return Call(session, std::move(lane));
}

Call::~Call() {
  if (lane_ && is_good_) session_->give_back(std::move(lane_));
}

lbb_code Call::ask(const Writer& question, int file, const Patience& patience, std::unique_ptr<Reader>& said,
                   lbb_error* error) {
  is_good_ = false;
  auto answer = session_->ask(*lane_, question, file, patience);
  if (!answer.ok()) return failed(error, answer.status());
  is_good_ = true;
  said = *std::move(answer);
  return outcome(*said, error);
}

lbb_code ask_once(const SessionPointer& session, const Writer& question, int file, const Patience& patience,
                  std::unique_ptr<Reader>& said, lbb_error* error) {
  auto call = Call::in(session);
  return call.ok() ? call->ask(question, file, patience, said, error) : failed(error, call.status());
}

}  // namespace latebind::plugin
