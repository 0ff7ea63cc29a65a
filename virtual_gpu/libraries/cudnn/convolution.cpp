// Convolutions by the older interface: one algorithm for each direction.
#include "abi/cudnn.h"
#include "card/settings.h"

using namespace gapless;

namespace {

int workspace(std::size_t* size) {
  *size = card::settings().cudnn_workspace;
  return 0;
}

int offer(int wanted, int* found, abi::CudnnAlgorithm* algorithms) {
  *found = wanted > 0 ? 1 : 0;
  if (wanted > 0) algorithms[0] = {1, 0, 1, card::settings().cudnn_workspace, 0, 0, {}};
  return 0;
}

}  // namespace

GAPLESS_API int cudnnGetConvolutionForwardWorkspaceSize(void*, void*, void*, void*, void*, int, std::size_t* size) {
  return workspace(size);
}
GAPLESS_API int cudnnGetConvolutionBackwardDataWorkspaceSize(void*, void*, void*, void*, void*, int,
                                                             std::size_t* size) {
  return workspace(size);
}
GAPLESS_API int cudnnGetConvolutionBackwardFilterWorkspaceSize(void*, void*, void*, void*, void*, int,
                                                               std::size_t* size) {
  return workspace(size);
}
GAPLESS_API int cudnnGetConvolutionForwardAlgorithm_v7(void*, void*, void*, void*, void*, int wanted, int* found,
                                                       abi::CudnnAlgorithm* algorithms) {
  return offer(wanted, found, algorithms);
}
GAPLESS_API int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, void*, void*, void*, void*, int wanted, int* found,
                                                            abi::CudnnAlgorithm* algorithms) {
  return offer(wanted, found, algorithms);
}
GAPLESS_API int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, void*, void*, void*, void*, int wanted, int* found,
                                                              abi::CudnnAlgorithm* algorithms) {
  return offer(wanted, found, algorithms);
}
