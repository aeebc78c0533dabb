/* Macros that headers of real programs define: those of Windows, X11, Unreal, zlib, kernels, and of any game. */
#define IN
#define OUT
#define CONST const
#define VOID void
#define BOOL int
#define TRUE 1
#define FALSE 0
#define ERROR 0
#define DELETE 0x10000
#define near
#define far
#define small char
#define interface struct
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define TEXT(x) L##x
#define _T(x) L##x

#define None 0L
#define Bool int
#define Status int
#define Success 0
#define Always 2

#define check(x) ((void)(x))
#define verify(x) ((void)(x))
#define PI 3.14f
#define UPROPERTY(...)

#define local static
#define internal static
#define global
#define persist static

#define noinline __attribute__((__noinline__))
#define weak __attribute__((__weak__))
#define hidden __attribute__((__visibility__("hidden")))
#define unused __attribute__((__unused__))
#define packed __attribute__((__packed__))
#define aligned(x) __attribute__((__aligned__(x)))
#define section(x) __attribute__((__section__(x)))
#define format(x) x
#define cleanup(x) x
#define constructor __attribute__((__constructor__))
#define destructor __attribute__((__destructor__))
#define visibility polluted
#define may_alias polluted
#define no_instrument_function polluted
#define unavailable polluted
#define require_constant_initialization polluted
#define tls_model(x) polluted
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define PAGE_SIZE 4096
#define BIT(n) (1u << (n))

#define T int
#define N 100
#define M 10
#define S "s"
#define D 3
#define P 4
#define U 5
#define EVENT 1
#define SCOPE 2
#define STATE 3
#define ON 1
#define OFF 0
#define KB 1024
#define DEBUG 1
#define LOG(...) ((void)0)
#define CHECK(x) ((void)(x))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))
#define countof(a) (sizeof(a) / sizeof *(a))
#define swap(a, b)
#define u8 unsigned char
#define u32 unsigned
#define f32 float
