#include "formats/pte/offsets.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace latebind::pte {
namespace {

using flatbuffers::ET_SEQUENCE;
using flatbuffers::ET_STRING;
using flatbuffers::TypeTable;

// Walks the tables as the schema describes them. The verifier has limited their depth and number.
class Walk {
 public:
  explicit Walk(const std::uint8_t* begin) : begin_(begin) {}

  void table(const std::uint8_t* place, const TypeTable& type) {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(place);
    const std::uint8_t* vtable = table->GetVTable();
    add(place, vtable, true);
    const std::size_t known = sizeof(flatbuffers::voffset_t) * (2 + type.num_elems);
    const std::size_t size = flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable);
    for (std::size_t at = known; at + sizeof(flatbuffers::voffset_t) <= size; at += sizeof(flatbuffers::voffset_t)) {
      if (flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable + at) != 0) found_.is_complete = false;
    }
    for (std::size_t i = 0; i < type.num_elems; ++i) {
      const auto field = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(i));
      const std::uint8_t* stored = table->GetAddressOf(field);
      if (stored == nullptr) continue;
      const auto code = type.type_codes[i];
      const auto base = static_cast<flatbuffers::ElementaryType>(code.base_type);
      const TypeTable* of = code.sequence_ref >= 0 ? type.type_refs[code.sequence_ref]() : nullptr;
      const bool is_union = base == ET_SEQUENCE && of != nullptr && of->st == flatbuffers::ST_UNION;
      if (is_union) {
        one_of(*table, i, stored, *of);
      } else if (code.is_repeating != 0) {
        vector(stored, base, of);
      } else if (base == ET_STRING) {
        follow(stored);
      } else if (base == ET_SEQUENCE && of != nullptr && of->st == flatbuffers::ST_TABLE) {
        this->table(follow(stored), *of);
      }
    }
  }

  const std::uint8_t* follow(const std::uint8_t* place) {
    const std::uint8_t* target = place + flatbuffers::ReadScalar<flatbuffers::uoffset_t>(place);
    add(place, target, false);
    return target;
  }

  Offsets take() {
    std::ranges::sort(found_.places, [](const OffsetPlace& a, const OffsetPlace& b) {
      return std::tuple(a.at, a.target, a.is_vtable) < std::tuple(b.at, b.target, b.is_vtable);
    });
    // std::ranges::unique of gcc's library does not compile with clang 14.
    found_.places.erase(std::unique(found_.places.begin(), found_.places.end()), found_.places.end());
    return std::move(found_);
  }

 private:
  void add(const std::uint8_t* place, const std::uint8_t* target, bool is_vtable) {
    found_.places.push_back(
        {static_cast<std::uint32_t>(place - begin_), static_cast<std::uint32_t>(target - begin_), is_vtable});
  }

  // The field before a union gives the table's type; 0 means no table.
  void one_of(const flatbuffers::Table& owner, std::size_t index, const std::uint8_t* stored,
              const TypeTable& options) {
    const auto tag = flatbuffers::FieldIndexToOffset(static_cast<flatbuffers::voffset_t>(index - 1));
    const auto chosen = std::size_t{owner.GetField<std::uint8_t>(tag, 0)};
    const std::uint8_t* target = follow(stored);
    if (chosen >= options.num_elems) found_.is_complete = false;
    if (chosen == 0 || chosen >= options.num_elems) return;
    const auto code = options.type_codes[chosen];
    if (code.base_type == ET_SEQUENCE && code.sequence_ref >= 0) table(target, *options.type_refs[code.sequence_ref]());
  }

  void vector(const std::uint8_t* stored, flatbuffers::ElementaryType base, const TypeTable* of) {
    const std::uint8_t* list = follow(stored);
    const bool of_tables = base == ET_SEQUENCE && of != nullptr && of->st == flatbuffers::ST_TABLE;
    if (base != ET_STRING && !of_tables) return;
    const auto count = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(list);
    for (flatbuffers::uoffset_t i = 0; i < count; ++i) {
      const std::uint8_t* entry = list + sizeof(flatbuffers::uoffset_t) * (std::size_t{i} + 1);
      const std::uint8_t* target = follow(entry);
      if (of_tables) table(target, *of);
    }
  }

  const std::uint8_t* begin_;
  Offsets found_;
};

}  // namespace

Offsets offsets_of(const VerifiedProgram& program) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(program.file.data());
  Walk walk(begin);
  walk.table(walk.follow(begin), *executorch_flatbuffer::ProgramTypeTable());
  return walk.take();
}

}  // namespace latebind::pte
