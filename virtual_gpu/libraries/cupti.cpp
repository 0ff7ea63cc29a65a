// CUPTI: the profiling interface is there and has nothing to report.
#include "abi/runtime.h"

GAPLESS_API int cuptiGetVersion(unsigned* version) {
  *version = GAPLESS_CUDA_MAJOR == 13 ? 130000 : 24;
  return 0;
}
GAPLESS_API int cuptiGetResultString(int, const char** text) {
  *text = "not supported on the pretend card";
  return 0;
}
