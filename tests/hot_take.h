/* hot_take.h - for the programs of tests/test_hot.sh: prints what hot_image reads. take() is a sample of the line that
   calls it, whose callers it finds by frame pointers, on processors where these are simple. */
#ifndef HOT_TAKE_H
#define HOT_TAKE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline))
#endif

static unsigned long long take_ns = 1000;
static volatile int take_sink;

static void print_callers(void **frame)
{
    for (int depth = 0; frame && depth < 30 && frame[1]; ++depth) {
        printf(" %llx", (unsigned long long)(uintptr_t)frame[1]);
        if ((void **)*frame <= frame) return;
        frame = (void **)*frame;
    }
}

APART static void take(int times)
{
    while (times-- > 0) {
        take_ns += 1000000; /* that it stands for: PERIOD of hot_image.c */
        printf("sample %llu 7 %llx", take_ns++, (unsigned long long)(uintptr_t)__builtin_return_address(0) - 1);
#if defined __x86_64__ || defined __i386__ || defined __aarch64__
        print_callers((void **)*(void **)__builtin_frame_address(0));
#endif
        printf("\n");
    }
    take_sink++;
}

static void take_begin(const char *name, const char *function)
{
    printf("begin %llu %s %s\n", take_ns++, name, function);
}
static void take_end(void) { printf("end %llu\n", take_ns++); }

static void print_build_id(const char *at, const char *end)
{
    while (end - at > 12) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
        const unsigned char *bytes = (const unsigned char *)at + sizeof *note + ((note->n_namesz + 3) & ~3u);
        if (note->n_type == 3 && note->n_namesz == 4 && !memcmp(at + sizeof *note, "GNU", 4)) {
            for (unsigned i = 0; i < note->n_descsz; ++i) printf("%02x", bytes[i]);
            return;
        }
        at = (const char *)bytes + ((note->n_descsz + 3) & ~3u);
    }
    printf("-");
}

static int print_module(struct dl_phdr_info *info, size_t size, void *user)
{
    const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : (const char *)user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *at = &info->dlpi_phdr[i], *note = NULL;
        if (at->p_type != PT_LOAD || !(at->p_flags & PF_X)) continue;
        printf("module %llx %llx %llx 0 ", (unsigned long long)(info->dlpi_addr + at->p_vaddr),
               (unsigned long long)(info->dlpi_addr + at->p_vaddr + at->p_memsz), (unsigned long long)at->p_offset);
        for (int j = 0; j < info->dlpi_phnum && !note; ++j)
            if (info->dlpi_phdr[j].p_type == PT_NOTE && info->dlpi_phdr[j].p_align == 4) note = &info->dlpi_phdr[j];
        if (note) print_build_id((const char *)(info->dlpi_addr + note->p_vaddr),
                                 (const char *)(info->dlpi_addr + note->p_vaddr + note->p_memsz));
        else printf("-");
        printf(" %s\n", path);
    }
    return 0;
}

/* Prints modules and the thread. */
static void take_start(void)
{
    static char path[2000];
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) exit(2);
    printf("pid %d %s\n", (int)getpid(), getenv("BOOT") ? getenv("BOOT") : "-");
    dl_iterate_phdr(print_module, path);
    printf("thread 7 main\n");
}
#endif
