#include <cstdio>
#include <latebind/latebind.hpp>

extern "C" int plain_c_works(void);

int main() {
  const auto runtime =
      latebind::Runtime::create({{"openvino.library", "/nonexistent"}, {"onnxruntime.library", "/nonexistent"}});
  if (!runtime || plain_c_works() == 0) return 1;
  const auto devices = runtime->devices();
  if (!devices || devices->devices.size() != 1 || devices->backends.size() != 3) return 1;
  std::puts(lb_version());
  return 0;
}
