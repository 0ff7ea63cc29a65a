// NVRTC: compilation at run time, to nothing.
#include <cstdlib>
#include <cstring>

#include "abi/runtime.h"
#include "card/objects.h"

namespace {

constexpr std::size_t kCode = 64;

int size_of_code(std::size_t* size) {
  *size = kCode;
  return 0;
}

int code(char* out) {
  std::memset(out, 0, kCode);
  return 0;
}

}  // namespace

GAPLESS_API int nvrtcVersion(int* major, int* minor) {
  *major = GAPLESS_CUDA_MAJOR;
  *minor = 0;
  return 0;
}
GAPLESS_API const char* nvrtcGetErrorString(int) { return "NVRTC of the pretend card"; }
GAPLESS_API int nvrtcCreateProgram(void** program, const char*, const char*, int, const void*, const void*) {
  *program = gapless::card::make_handle();
  return 0;
}
GAPLESS_API int nvrtcDestroyProgram(void** program) {
  *program = nullptr;
  return 0;
}
GAPLESS_API int nvrtcCompileProgram(void*, int, const void*) { return 0; }
GAPLESS_API int nvrtcAddNameExpression(void*, const char*) { return 0; }
GAPLESS_API int nvrtcGetLoweredName(void*, const char* name, const char** lowered) {
  *lowered = strdup(name);
  return 0;
}
GAPLESS_API int nvrtcGetPTXSize(void*, std::size_t* size) { return size_of_code(size); }
GAPLESS_API int nvrtcGetPTX(void*, char* out) { return code(out); }
GAPLESS_API int nvrtcGetCUBINSize(void*, std::size_t* size) { return size_of_code(size); }
GAPLESS_API int nvrtcGetCUBIN(void*, char* out) { return code(out); }
GAPLESS_API int nvrtcGetLTOIRSize(void*, std::size_t* size) { return size_of_code(size); }
GAPLESS_API int nvrtcGetLTOIR(void*, char* out) { return code(out); }
GAPLESS_API int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = 1;
  return 0;
}
GAPLESS_API int nvrtcGetProgramLog(void*, char* out) {
  *out = '\0';
  return 0;
}
