// What a C source cannot do: throws an exception.
#include <stdexcept>

extern "C" void bad_plugin_throw();
extern "C" void bad_plugin_throw() {
  throw std::runtime_error("an exception of a plug-in");
}
