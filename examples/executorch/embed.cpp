// Embeds sentences with ExecuTorch and a program that Latebind has compiled:
//
//   latebind compile all-MiniLM-L6-v2 --format pte -o minilm.pte
//   echo 'The cat sleeps.' | latebind tokens --model all-MiniLM-L6-v2 | ./embed minilm.pte
//
// A program contains the network but not the tokenizer. This example reads the ids of one sentence a line, as `latebind
// tokens` prints them, and prints its vector. On a device, the application's tokenizer makes the ids.
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/options.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

using executorch::aten::ScalarType;
using executorch::extension::from_blob;
using executorch::extension::Module;
using executorch::runtime::Error;

// The device of the method that was loaded last, such as "openvino:NPU". Latebind's log names the device only if it is
// not the requested one.
std::string active_device() {
  executorch::runtime::BackendOption device{"active_device",
                                            std::array<char, executorch::runtime::kMaxOptionValueLength>{}};
  executorch::runtime::Span<executorch::runtime::BackendOption> options(&device, 1);
  if (executorch::runtime::get_option("LatebindBackend", options) != Error::Ok) return "unknown";
  return std::get<std::array<char, executorch::runtime::kMaxOptionValueLength>>(device.value).data();
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: embed PROGRAM.pte < ids\n";
    return 2;
  }
  // A mapped file is shared by all processes and takes no memory of this one.
  Module module(argv[1], Module::LoadMode::Mmap);
  if (const Error error = module.load_forward(); error != Error::Ok) {
    std::cerr << "embed: cannot load " << argv[1] << " (error " << static_cast<int>(error) << "); the log says why\n";
    return 1;
  }
  std::cerr << "embed: on " << active_device() << '\n';
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    std::vector<std::int64_t> ids{std::istream_iterator<std::int64_t>(numbers), {}};
    if (ids.empty()) {
      std::cerr << "embed: a line without ids\n";
      return 1;
    }
    std::vector<std::int64_t> mask(ids.size(), 1);  // no padding
    const std::vector<executorch::aten::SizesType> shape{1, static_cast<executorch::aten::SizesType>(ids.size())};
    const auto result = module.forward(
        {from_blob(ids.data(), shape, ScalarType::Long), from_blob(mask.data(), shape, ScalarType::Long)});
    if (!result.ok()) {
      std::cerr << "embed: cannot embed " << ids.size() << " tokens; the log says why\n";
      return 1;
    }
    const auto vector = result->at(0).toTensor();
    for (int i = 0; i < vector.size(1); ++i)
      std::printf("%s%.9g", i > 0 ? " " : "", static_cast<double>(vector.const_data_ptr<float>()[i]));
    std::printf("\n");
  }
  return 0;
}
