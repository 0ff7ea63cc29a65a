// The macros that the CUDA runtime's public headers expect from the toolkit's crt folder, which no package holds alone.
// For a host compiler they mean nothing.
#pragma once
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __align__(n) __attribute__((aligned(n)))
#define __annotate__(a)
#define __builtin_align__(n) __align__(n)
#define __cluster_dims__(...)
#define __constant__
#define __cudart_builtin__
#define __device__
#define __device_builtin__
#define __device_builtin_surface_type__
#define __device_builtin_texture_type__
#define __forceinline__ inline __attribute__((always_inline))
#define __global__
#define __grid_constant__
#define __host__
#define __launch_bounds__(...)
#define __location__(a)
#define __managed__
#define __maxnreg__(...)
#define __no_return__ __attribute__((noreturn))
#define __noinline__ __attribute__((noinline))
#define __shared__
