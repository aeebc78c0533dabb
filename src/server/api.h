// server/api: Declarations.
/* All zero is the default. Everything is copied. */
typedef struct prof_server_options {
    const char *host;           /* the address to listen on, in digits; null: 127.0.0.1 and ::1, of one port. "0.0.0.0",
                                   "::" and any other that is not loopback need a token */
    const char *token;          /* wanted in each request: visible ASCII, up to 255 bytes; null: none */
    uint64_t max_ms;            /* how long a capture, and its delay, may be; 0: 600000, ten minutes */
    size_t max_buffer;          /* how large a buffer a client may ask for, in bytes; 0: 256 MiB */
    size_t max_answer;          /* bytes of all answers together that are not sent yet; 0: 512 MiB */
    int read_only;              /* 1: no POST: /pause, /resume, /level, /config, /start, /stop, /dump */
    const prof_config *capture; /* how a capture records when the program does not: buffer_size, mode (ring or fill),
                                   clock, level, categories, min_duration_ns, filter_mask, no_sync and no_devices; null:
                                   64 MiB */
} prof_server_options;

#if PROF_ENABLE
/* Listens on a TCP port; 0: on any that is free, see prof_server_port(). options may be null. PROF_INVALID_STATE: there
   is a server already; PROF_IO: the port is taken; PROF_UNSUPPORTED: not on this platform. Any thread, as all of these;
   not from signal handlers. Not PROF_FREESTANDING. */
PROF_DEF prof_status prof_server_start(int port, const prof_server_options *options);

/* Answers what is being captured with what there is, waits as the end of main() does, and ends the thread.
   PROF_INVALID_STATE: there is no server. */
PROF_DEF prof_status prof_server_stop(void);

/* The port; 0: there is no server. */
PROF_DEF int prof_server_port(void);
#else
#define prof_server_start(port, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(port, options))
#define prof_server_stop() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_server_port() PROF__STRIPPED(0, (void)0)
#endif
