// server/api: The public declarations.
#ifndef PROF__SERVER_API_H
#define PROF__SERVER_API_H
#include "ground/base.h"

/* Options of the server. A structure of zeros has the defaults. prof_server_start() copies all values and strings. */
typedef struct prof_server_options {
    const char *host;           /* the address to listen on, in digits. NULL: 127.0.0.1 and ::1, with the same port. All
                                   others than loopback, such as "0.0.0.0" and "::", need a token */
    const char *token;          /* must be in each request: visible ASCII, up to 255 bytes; NULL: no token */
    uint64_t max_ms;            /* milliseconds that a capture, and its delay, may take; 0: 600000, ten minutes */
    size_t max_buffer;          /* bytes of the largest buffer that a client may ask for; 0: 256 MiB */
    size_t max_answer;          /* bytes that all answers together may have unsent; 0: 512 MiB */
    int read_only;              /* 1: refuses POST: /pause, /resume, /level, /categories, /config, /start, /stop and
                                   /dump */
    const prof_config *capture; /* how a capture records if the program does not: buffer_size, mode (ring or fill),
                                   clock, level, categories, min_duration_ns, filter_mask, no_sync and no_devices.
                                   NULL: a ring of 64 MiB */
} prof_server_options;

#if PROF_ENABLE
/* Starts a server on a TCP port, 0 to 65535. Port 0 takes any free port: prof_server_port() says which. options may be
   NULL. Returns PROF_INVALID_ARGUMENT for an invalid port or option, PROF_INVALID_STATE if a server runs already,
   PROF_IO if the port is taken, PROF_NO_MEMORY if no thread can be created, and PROF_UNSUPPORTED if another instance of
   prof records for this process: start the server there. Any thread may call the functions of this header, but no
   signal handler. PROF_FREESTANDING does not have them. */
PROF_DEF prof_status prof_server_start(int port, const prof_server_options *options);

/* Stops the server: ends all captures, sends their answers (HOW IT CAPTURES says how long that may take), and ends the
   server's thread. Returns PROF_INVALID_STATE if no server runs. */
PROF_DEF prof_status prof_server_stop(void);

/* Returns the port, or 0 if no server runs. */
PROF_DEF int prof_server_port(void);
#else
#define prof_server_start(port, options) PROF__STRIPPED(PROF_OK, PROF__USE2(port, options))
#define prof_server_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_server_port() PROF__STRIPPED(0, (void)0)
#endif

#endif /* PROF__SERVER_API_H */
