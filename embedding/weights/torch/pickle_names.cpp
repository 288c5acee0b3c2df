#include "embedding/weights/torch/pickle_names.h"

#include <algorithm>
#include <array>

namespace latebind::embedding {
namespace {

// What the weights of a network consist of.
constexpr std::array kClasses{
    NamedClass{"collections.OrderedDict", PickleClass::kOrderedDict},
    NamedClass{"torch.Size", PickleClass::kSize},
    NamedClass{"torch._utils._rebuild_tensor", PickleClass::kRebuildTensor},
    NamedClass{"torch._utils._rebuild_tensor_v2", PickleClass::kRebuildTensorV2},
    NamedClass{"torch._utils._rebuild_parameter", PickleClass::kRebuildParameter},
    NamedClass{"torch._utils._rebuild_parameter_with_state", PickleClass::kRebuildParameterWithState},
    NamedClass{"torch.BFloat16Storage", PickleClass::kStorage, "BF16"},
    NamedClass{"torch.BoolStorage", PickleClass::kStorage, "BOOL"},
    NamedClass{"torch.ByteStorage", PickleClass::kStorage, "U8"},
    NamedClass{"torch.CharStorage", PickleClass::kStorage, "I8"},
    NamedClass{"torch.ComplexDoubleStorage", PickleClass::kStorage, "C128"},
    NamedClass{"torch.ComplexFloatStorage", PickleClass::kStorage, "C64"},
    NamedClass{"torch.DoubleStorage", PickleClass::kStorage, "F64"},
    NamedClass{"torch.FloatStorage", PickleClass::kStorage, "F32"},
    NamedClass{"torch.HalfStorage", PickleClass::kStorage, "F16"},
    NamedClass{"torch.IntStorage", PickleClass::kStorage, "I32"},
    NamedClass{"torch.LongStorage", PickleClass::kStorage, "I64"},
    NamedClass{"torch.ShortStorage", PickleClass::kStorage, "I16"}};

struct NamedOpcode {
  unsigned char code;
  std::string_view name;
};
constexpr std::array kRefused{NamedOpcode{'1', "POP_MARK"},
                              NamedOpcode{'2', "DUP"},
                              NamedOpcode{'B', "BINBYTES"},
                              NamedOpcode{'C', "SHORT_BINBYTES"},
                              NamedOpcode{'F', "FLOAT"},
                              NamedOpcode{'I', "INT"},
                              NamedOpcode{'L', "LONG"},
                              NamedOpcode{'P', "PERSID"},
                              NamedOpcode{'S', "STRING"},
                              NamedOpcode{'V', "UNICODE"},
                              NamedOpcode{'d', "DICT"},
                              NamedOpcode{'g', "GET"},
                              NamedOpcode{'i', "INST"},
                              NamedOpcode{'l', "LIST"},
                              NamedOpcode{'o', "OBJ"},
                              NamedOpcode{'p', "PUT"},
                              NamedOpcode{0x81, "NEWOBJ"},
                              NamedOpcode{0x82, "EXT1"},
                              NamedOpcode{0x83, "EXT2"},
                              NamedOpcode{0x84, "EXT4"},
                              NamedOpcode{0x8B, "LONG4"},
                              NamedOpcode{0x8E, "BINBYTES8"},
                              NamedOpcode{0x8F, "EMPTY_SET"},
                              NamedOpcode{0x90, "ADDITEMS"},
                              NamedOpcode{0x91, "FROZENSET"},
                              NamedOpcode{0x92, "NEWOBJ_EX"},
                              NamedOpcode{0x96, "BYTEARRAY8"},
                              NamedOpcode{0x97, "NEXT_BUFFER"},
                              NamedOpcode{0x98, "READONLY_BUFFER"}};

}  // namespace

const NamedClass* find_pickle_class(std::string_view name) {
  const auto* const found = std::ranges::find(kClasses, name, &NamedClass::name);
  return found == kClasses.end() ? nullptr : found;
}

std::string_view name_of_refused_opcode(unsigned char code) {
  const auto* const found = std::ranges::find(kRefused, code, &NamedOpcode::code);
  return found == kRefused.end() ? std::string_view() : found->name;
}

}  // namespace latebind::embedding
