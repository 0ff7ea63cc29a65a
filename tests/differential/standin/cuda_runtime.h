// PyTorch's headers want only the runtime's calls from here; NVIDIA's own file would pull in the compiler's
// headers.
#pragma once
#include <cuda_runtime_api.h>
