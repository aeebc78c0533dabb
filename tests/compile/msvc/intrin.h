/* What Microsoft's header declares and neither MinGW's headers nor clang do in this dialect. */
#ifdef __cplusplus
extern "C" {
#endif
void _ReadWriteBarrier(void);
#ifdef _M_ARM64
__int64 _ReadStatusReg(int which);
void __dmb(unsigned which);
void __isb(unsigned which);
#else
#define __cpuid(to, leaf) dialect_cpuid(to, leaf)
static __forceinline void dialect_cpuid(int to[4], int leaf)
{
    __asm__("cpuid" : "=a"(to[0]), "=b"(to[1]), "=c"(to[2]), "=d"(to[3]) : "a"(leaf), "c"(0));
}
#endif
#ifdef _M_IX86
static __forceinline unsigned __int64 __rdtscp(unsigned *processor)
{
    unsigned low, high;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(*processor)::"memory");
    return (unsigned __int64)high << 32 | low;
}
#endif
#ifdef __cplusplus
}
#endif
