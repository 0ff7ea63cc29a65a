// Host memory that the runtime gave or registered.
#pragma once

namespace gapless::cudart {

bool is_pinned(const void* pointer);

}  // namespace gapless::cudart
