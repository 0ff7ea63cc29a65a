// A stand-in for the management library, which the out-of-memory message asks who else is on the card:
// this process with 3 GiB, and another with 123,456,789 bytes.
#include <unistd.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3 };
struct process {
  unsigned pid;
  unsigned long long used_bytes;
};

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  static char card;
  *device = &card;
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, struct process* processes) {
  *count = 2;
  processes[0] = (struct process){getpid(), 3ull << 30};
  processes[1] = (struct process){4242, 123456789};
  return SUCCESS;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return SUCCESS;
}
int nvmlDeviceGetGpuFabricInfoV(void) { return SUCCESS; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void) { return NOT_SUPPORTED; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void) { return NOT_SUPPORTED; }
