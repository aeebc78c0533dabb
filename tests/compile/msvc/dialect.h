/* Before a file that clang compiles as Microsoft's compiler would: MinGW's headers stand for those of Windows. They are
   for gcc and clang, so they are included here, all of them, as such. After that nothing tells the file that it is not
   Microsoft's compiler. */
#ifdef _M_IX86
#define __i386__ 1
#define _X86_ 1
#endif
#define __GNUC__ 4
#define __GNUC_MINOR__ 4
#include <_mingw.h>
#undef __MINGW_IMPORT
#define __MINGW_IMPORT extern __declspec(dllimport)
#define __USE_MINGW_ANSI_STDIO 1 /* the printf() of C99, as Microsoft's library has it now */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <winsock2.h>
#include <ws2tcpip.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <io.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#ifdef _M_IX86
#include <emmintrin.h>
#endif
#undef __forceinline /* a keyword */
#undef __thread
#undef _ReadWriteBarrier /* an intrinsic */
#undef __GNUC__
#undef __GNUC_MINOR__
#undef __clang__
#undef __x86_64__
#undef __i386__
#undef __aarch64__
#undef __SIZEOF_INT128__
#undef __BYTE_ORDER__
#undef __GCC_ATOMIC_LLONG_LOCK_FREE
#undef __ATOMIC_RELAXED
#undef __ATOMIC_ACQUIRE
#undef __ATOMIC_RELEASE
#undef __ATOMIC_ACQ_REL
#undef __ATOMIC_SEQ_CST
#undef __has_attribute
#undef __has_builtin
#undef __has_extension
#undef __has_feature
#define DIALECT 1
