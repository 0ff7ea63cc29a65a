// Small objects behind the handles that libraries give out. They live at fixed places, so that runs repeat to the
// address, and are never freed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "card/export.h"

namespace gapless::card {

GAPLESS_EXPORT void* object_memory(std::size_t size);  // zeroed
GAPLESS_EXPORT std::uint64_t next_id();                // 1, 2, ...

template <class T>
T* make_object() {
  return new (object_memory(sizeof(T))) T;
}

// For objects of which nothing but their identity is ever used.
inline void* make_handle() { return object_memory(512); }

}  // namespace gapless::card
