#include "formats/pte/converter.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/text/quote.h"
#include "formats/pte/layout.h"
#include "formats/pte/offsets.h"
#include "formats/pte/reader.h"
#include "formats/pte/values.h"
#include "formats/pte/verified.h"

namespace latebind::pte {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

namespace fb = executorch_flatbuffer;

// Segments, and everything after an inline payload, move by multiples of this, which is a multiple of every alignment
// in a program.
constexpr std::uint64_t kStep = 4096;

Status unsupported(const std::string& why) {
  return {StatusCode::kUnsupported, "the program cannot be converted: " + why};
}

// A part of the file that is replaced by other bytes, or by the payload and zeros.
struct Edit {
  std::uint64_t at = 0;
  std::uint64_t old_size = 0;
  std::string bytes{};
  bool is_payload = false;  // the payload precedes `bytes`
};

// A program with everything needed to convert it.
struct Work {
  VerifiedProgram verified;
  Program program;
  Offsets offsets;
  std::vector<const fb::BackendDelegate*> chosen;  // the delegates with the id, each once
  std::vector<Delegate> delegates;                 // the same delegates as the reader returned them
  std::vector<Delegate> others;
  Convertible found;

  [[nodiscard]] std::uint64_t position_of(const void* place) const {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(place) - verified.file.data());
  }
  // How many offsets lead to one of these places. The time does not depend on the number of places.
  [[nodiscard]] std::size_t references_to(const std::set<const void*>& places) const {
    std::set<std::uint64_t> targets;
    for (const void* place : places)
      targets.insert(position_of(place));
    return static_cast<std::size_t>(std::ranges::count_if(
        offsets.places, [&](const OffsetPlace& one) { return !one.is_vtable && targets.contains(one.target); }));
  }
};

bool same_payload(const Delegate& a, const Delegate& b) {
  return a.is_inline == b.is_inline && a.index == b.index;
}

// The arguments of the first call of a delegate of this method.
Result<std::vector<Value>> arguments_of(const fb::ExecutionPlan& plan, std::size_t delegate) {
  for (std::size_t c = 0; c < count_of(plan.chains()); ++c) {
    const auto* instructions = plan.chains()->Get(static_cast<flatbuffers::uoffset_t>(c))->instructions();
    for (std::size_t i = 0; i < count_of(instructions); ++i) {
      const auto* call = instructions->Get(static_cast<flatbuffers::uoffset_t>(i))->instr_args_as_DelegateCall();
      if (call != nullptr && static_cast<std::size_t>(call->delegate_index()) == delegate)
        return values_from(plan, call->args(), "arguments for a delegate", 2 * kValuesMax);
    }
  }
  return std::vector<Value>();
}

Result<Work> prepare(std::span<const std::byte> file, const Conversion& conversion) {
  if (conversion.from.size() != conversion.to.size()) {
    return unsupported(fmt::format("'{}' and '{}' differ in length", conversion.from, conversion.to));
  }
  LB_ASSIGN_OR_RETURN(const VerifiedProgram verified, verify_program(file));
  LB_ASSIGN_OR_RETURN(Program program, read_program(file));
  Work work{verified, std::move(program), offsets_of(verified), {}, {}, {}, {}};
  std::set<std::string_view> seen;
  std::set<std::pair<bool, std::size_t>> payloads;  // inline or not, and the index
  for (std::size_t m = 0; m < work.program.methods.size(); ++m) {
    const auto* plan = work.verified.root->execution_plan()->Get(static_cast<flatbuffers::uoffset_t>(m));
    for (std::size_t d = 0; d < work.program.methods[m].delegates.size(); ++d) {
      const Delegate& delegate = work.program.methods[m].delegates[d];
      seen.insert(delegate.id);
      if (delegate.id != conversion.from) {
        work.others.push_back(delegate);
        continue;
      }
      if (work.delegates.empty()) {
        LB_ASSIGN_OR_RETURN(work.found.arguments, arguments_of(*plan, d));
      }
      payloads.emplace(delegate.is_inline, delegate.index);
      work.chosen.push_back(plan->delegates()->Get(static_cast<flatbuffers::uoffset_t>(d)));
      work.delegates.push_back(delegate);
    }
  }
  work.found.delegates = work.delegates.size();
  work.found.payloads = payloads.size();
  if (work.delegates.empty()) {
    constexpr std::size_t kNamed = 8;
    std::string ids;
    std::size_t named = 0;
    for (const std::string_view id : seen) {
      if (named++ == kNamed) break;
      ids += (ids.empty() ? "" : ", ") + core::quoted(id);
    }
    if (seen.size() > kNamed) ids += fmt::format(" and {} others", seen.size() - kNamed);
    return Status(StatusCode::kNotFound, fmt::format("no delegate of the program has the id '{}'; its delegates: {}",
                                                     conversion.from, ids.empty() ? "none" : ids));
  }
  return work;
}

