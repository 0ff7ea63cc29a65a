// The opcodes of Python's pickle, protocols 0 to 5, by the names of Lib/pickle.py.
#pragma once

#include <cstdint>

namespace gapless::op {

enum Opcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kFloat = 'F',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kLong = 'L',
  kBinInt2 = 'M',
  kNone = 'N',
  kPersId = 'P',
  kBinPersId = 'Q',
  kReduce = 'R',
  kString = 'S',
  kBinString = 'T',
  kShortBinString = 'U',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kGet = 'g',
  kBinGet = 'h',
  kInst = 'i',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kObj = 'o',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinFloat = 'G',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
  kNextBuffer = 0x97,
  kReadOnlyBuffer = 0x98,
};

constexpr int kProtocolMax = 5;

// The name of an opcode that would import, call or fetch something from outside; null for one that is data.
constexpr const char* name_of_code(std::uint8_t opcode) {
  switch (opcode) {
    case kGlobal:
      return "GLOBAL";
    case kInst:
      return "INST";
    case kObj:
      return "OBJ";
    case kReduce:
      return "REDUCE";
    case kBuild:
      return "BUILD";
    case kPersId:
      return "PERSID";
    case kBinPersId:
      return "BINPERSID";
    case kNewObj:
      return "NEWOBJ";
    case kNewObjEx:
      return "NEWOBJ_EX";
    case kExt1:
      return "EXT1";
    case kExt2:
      return "EXT2";
    case kExt4:
      return "EXT4";
    case kStackGlobal:
      return "STACK_GLOBAL";
    case kNextBuffer:
      return "NEXT_BUFFER";
    case kReadOnlyBuffer:
      return "READONLY_BUFFER";
    default:
      return nullptr;
  }
}

}  // namespace gapless::op
