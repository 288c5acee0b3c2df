#include <latebind/latebind.hpp>
