#include "core/onnx/port_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/onnx/onnx_parts.h"

namespace latebind::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Message;

Message named(std::uint32_t field, std::string_view name) {
  Message message;
  message.add_bytes(field, name);
  return message;
}

std::string model_of(const Message& graph) {
  Message model;
  model.add_message(7, graph);
  return model.bytes();
}

PortNames names_in(std::string_view bytes) {
  return port_names_of(std::as_bytes(std::span(bytes)));
}

TEST(PortNamesTest, AreInTheModelsOrderWithoutWhatTheModelGives) {
  Message graph;
  graph.add_message(11, named(1, "z"));
  graph.add_message(11, named(1, "weight"));
  graph.add_message(11, named(1, "sparse"));
  graph.add_message(11, named(1, "a"));
  graph.add_message(12, named(1, "y"));
  graph.add_message(12, named(1, "b"));
  graph.add_message(5, named(8, "weight"));
  Message sparse;
  sparse.add_message(1, named(8, "sparse"));
  graph.add_message(15, sparse);
  const PortNames names = names_in(model_of(graph));
  EXPECT_THAT(names.inputs, ElementsAre("z", "a"));
  EXPECT_THAT(names.outputs, ElementsAre("y", "b"));
}

TEST(PortNamesTest, OfWhatIsNoModelAreNone) {
  EXPECT_THAT(names_in("").inputs, IsEmpty());
  EXPECT_THAT(names_in("no model at all").outputs, IsEmpty());
  Message graph;
  graph.add_message(12, named(1, "y"));
  std::string bytes = model_of(graph);
  EXPECT_THAT(names_in(bytes).outputs, ElementsAre("y"));
  // Cut within the graph, whose length is kept.
  Message cut;
  cut.add_bytes(7, graph.bytes().substr(0, graph.bytes().size() - 1));
  EXPECT_THAT(names_in(cut.bytes()).outputs, IsEmpty());
}

}  // namespace
}  // namespace latebind::onnx
