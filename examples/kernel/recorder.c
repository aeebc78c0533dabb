/* recorder.c - the recorder: where it records, rows of what runs, and three ways out of the machine

   The only file with PROF_IMPLEMENTATION. The image is in static memory. After the end of the recording it is written
   to a file of the host by semihosting, if a debugger or an emulator knows that; else to the serial port, as
   S-records, which objcopy turns into a file. And at any time, also after a crash, a debugger or QEMU's monitor can
   save the machine's memory, in which `prof recover` finds the image. */
#define PROF_IMPLEMENTATION
#include "prof_kernel.h"

enum { IMAGE_SIZE = 4 << 20, PER_LINE = 32 };

static unsigned char image[IMAGE_SIZE] __attribute__((aligned(64)));

/* A track is named after the context that first records there. */
static void recorder_name(char *text, size_t size)
{
    const char *name = context_here()->name;
    size_t i = 0;
    for (; i + 1 < size && name[i]; ++i) text[i] = name[i];
    text[i] = 0;
}

/* ---- rows: a track for each processor that says which task runs there. A fiber, which the context of the processor
        enters for a moment. */

static struct {
    uint64_t fiber[PROF_FIBER_SIZE / 8];
    uint64_t scope; /* the open one */
    unsigned long scopes;
} rows[PROCESSORS];

static prof_site row_site = {0, "", "sched", __FILE__, "", __LINE__, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};

void recorder_row(unsigned processor, const char *name)
{
    unsigned long before = processor_interrupts_off();
    prof_fiber_switch((prof_fiber *)rows[processor].fiber);
    if (rows[processor].scope) prof__end(rows[processor].scope);
    rows[processor].scope = 0;
    if (name && prof__live(&row_site)) {
        rows[processor].scope = prof__begin_text(&row_site, name);
        ++rows[processor].scopes;
    }
    prof_fiber_switch(NULL);
    processor_interrupts_restore(before);
}

/* ---- snapshots: memory for one, and for the little that prof_snapshot() needs while it copies. All of it is free
        again once each part is. */

static unsigned char copies[IMAGE_SIZE + (64 << 10)] __attribute__((aligned(64)));
static size_t copies_used, copies_parts;
static void *snapshot;
static size_t snapshot_size;

static void *recorder_allocate(size_t size)
{
    void *at = copies + copies_used;
    size = (size + 63) / 64 * 64;
    if (size > sizeof copies - copies_used) return NULL;
    copies_used += size;
    ++copies_parts;
    return memset(at, 0, size);
}

static void recorder_release(void *memory)
{
    if (memory && !--copies_parts) copies_used = 0;
}

static void must(const char *what, prof_status status)
{
    if (!status) return;
    console("kernel: %s: %s\n", what, prof_error());
    kernel_panic("recorder", (uint64_t)status, 0);
}

void recorder_snapshot(void)
{
    must("snapshot", prof_snapshot(&snapshot, &snapshot_size));
    console("kernel: has a snapshot, and records on\n");
}

/* ---- start and stop */

void recorder_start(void)
{
    static prof_config config;
    char name[] = "cpu 0: tasks";
    for (unsigned i = 0; i < PROCESSORS; ++i) {
        name[4] = (char)('0' + i);
        prof_fiber_init(rows[i].fiber, name);
    }
    config.memory = image;
    config.memory_size = sizeof image;
    config.clock_hz = processor_clock_hz();
    config.mode = PROF_FILL; /* from the beginning; PROF_RING keeps the end */
    must("start", prof_start(&config));
    prof_set_metadata("kernel", "examples/kernel");
}

void recorder_context_end(struct context *context) { prof_cpu_state_end(context->state); }

void recorder_stop(void)
{
    must("stop", prof_stop());
    for (unsigned i = 0; i < PROCESSORS; ++i) console("count: row: %u: %u\n", (unsigned long)i, rows[i].scopes);
}

/* ---- to a file of the host */

enum { HOST_OPEN = 1, HOST_CLOSE = 2, HOST_WRITE = 5, HOST_MODE_WB = 5 };

static int host_write(const char *name, const void *data, size_t size)
{
    uintptr_t open[] = {(uintptr_t)name, HOST_MODE_WB, prof__length(name)};
    long file = processor_host(HOST_OPEN, open), left;
    if (file == -1) return 0;
    uintptr_t write[] = {(uintptr_t)file, (uintptr_t)data, size}, close[] = {(uintptr_t)file};
    left = processor_host(HOST_WRITE, write); /* how many bytes were not written */
    return !processor_host(HOST_CLOSE, close) && !left;
}

/* ---- to the serial port: objcopy -I srec -O binary --gap-fill 0 */

static void record_byte(unsigned byte, unsigned *sum)
{
    processor_write("0123456789ABCDEF"[byte >> 4]);
    processor_write("0123456789ABCDEF"[byte & 15]);
    *sum += byte;
}

/* A line: its kind, the count of what follows, address, data, checksum. */
static void record(char kind, uint32_t at, const unsigned char *data, unsigned size)
{
    unsigned sum = 0;
    processor_write('S');
    processor_write(kind);
    record_byte(4 + size + 1, &sum);
    for (int shift = 24; shift >= 0; shift -= 8) record_byte(at >> shift & 255, &sum);
    for (unsigned i = 0; i < size; ++i) record_byte(data[i], &sum);
    record_byte(~sum & 255, &sum);
    processor_write('\n');
}

static int all_zero(const unsigned char *data, unsigned size)
{
    while (size && !*data) ++data, --size;
    return !size;
}

/* Leaves out lines of zeros, which most of the image is, but for the last one. */
static void serial_write(const unsigned char *data, uint32_t size)
{
    for (uint32_t at = 0; at < size; at += PER_LINE)
        if (at + PER_LINE >= size || !all_zero(data + at, PER_LINE)) record('3', at, data + at, PER_LINE);
    record('7', 0, NULL, 0);
}

int recorder_send(void)
{
    if (host_write("kernel.prof", image, sizeof image) && host_write("snapshot.prof", snapshot, snapshot_size)) {
        console("kernel: wrote kernel.prof and snapshot.prof\n");
        return 1;
    }
    console("kernel: no host to write files to: S-records\n");
    serial_write(image, sizeof image);
    return 0;
}
