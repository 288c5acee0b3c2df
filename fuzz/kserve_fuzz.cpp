// Fuzzes the body of KServe's inference requests: a line with the value of Inference-Header-Content-Length, which may
// be empty, then the body, JSON and binary data. What is understood is answered again, in both forms.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

#include "server/protocols/kserve_answer.h"
#include "server/protocols/kserve_request.h"

namespace {

using namespace latebind::server;

constexpr std::size_t kTextsMax = 8;

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string_view body = all.substr(std::min(end + 1, all.size()));
  const auto parsed = kserve::parse_infer(all.substr(0, end), body, kTextsMax);
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    require(!refusal->message.empty());
    return 0;
  }
  const auto& request = std::get<kserve::InferRequest>(parsed);
  std::size_t texts_kept = 0;
  for (const auto& input : request.inputs) {
    const auto* texts = std::get_if<kserve::TextTensor>(&input);
    if (texts == nullptr) continue;
    require(texts->texts.empty() || texts->texts.size() == *texts->shape.element_count());
    texts_kept += texts->texts.size();
  }
  require(texts_kept <= kTextsMax);
  for (const bool is_binary : {true, false}) {
    std::vector<kserve::AnswerTensor> outputs;
    for (const auto& input : request.inputs) {
      if (std::holds_alternative<kserve::TextTensor>(input)) continue;
      const auto& tensor = std::get<NamedTensor>(input);
      // However large the shape, the data came with the body.
      require(tensor.data.size() == *latebind::core::byte_size_of(tensor.type, tensor.shape));
      require(tensor.data.size() <= body.size() * sizeof(double));
      outputs.push_back({tensor.name, tensor.type, tensor.shape.dims(), tensor.data, is_binary});
    }
    const auto answer = kserve::infer_answer("model", request.id, outputs);
    require(!is_binary || std::holds_alternative<HttpResponse>(answer));
  }
  return 0;
}
