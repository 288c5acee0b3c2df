#include "tests/fakes/fake_openvino_library.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/platform/files/temporary_folder.h"
#include "tests/fakes/loaded.h"

namespace latebind::test {
namespace {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

// A new file each time: the loader knows files by their identity, and never reads one twice.
void write_file(const std::filesystem::path& file, std::string_view text) {
  const auto temporary = file.string() + ".new";
  {
    std::ofstream stream(temporary, std::ios::binary);
    stream << text;
    if (!stream) throw std::runtime_error("cannot write " + temporary);
  }
  std::filesystem::rename(temporary, file);
}

}  // namespace

FakeOpenvino::FakeOpenvino(std::string name) {
  auto folder = platform::TemporaryFolder::create("latebind-fake");
  if (!folder.ok()) throw std::runtime_error(folder.status().to_string());
  // The name alone is kept: that object would remove the folder now.
  folder_ = folder->path();
  folder->remove();
  std::filesystem::create_directory(folder_);
  file_ = folder_ / name;
  install();
}

FakeOpenvino::~FakeOpenvino() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

void FakeOpenvino::script(std::string_view text) {
  // In one step: a run that hangs looks at it all the time, and half a script has other devices.
  const std::string name = file_.string() + ".script";
  write_file(name + ".new", text);
  std::error_code error;
  do {  // Windows refuses while somebody reads it
    std::filesystem::rename(name + ".new", name, error);
  } while (error == std::errc::permission_denied);
  if (error) throw std::filesystem::filesystem_error("the fake's script", name, error);
  // Two files in a row may look alike to who compares their dates.
  if (auto* reload = reinterpret_cast<void (*)()>(symbol("lb_fake_reload"))) reload();
}

void FakeOpenvino::remove() {
  std::filesystem::remove(file_);
}

void FakeOpenvino::install() {
  write_file(file_, read_file(LATEBIND_FAKE_OPENVINO));
}

// The dynamic loader finds a function by the hash of its name and then compares the name: with a letter changed it is
// there no more.
void FakeOpenvino::remove_function(const std::string& name) {
  std::string image = read_file(file_);
  const std::string needle = std::string(1, '\0') + name + std::string(1, '\0');
  std::size_t changed = 0;
  for (auto at = image.find(needle); at != std::string::npos; at = image.find(needle, at + 1)) {
    image[at + 1] = '#';
    ++changed;
  }
  if (changed == 0) throw std::runtime_error("the fake has no function " + name);
  write_file(file_, image);
}

void FakeOpenvino::make_text_file() {
  write_file(file_, std::string(4096, 'x'));
}

void FakeOpenvino::make_other_architecture() {
  constexpr std::size_t kMachine = 18;  // e_machine in the ELF header, little endian
  constexpr char kS390 = 22;
  std::string image = read_file(file_);
  image.at(kMachine) = kS390;
  image.at(kMachine + 1) = 0;
  write_file(file_, image);
}

void FakeOpenvino::cut_off() {
  // More than its headers, less than what they promise.
  constexpr std::size_t kBytesLeft = 16384;
  const std::string image = read_file(file_);
  write_file(file_, std::string_view(image).substr(0, kBytesLeft));
}

bool FakeOpenvino::opening() const {
  return std::filesystem::exists(file_.string() + ".script.opening");
}

void* FakeOpenvino::symbol(const char* name) const {
  return symbol_of_loaded(file_, name);
}

long FakeOpenvino::alive(const std::string& kind) const {
  auto* count = reinterpret_cast<long (*)(const char*)>(symbol("lb_fake_alive"));
  return count == nullptr ? 0 : count(kind.c_str());
}

long FakeOpenvino::calls(const std::string& function) const {
  auto* count = reinterpret_cast<long (*)(const char*)>(symbol("lb_fake_calls"));
  return count == nullptr ? 0 : count(function.c_str());
}

std::string FakeOpenvino::defects() const {
  auto* tell = reinterpret_cast<const char* (*)()>(symbol("lb_fake_defects"));
  return tell == nullptr ? "" : tell();
}

core::Model fake_model(std::string_view lines, std::string name) {
  core::ModelForm form;
  // The text is the fake's own; as ONNX it would be refused before the library sees it.
  form.format = core::ModelFormat::kOpenvinoIr;
  form.graph = core::SharedBytes::from_string("fake-model\n" + std::string(lines));
  return core::Model::from_forms(std::move(name), {form});
}

}  // namespace latebind::test
