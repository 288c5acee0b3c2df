// VendorErrors: what a vendor's version computes otherwise than ONNX says, though it takes the model. Such nodes are
// left to the host.
//
// The table is data, vendor_errors.tsv, which tests/hosts/onnxruntime/find_vendor_errors.py makes of ONNX's own node
// tests. A line has an operator, what must hold of a node, and the vendor's version in which it was seen, with tabs
// between; '#' begins a comment. The conditions, with spaces between:
//   attr:NAME  attr:NAME=VALUE  attr:NAME!=VALUE   the attribute is there, is this, is there and something else
//   in:I  no-in:I  out:I                           the input or output is given
//   run:I  const:I                                 the input is known in a run only; is constant
//   type:I=f32  rank:I=2                           of the input
//   before:OP                                      an output of it goes into such a node
// Values are integers, texts, floating-point numbers as %g has them, and lists of integers with commas. A line holds in
// the version that it names and in those that no line names: nobody has shown that these are right.
//
// Constant after construction; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

class VendorErrors {
 public:
  // `file`: a table in place of the one in this library; "": that one. `runtimes`: "openvino 2026.4.1-…" for each that
  // a session may use. Throws Failure with the line for what is no table.
  VendorErrors(const std::string& file, const std::vector<std::string>& runtimes);

  // Why the node is not computed as ONNX says, "" when nothing is known against it. `inputs` has an empty type for each
  // that is not given.
  [[nodiscard]] std::string of(const GraphView& graph, const NodeView& node, std::span<const TypeView> inputs) const;

 private:
  struct Rule {
    std::string op;
    std::vector<std::string> conditions;
    std::string runtime;  // "openvino 2026.4.1"
  };
  void read(std::string_view text, const std::string& where);
  void keep_those_of(const std::vector<std::string>& runtimes);

  std::vector<Rule> rules_;
};

}  // namespace latebind::provider