// Replaces the id's letters. If something else refers to such a string, the error says so.
Status edit_ids(const Work& work, const Conversion& conversion, std::vector<Edit>& edits) {
  std::set<const void*> fields;
  for (const fb::BackendDelegate* delegate : work.chosen)
    fields.insert(reinterpret_cast<const flatbuffers::Table*>(delegate)->GetAddressOf(fb::BackendDelegate::VT_ID));
  std::set<const void*> strings;
  for (const fb::BackendDelegate* delegate : work.chosen)
    strings.insert(delegate->id());
  if (work.references_to(strings) != fields.size())
    return unsupported("the text of the delegates' id is also used elsewhere");
  for (const void* string : strings) {
    const auto* text = static_cast<const flatbuffers::String*>(string);
    edits.push_back({work.position_of(text->c_str()), text->size(), std::string(conversion.to)});
  }
  return {};
}

Status check_users(const Work& work, const Delegate& ours) {
  const bool shared =
      std::ranges::any_of(work.others, [&](const Delegate& other) { return same_payload(other, ours); });
  if (shared) return unsupported("a delegate of another backend has the same payload");
  if (ours.is_inline) return {};
  const fb::Program& root = *work.verified.root;
  const auto* constants = root.constant_segment();
  if (constants != nullptr && count_of(constants->offsets()) > 1 && constants->segment_index() == ours.index) {
    return unsupported("the payload's segment also holds constants");
  }
  for (std::size_t i = 0; i < count_of(root.mutable_data_segments()); ++i) {
    if (root.mutable_data_segments()->Get(static_cast<flatbuffers::uoffset_t>(i))->segment_index() == ours.index) {
      return unsupported("the payload's segment also holds the state of tensors");
    }
  }
  for (std::size_t i = 0; i < count_of(root.named_data()); ++i) {
    if (root.named_data()->Get(static_cast<flatbuffers::uoffset_t>(i))->segment_index() == ours.index) {
      return unsupported("the payload's segment is also named data");
    }
  }
  return {};
}

// The largest power of two, up to kStep, that divides every segment's offset.
std::uint64_t alignment_of(const Work& work) {
  std::uint64_t all = kStep;
  for (const Segment& segment : work.program.segments)
    all |= segment.offset - work.verified.layout.segment_base;
  return std::uint64_t{1} << static_cast<unsigned>(std::countr_zero(all));
}

// Resizes the payload's segment and moves the segments after it.
Status edit_segment(const Work& work, const Payload& payload, std::vector<Edit>& edits) {
  const std::size_t index = work.delegates.front().index;
  const Segment& ours = work.program.segments[index];
  if (ours.size == 0) return unsupported("its payload is empty");
  const std::uint64_t end = ours.offset + ours.size;
  const std::uint64_t alignment = alignment_of(work);
  std::uint64_t next = UINT64_MAX;
  for (std::size_t i = 0; i < work.program.segments.size(); ++i) {
    const Segment& other = work.program.segments[i];
    if (i == index || other.offset + other.size <= ours.offset) continue;
    if (other.offset < end) return unsupported(fmt::format("segment {} overlaps that of the payload", i));
    next = std::min(next, other.offset);
  }
  const bool is_last = next == UINT64_MAX;
  const std::uint64_t old_size = (is_last ? end : next) - ours.offset;
  const std::uint64_t new_size = is_last ? payload.size : round_up(payload.size, alignment);
  const std::uint64_t delta = new_size - old_size;  // modulo 2^64
  const auto field = [&](std::size_t segment, flatbuffers::voffset_t name) {
    const auto* table = work.verified.root->segments()->Get(static_cast<flatbuffers::uoffset_t>(segment));
    return reinterpret_cast<const flatbuffers::Table*>(table)->GetAddressOf(name);
  };
  const auto put = [&](const void* place, std::uint64_t value) -> Status {
    if (place == nullptr)
      return {StatusCode::kInvalidModel, "the program is damaged: a segment has no room for its offset and size"};
    edits.push_back({work.position_of(place), 8, number_bytes(value, 8)});
    return {};
  };
  LB_RETURN_IF_ERROR(put(field(index, fb::DataSegment::VT_SIZE), payload.size));
  for (std::size_t i = 0; i < work.program.segments.size(); ++i) {
    const Segment& other = work.program.segments[i];
    if (i == index || other.offset < end) continue;
    const std::uint64_t moved = other.offset - work.verified.layout.segment_base + delta;
    LB_RETURN_IF_ERROR(put(field(i, fb::DataSegment::VT_OFFSET), moved));
  }
  if (work.verified.layout.has_segment_size) {
    edits.push_back({kSegmentSizeAt, 8, number_bytes(work.verified.layout.segment_size + delta, 8)});
  }
  edits.push_back({ours.offset, old_size, std::string(static_cast<std::size_t>(new_size - payload.size), '\0'), true});
  return {};
}

