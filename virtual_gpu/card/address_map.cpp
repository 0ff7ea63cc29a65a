#include "card/address_map.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace gapless::card {
namespace {

bool claim() {
  void* const begin = pointer_to(kMallocBegin);
  const Bytes size = kDeviceEnd - kMallocBegin;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(begin, size, PROT_READ | PROT_WRITE, flags, -1, 0) != begin) {
    std::fprintf(stderr,
                 "gapless: the system refuses 24 TiB of addresses for the pretend card (no memory is behind them).\n"
                 "Is there a limit (ulimit -v), or is vm.overcommit_memory 2? Lift it and run again.\n");
    std::exit(2);
  }
  madvise(begin, size, MADV_DONTDUMP);
  madvise(begin, size, MADV_NOHUGEPAGE);  // one small value must not take 2 MiB
  return true;
}

}  // namespace

void claim_addresses() {
  static const bool claimed = claim();
  (void)claimed;
}

void drop_pages(Address begin, Bytes size) {
  static const Bytes page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  const Address first = (begin + page - 1) / page * page, last = (begin + size) / page * page;
  if (first < last) madvise(pointer_to(first), last - first, MADV_DONTNEED);
}

}  // namespace gapless::card
