/* What CUPTI's headers use of CUDA's: just enough to compile them for tests/compile/cupti.sh, which looks at nothing of
   it. The folder also stands for the other headers of CUDA that they include. */
#ifndef TESTS_CUPTI_CUDA_H
#define TESTS_CUPTI_CUDA_H
#include <stddef.h>
#include <stdint.h>
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUmod_st *CUmodule;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef int CUdevice, CUresult, CUdevice_attribute, CUgraphNodeType, CUstreamAttrID, CUfunc_cache;
typedef struct CUaccessPolicyWindow_st CUaccessPolicyWindow;
typedef struct CUevent_st *CUevent;
typedef struct CUuuid_st { char bytes[16]; } CUuuid;
typedef struct CUstreamAttrValue_st { uint64_t words[8]; } CUstreamAttrValue;
#endif