// Resizes the payload in the flatbuffer, moves everything after it, and changes every offset across it.
Status edit_inline(const Work& work, const Payload& payload, std::vector<Edit>& edits) {
  const Delegate& ours = work.delegates.front();
  if (!work.offsets.is_complete) {
    return unsupported("its payload is in the flatbuffer, which has fields that this build does not know");
  }
  const auto* entry = work.verified.root->backend_delegate_data()->Get(static_cast<flatbuffers::uoffset_t>(ours.index));
  if (work.references_to({entry}) != 1 || work.references_to({entry->data()}) != 1) {
    return unsupported("the bytes of its payload are also used elsewhere");
  }
  const std::uint64_t count_at = work.position_of(entry->data());
  const std::uint64_t begin = count_at + 4;
  const std::uint64_t end = begin + ours.payload.size();
  for (const OffsetPlace& place : work.offsets.places) {
    const auto inside = [&](std::uint64_t at) { return at > count_at && at < end; };
    if (inside(place.at) || inside(place.target)) return unsupported("other data is inside its payload");
  }
  const std::uint64_t padding = (kStep + ours.payload.size() % kStep - payload.size % kStep) % kStep;
  const std::uint64_t delta = payload.size + padding - ours.payload.size();  // modulo 2^64
  const std::uint64_t program_size = work.verified.layout.program_size + delta;
  if (payload.size > kFlatbufferMax || program_size > kFlatbufferMax) {
    return unsupported("it would have 2 GiB or more, but its payload is in the flatbuffer, which must be smaller");
  }
  const auto moved = [&](std::uint64_t at) { return at >= end ? at + delta : at; };
  for (const OffsetPlace& place : work.offsets.places) {
    const std::uint64_t old_value = place.is_vtable ? place.at - std::uint64_t{place.target} : place.target - place.at;
    const std::uint64_t value =
        place.is_vtable ? moved(place.at) - moved(place.target) : moved(place.target) - moved(place.at);
    if (static_cast<std::uint32_t>(value) != static_cast<std::uint32_t>(old_value)) {
      edits.push_back({place.at, 4, number_bytes(value, 4)});
    }
  }
  edits.push_back({count_at, 4, number_bytes(payload.size, 4)});
  edits.push_back({begin, ours.payload.size(), std::string(static_cast<std::size_t>(padding), '\0'), true});
  const Layout& layout = work.verified.layout;
  if (layout.has_header) {
    edits.push_back({kProgramSizeAt, 8, number_bytes(program_size, 8)});
    if (layout.segment_base != 0) edits.push_back({kSegmentBaseAt, 8, number_bytes(layout.segment_base + delta, 8)});
  }
  return {};
}

// Writes the file with the edits applied.
Status write_edited(std::span<const std::byte> file, std::vector<Edit> edits, const Conversion& conversion,
                    const Sink& sink) {
  std::ranges::sort(edits, {}, &Edit::at);
  std::uint64_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.at < at) return {StatusCode::kInvalidModel, "the program is damaged: parts of it overlap"};
    at = edit.at + edit.old_size;
  }
  at = 0;
  const auto copy_to = [&](std::uint64_t end) {
    const auto part = file.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(end - at));
    return part.empty() ? Status() : sink(part);
  };
  for (const Edit& edit : edits) {
    LB_RETURN_IF_ERROR(copy_to(edit.at));
    if (edit.is_payload) {
      LB_RETURN_IF_ERROR(write_payload(*conversion.payload, sink));
    }
    if (Status status = edit.bytes.empty() ? Status() : sink(std::as_bytes(std::span(edit.bytes))); !status.ok()) {
      return status;
    }
    at = edit.at + edit.old_size;
  }
  return copy_to(file.size());
}

}  // namespace

Result<Convertible> inspect_conversion(std::span<const std::byte> file, const Conversion& conversion) {
  LB_ASSIGN_OR_RETURN(Work work, prepare(file, conversion));
  return std::move(work.found);
}

Status convert_program(std::span<const std::byte> file, const Conversion& conversion, const Sink& sink) {
  LB_ASSIGN_OR_RETURN(const Work work, prepare(file, conversion));
  std::vector<Edit> edits;
  LB_RETURN_IF_ERROR(edit_ids(work, conversion, edits));
  if (conversion.payload) {
    if (conversion.payload->size == 0 || !conversion.payload->write) {
      return {StatusCode::kInvalidArgument, "cannot convert a program: the payload of the delegate is missing"};
    }
    if (work.found.payloads != 1) {
      return unsupported(
          fmt::format("its {} delegates have {} different payloads, which one model cannot replace; without a model, "
                      "they keep their payloads",
                      work.found.delegates, work.found.payloads));
    }
    const Delegate& ours = work.delegates.front();
    LB_RETURN_IF_ERROR(check_users(work, ours));
    const auto edit = ours.is_inline ? edit_inline : edit_segment;
    LB_RETURN_IF_ERROR(edit(work, *conversion.payload, edits));
  }
  return write_edited(file, std::move(edits), conversion, sink);
}

}  // namespace latebind::pte
