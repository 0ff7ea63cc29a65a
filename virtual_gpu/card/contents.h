// What is written in device memory: true for small copies and fills, and for what was computed on the CPU; unknown
// else.
#pragma once

#include "card/address_map.h"
#include "card/export.h"

namespace gapless::card {

// As cudaMemcpy. Beyond Settings::contents_limit the copy leaves zeros, which are not known to be true.
GAPLESS_EXPORT void copy(void* to, const void* from, Bytes size);
GAPLESS_EXPORT void fill(void* begin, int value, Bytes size);

// While an operator runs whose kernels compute nothing, what it reads back of their results is zeros: sizes, mostly.
GAPLESS_EXPORT void distrust_reads(bool distrust);  // of this thread

// What was there is gone: freed, unmapped, or written by a kernel that computed nothing.
void forget(Address begin, Bytes size);

GAPLESS_EXPORT void set_known(Address begin, Bytes size, bool known);
bool is_known(Address begin, Bytes size);

}  // namespace gapless::card
