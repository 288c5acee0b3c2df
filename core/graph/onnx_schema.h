// The field numbers of ONNX's messages, and its numbers for kinds of attributes and places of data. Readers and writers
// of ONNX use these names; scripts/check_layers rejects numbers beside ProtobufFields and ProtobufMessage.
//
// Source: onnx.proto of ONNX 1.16. It has the fields that Latebind reads, writes or walks through.
#pragma once

#include <cstdint>

namespace latebind::graph {

struct ModelProto {
  enum : std::uint32_t {
    kIrVersion = 1,
    kProducerName = 2,
    kProducerVersion = 3,
    kDomain = 4,
    kModelVersion = 5,
    kDocString = 6,
    kGraph = 7,
    kOpsetImport = 8,
    kMetadataProps = 14,
    kTrainingInfo = 20,
    kFunctions = 25,
  };
};

struct OperatorSetIdProto {
  enum : std::uint32_t { kDomain = 1, kVersion = 2 };
};

struct StringStringEntryProto {
  enum : std::uint32_t { kKey = 1, kValue = 2 };
};

struct TrainingInfoProto {
  enum : std::uint32_t { kInitialization = 1, kAlgorithm = 2 };
};

struct GraphProto {
  enum : std::uint32_t {
    kNode = 1,
    kName = 2,
    kInitializer = 5,
    kInput = 11,
    kOutput = 12,
    kValueInfo = 13,
    kSparseInitializer = 15,
  };
};

struct FunctionProto {
  enum : std::uint32_t {
    kName = 1,
    kInput = 4,
    kOutput = 5,
    kNode = 7,
    kOpsetImport = 9,
    kDomain = 10,
    kAttributeProto = 11,  // attributes with a default
    kOverload = 13,
  };
};

struct NodeProto {
  enum : std::uint32_t {
    kInput = 1,
    kOutput = 2,
    kName = 3,
    kOpType = 4,
    kAttribute = 5,
    kDomain = 7,
    kOverload = 8,
  };
};

struct AttributeProto {
  enum : std::uint32_t {
    kName = 1,
    kFloat = 2,
    kInt = 3,
    kString = 4,
    kTensor = 5,
    kGraph = 6,
    kFloats = 7,
    kInts = 8,
    kStrings = 9,
    kTensors = 10,
    kGraphs = 11,
    kType = 20,
    kRefAttrName = 21,  // the attribute of the function's caller that has the value
    kSparseTensor = 22,
    kSparseTensors = 23,
  };
  // The values of kType.
  enum Type : std::uint32_t {
    kIsFloat = 1,
    kIsInt = 2,
    kIsString = 3,
    kIsTensor = 4,
    kIsGraph = 5,
    kIsFloats = 6,
    kIsInts = 7,
    kIsStrings = 8,
  };
};

struct ValueInfoProto {
  enum : std::uint32_t { kName = 1, kType = 2 };
};

struct TypeProto {
  enum : std::uint32_t { kTensorType = 1 };
};

struct TensorTypeProto {
  enum : std::uint32_t { kElemType = 1, kShape = 2 };
};

struct TensorShapeProto {
  enum : std::uint32_t { kDim = 1 };
};

struct DimensionProto {
  enum : std::uint32_t { kValue = 1, kParam = 2 };
};

struct TensorProto {
  enum : std::uint32_t {
    kDims = 1,
    kDataType = 2,
    kFloatData = 4,
    kInt32Data = 5,
    kInt64Data = 7,
    kName = 8,
    kRawData = 9,
    kDoubleData = 10,
    kUint64Data = 11,
    kExternalData = 13,
    kDataLocation = 14,
  };
  // A value of kDataLocation.
  enum Location : std::uint32_t { kExternal = 1 };
};

struct SparseTensorProto {
  enum : std::uint32_t { kValues = 1, kIndices = 2 };
};

}  // namespace latebind::graph
