#include "libraries/cudart/errors.h"

#include "card/results.h"

namespace {

thread_local int last_error = 0;

}  // namespace

namespace gapless::cudart {

int result(int error) {
  if (error != 0) last_error = error;
  return error;
}

}  // namespace gapless::cudart

GAPLESS_API int cudaGetLastError() {
  const int error = last_error;
  last_error = 0;
  return error;
}
GAPLESS_API int cudaPeekAtLastError() { return last_error; }
GAPLESS_API const char* cudaGetErrorName(int error) { return gapless::card::text_of(error).runtime_name; }
GAPLESS_API const char* cudaGetErrorString(int error) { return gapless::card::text_of(error).text; }
