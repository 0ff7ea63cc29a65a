// The last error of each thread, as the CUDA runtime keeps it.
#pragma once

namespace gapless::cudart {

// Remembers a failure, and gives it back.
int result(int error);

}  // namespace gapless::cudart
