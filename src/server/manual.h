// server/manual: What users read.
/* prof_server.h - v0.1 - capture on demand for prof: curl, and XProf's "Capture profile" - public domain or MIT-0
                          needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // first the headers of the formats that it shall answer with: json,
    #include "prof_xplane.h"               // xplane, which is also what XProf wants
    #include "prof_server.h"               // includes prof.h

    int main(void)
    {
        prof_server_start(9012, NULL);     // http://localhost:9012, on this machine only
        ...                                // the program, with its scopes; nothing is recorded until somebody asks
        prof_server_stop();                // or just exit
    }

Or write only the scopes, and run `PROF_SERVER=9012 ./program`. Then, while it runs,

    curl -o trace.json 'localhost:9012/trace?ms=1000'          the next second, for ui.perfetto.dev
    curl 'localhost:9012/summary?ms=1000'                      the same as a table
    curl -o last.json 'localhost:9012/save?last=5'             what led to this moment, of a program that records
    XProf, "Capture profile", service address localhost:9012   the next second in TensorBoard

WHAT IT ANSWERS                                                                                             >>server

    Two protocols on one port. HTTP/1.1 (and HTTP/2 with prior knowledge, for those who like that):

    GET /                 what there is
    GET /status           JSON: does it record, how, how full, who is capturing
    GET /trace            what happens in the next ms=1000 milliseconds, after delay=0, as format=json, prof, xplane or
                          csv; default: json if prof_chrome.h is there, else prof
    GET /summary          a table of all that is in the buffer; ms=1000: of the next second; last=5: of the last five
    GET /save             what is in the buffer already, at once; last=5: the last five seconds; format as above
    POST /pause, /resume  as prof_pause(), also of a /start; a resume only takes back what a /pause did, and so does
                          prof_server_stop()
    POST /level?level=3   as prof_set_level()
    POST /config?KEY=VALUE&...  how /start records from then on: the keys below; each /config forgets the one before
    POST /start, /stop    records from one to the other, where nothing else does, in a ring or as /config says
    POST /dump            what /start and /stop recorded, once, as format above; without a /stop it is one. finished=0:
                          what there is so far, and goes on. The client saves it; nothing is written here

    These four are MXNet's profile_process='server': set_config, set_state('run'), set_state('stop') and dump of a
    worker that wants to have its parameter server profiled. A key that names a file (filename) is refused. A program
    that records by itself goes on with its own configuration: /stop is for it to call, /dump is /save.

    Where nothing records a capture records itself, and then /trace and /summary also take buffer=64M, level=2,
    categories=net,-audio, min_duration=1us, filter_mask=0xff, mode=ring or fill, and clock=ordered, as
    prof_config_set() knows them. A parameter that is not known is an error that says so, never ignored. What an
    answer lacks (the buffer was too small, recording is paused, ...) is in its header x-prof-note: see curl -i.

    gRPC, as XProf, TensorBoard and jax.collect_profile speak it. /tensorflow.ProfilerService/Profile answers with
    xplane.pb as tool data (or as xspace, with emit_xspace), which the client saves; nothing is written here. Its
    options:

    duration_ms, start_timestamp_ns   how long, and from when on
    host_tracer_level                 the level; 0: no scopes, but what devices report
    device_tracer_level               0: no devices that are known then
    host_traceme_filter_mask          the filter mask
    advanced_configuration            the keys above, and what was claimed with prof_config_claim(). A key or value that
                                      is not known is INVALID_ARGUMENT, and named; one that is known, but means
                                      something that is not here (tpu_trace_mode), a warning on XProf's overview page
    override_hostname                 what XProf calls this host
    python_tracer_level, enable_hlo_proto, include_dataset_ops, max_events, tools, and all that says where to save
                                      are accepted and mean nothing

    Terminate ends the Profile of that session id early, with what there is. Monitor waits, too, and tells the times
    of PROFILE_STEPs; level 2 adds the summary. StartContinuousProfiling records from here on (in a ring), GetSnapshot
    answers with what is in it, StopContinuousProfiling ends that.

HOW IT CAPTURES

    A program that records already is not disturbed. A capture waits, copies the buffer, as prof_trace_live() does,
    and answers with the part of it that belongs to the time asked for: scopes that reach in are cut and marked.
    Level, categories and buffer are the program's, so a capture holds no more than the buffer does. A PROF_STATS
    session has no events: /summary shows it, /trace is refused. Captures may run at the same time; each has its own
    time.

    Where nothing records, the capture starts a session (a ring of 64 MiB, or options.capture), and frees its memory
    afterwards. Such a session is a guest: prof_start() of the program ends it, and the capture is answered with what
    it has so far; prof_stop() does not see it; a child of fork() does not inherit it. As any start it discards what
    an earlier session left in memory. Captures at the same time share it, at the highest level of all. prof_enabled()
    is 1 meanwhile.

    prof_stop() during a capture of the program's own session, prof_server_stop(), and the end of main() all end the
    capture: it is answered with what there is, and the exit waits until that is sent, but no longer than two seconds in
    which the client takes nothing of it, nor than 20 in all.
    After _exit(), abort() or a crash the connection is closed by the system.

    Cost. One thread, asleep until somebody connects: nothing at all while idle. Recording costs what it costs anyway.
    A capture takes memory for a copy of the buffer and for the answer, and the thread's time for both, which is shown
    on a track of its own, "prof server", as scopes of the category prof, level 2. It makes one answer at a time; who
    waits for the end of a capture, or reads slowly, does not keep others waiting.

SECURITY

    Whoever can connect can see names, arguments and timing of the program, make it record, at the cost of that, and
    pause its recording. Therefore:

    - It listens on the loopback addresses, 127.0.0.1 and ::1, unless options.host says otherwise; anything else is
      refused without options.token. On a machine with several users loopback is for all of them: set a token there,
      too.
    - A token is wanted in each request as `Authorization: Bearer TOKEN`, and compared in constant time. There is no
      encryption: on a network, use ssh -L 9012:localhost:9012 instead. XProf's dialog cannot send a token.
    - Web pages are kept out: without a token the Host must be a name of this machine (no DNS rebinding), and a
      request that a browser marks as another page's (Origin, Sec-Fetch-Site) is refused, whatever it asks for.
    - No path of a client is ever opened, read or written; keys of the configuration that name a file are refused.
    - Up to 16 connections, of up to 8 requests each (HTTP/1: of 8 that were sent without waiting for an answer the
      last answer closes the connection); 16 KiB of head and 64 KiB of body, in 10 seconds. When all are taken the
      oldest one without a complete request goes. An answer must be taken at 64 KiB a second, after 20 seconds of
      patience. Answers take options.max_answer of memory together (512 MiB unless it is set), buffers of captures
      options.max_buffer each, and a capture options.max_ms at most.
    - Connections take turns: each gets so many frames, or 10 ms and what was begun by then. A capture begins when its
      turn comes, so that one which is taken back before costs nothing; a connection that has taken back 32 requests
      is closed.
    - Everything a client sends is parsed in buffers of fixed size, and fuzzed (tests/fuzz_server.c).

    Descriptors are closed on exec(), and in children of fork(), which have no server. No signal is raised or handled.

ENVIRONMENT

    PROF_SERVER=9012                  listens before main() begins, for a program whose source only has scopes
    PROF_SERVER=0.0.0.0:9012          on another address, [ADDRESS]:9012 if that has colons, with
    PROF_SERVER_TOKEN=...             the token
    Errors go to stderr. Not with PROF_NO_AUTOSTART, nor with PROF_STATIC, unless PROF_AUTOSTART is set.

LIMITS

    POSIX; on Windows prof_server_start() is PROF_UNSUPPORTED, and freestanding there is none. No TLS, no compression,
    no request bodies in chunks. An answer of gRPC has at most 2 GiB.
*/
#include "prof.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */
