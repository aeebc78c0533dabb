// xplane/gzip: Compresses files for Perfetto and pprof.
#ifndef PROF__XPLANE_GZIP_H
#define PROF__XPLANE_GZIP_H
#include "ground/deflate.h"
#include "ground/out.h"

/*-- gzip, for Perfetto and pprof: RFC 1952, in independent blocks of 64 KiB --*/

#define PROF__GZIP_BLOCK 65536u

typedef struct prof__gzip {
    prof__out *out;
    uint64_t size;
    uint32_t check;
    size_t used;
    unsigned char data[PROF__GZIP_BLOCK], packing[PROF__DEFLATE_BOUND(PROF__GZIP_BLOCK)];
    prof__deflate deflate;
} prof__gzip;

static void prof__gzip_block(prof__gzip *z, int last)
{
    prof__deflate_start(&z->deflate, z->packing);
    prof__deflate_part(&z->deflate, z->data, 0, z->used, z->used, last);
    if (last) prof__deflate_end(&z->deflate);
    prof__out_bytes(z->out, z->packing, z->deflate.size);
    z->used = 0;
}

/* z: zeroed. */
static void prof__gzip_begin(prof__gzip *z, prof__out *out)
{
    static const unsigned char head[10] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};
    z->out = out;
    z->check = ~0u;
    prof__out_bytes(out, head, sizeof head);
}

static void prof__gzip_add(prof__gzip *z, const unsigned char *data, size_t size)
{
    static const uint32_t crc[16] = {0,          0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                     0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                     0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    size_t i;
    for (i = 0; i < size; i++) {
        z->check ^= data[i];
        z->check = z->check >> 4 ^ crc[z->check & 15];
        z->check = z->check >> 4 ^ crc[z->check & 15];
        if (z->used == PROF__GZIP_BLOCK) prof__gzip_block(z, 0);
        z->data[z->used++] = data[i];
    }
    z->size += size;
}

static void prof__gzip_end(prof__gzip *z)
{
    unsigned char tail[8];
    int i;
    prof__gzip_block(z, 1);
    for (i = 0; i < 4; i++) {
        tail[i] = (unsigned char)(~z->check >> 8 * i & 255);
        tail[4 + i] = (unsigned char)(z->size >> 8 * i & 255);
    }
    prof__out_bytes(z->out, tail, sizeof tail);
}

#endif /* PROF__XPLANE_GZIP_H */
