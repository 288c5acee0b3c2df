// Inputs and lookups.
#include <fmt/format.h>

#include "backends/pjrt/stablehlo/writer.h"
#include "core/text/quote.h"

namespace latebind::pjrt {

using core::ElementType;
using core::Status;
using core::StatusCode;

Tensor NetworkWriter::write(const graph::Input& op) {
  NetworkInput& input = inputs_.back();
  core::Shape& shape = input.info.shape;
  if (!input_shapes_.empty()) {
    const core::Shape& given = input_shapes_[inputs_.size() - 1];
    if (!given.is_static() || !shape.accepts(given)) {
      fail(Status(StatusCode::kShapeMismatch, fmt::format("the input {} is {}; it cannot be {}", core::quoted(op.name),
                                                          shape.to_string(), given.to_string())));
    }
    shape = given;
  }
  if (status_.ok() && !shape.is_static()) {
    fail(Status(StatusCode::kUnsupported, fmt::format("pjrt needs static shapes, and the input {} is {}",
                                                      core::quoted(op.name), shape.to_string())));
  }
  const Dims dims(shape.dims().begin(), shape.dims().end());
  for (const std::int64_t dim : dims) {
    if (dim == 0) {
      fail(Status(StatusCode::kUnsupported, fmt::format("the input {} is {}: pjrt computes no empty tensors",
                                                        core::quoted(op.name), shape.to_string())));
    }
  }
  if (input.info.type == ElementType::kF32) return hlo_.argument(dims, Element::kF32);
  // Ids and masks are small numbers, and computing with i64 is slow on accelerators. They go up as i32.
  if (input.info.type == ElementType::kI64) return hlo_.argument(dims, Element::kI32);
  fail(Status(StatusCode::kUnsupported, fmt::format("pjrt takes inputs of the types f32 and i64, and {} is {}",
                                                    core::quoted(op.name), core::name_of(input.info.type))));
  return {};
}

Tensor NetworkWriter::write(const graph::Lookup& op) {
  expect_ids(op.ids, op.table.shape[0]);
  return hlo_.convert(hlo_.rows(weight(op.table, narrow_), value(op.ids)), Element::kF32);
}

Tensor NetworkWriter::write(const graph::PositionLookup& op) {
  const Tensor& ids = value(op.ids);
  const std::int64_t tokens = ids.dims.back();
  const std::int64_t most = op.table.shape[0] - (op.padding ? *op.padding + 1 : 0);
  if (tokens > most) {
    fail(Status(StatusCode::kShapeMismatch,
                fmt::format("position_lookup has a table for {} tokens, and the texts have {}", most, tokens)));
    return {};
  }
  const Tensor table = weight(op.table, narrow_);
  if (!op.padding) return hlo_.convert(hlo_.slice(table, 0, 0, tokens), Element::kF32);
  // The number of tokens up to each one, that one included, as a product with a triangle of ones. Exact: the numbers
  // are far below 2^24.
  const Tensor is_token = hlo_.compare(ids, static_cast<double>(*op.padding), "NE");
  const Dims square{tokens, tokens};
  const Tensor before = hlo_.compare(hlo_.iota(square, 0, Element::kI32), hlo_.iota(square, 1, Element::kI32), "LE");
  const Tensor count = hlo_.dot(hlo_.convert(is_token, Element::kF32), {{ids.last()}},
                                hlo_.convert(before, Element::kF32), {{0}}, Element::kF32);
  const Tensor place = hlo_.binary("add", hlo_.convert(count, Element::kI32), static_cast<double>(*op.padding));
  const Tensor row = hlo_.select(is_token, place, static_cast<double>(*op.padding));
  return hlo_.convert(hlo_.rows(table, row), Element::kF32);
}

Tensor NetworkWriter::write(const graph::RowLookup& op) {
  const Tensor row = hlo_.slice(weight(op.table, narrow_), 0, op.row, 1);
  return hlo_.convert(hlo_.reshape(row, {op.table.shape[1]}), Element::kF32);
}

Tensor NetworkWriter::write(const graph::WholeTable& op) {
  return hlo_.convert(weight(op.table, narrow_), Element::kF32);
}

}  // namespace latebind::pjrt
