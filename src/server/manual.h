// server/manual: The manual for users.
/* prof_server.h - capture on demand for prof: curl, browsers, XProf's "Capture profile" - public domain or MIT-0
                   needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // first the headers of the formats that it can answer with: json,
    #include "prof_xplane.h"               // xplane, which XProf needs,
    #include "prof_html.h"                 // and html, with which browsers get a live page
    #include "prof_server.h"               // includes prof.h

    int main(void)
    {
        prof_server_start(9012, NULL);     // http://localhost:9012, on this machine only
        ...                                // the program, with its scopes; nothing is recorded until somebody asks
        prof_server_stop();                // or just exit
    }

Or leave these two calls out, and run `PROF_SERVER=9012 ./program`. Then, while it runs,

    curl -o trace.json 'localhost:9012/trace?ms=1000'          the next second, for ui.perfetto.dev
    curl 'localhost:9012/summary?ms=1000'                      the same as a table
    curl -o last.json 'localhost:9012/save?last=5'             what led to this moment, of a program that records
    http://localhost:9012 in a browser                         the last seconds, live; prof view --live localhost:9012
    XProf, "Capture profile", service address localhost:9012   the next second in TensorBoard

WHAT IT ANSWERS                                                                                             >>server

    It speaks two protocols on one port. HTTP/1.1 (and HTTP/2 with prior knowledge):

    GET /                 lists these paths; for a browser, if prof_html.h is included: the live page
    GET /live             what that page reads, see LIVE
    GET /status           JSON: whether and how the program records, how full the buffer is, which captures run
    GET /trace            captures the next ms=1000 milliseconds, after delay=0 milliseconds, as format=json, prof,
                          xplane, csv or html; default: json if prof_chrome.h is included, else prof
    GET /summary          a table of all that is in the buffer; ms=1000: of the next second; last=5: of the last five
    GET /save             what is in the buffer already, without waiting; last=5: the last five seconds; format as above
    POST /pause, /resume  like prof_pause(), also for a recording of /start. /resume only undoes a /pause, and
                          prof_server_stop() does so as well
    POST /level?level=3   like prof_set_level()
    POST /categories?off=audio&on=net   like prof_category_enable(), one after the other
    POST /config?KEY=VALUE&...  how /start records from then on: the keys below. Each /config replaces the previous one
    POST /start, /stop    start and end a recording, if nothing else records: in a ring, or as /config says
    POST /dump            answers once with what was recorded from /start to /stop, in the format above, and stops the
                          recording if it runs. finished=0: what was recorded so far; the recording goes on. The client
                          saves the answer; the program writes no file

    /config, /start, /stop and /dump are MXNet's profile_process='server': set_config, set_state('run'),
    set_state('stop') and dump of a worker that profiles its parameter server. A key that names a file (filename) is
    refused. A program that records by itself goes on with its own configuration: only it can stop, and /dump is /save.

    If nothing records, a capture starts a recording of its own. Then /trace and /summary also take buffer=64M, level=2,
    categories=net,-audio, min_duration=1us, filter_mask=0xff, mode=ring or fill, and clock=ordered, as
    prof_config_set() does. An unknown parameter is an error, and the answer names it. The answer's header x-prof-note
    says what is missing in it, and why (the buffer was too small, recording is paused, ...): see curl -i.

    gRPC, as XProf, TensorBoard and jax.collect_profile use it. /tensorflow.ProfilerService/Profile answers with
    xplane.pb as tool data (or as xspace, with emit_xspace). The client saves it; the program writes no file. Its
    options:

    duration_ms, start_timestamp_ns   how long, and from when on
    host_tracer_level                 the level; 0: no scopes, but what devices report
    device_tracer_level               0: leaves out the devices that are known when the capture begins
    host_traceme_filter_mask          the filter mask
    advanced_configuration            the keys above, and those claimed with prof_config_claim(). For an unknown key or
                                      value the answer is INVALID_ARGUMENT, which names it. A known key that has no
                                      meaning here (tpu_trace_mode) is a warning on XProf's overview page
    override_hostname                 what XProf calls this host
    python_tracer_level, enable_hlo_proto, include_dataset_ops, max_events, tools, and options that say where to save
                                      are accepted and do nothing

    Terminate ends the Profile of a session id early; its answer has what was recorded so far. Monitor waits as well,
    and answers with the times of PROFILE_STEPs; level 2 adds the summary. StartContinuousProfiling starts a recording
    in a ring, GetSnapshot answers with what is in it, StopContinuousProfiling ends it.

HOW IT CAPTURES

    A capture does not disturb a program that already records. It waits, copies the buffer as prof_trace_open_live()
    does, and answers with the part that belongs to the time asked for; scopes that reach into that time are cut and
    marked. Level, categories and buffer are the program's, so that a capture holds no more than the buffer does. A
    PROF_STATS session has no events: /summary shows it, /trace is refused. Several captures may run at the same time,
    each with its own begin and end.

    If nothing records, the capture starts a session (a ring of 64 MiB, or options.capture), and frees its memory
    afterwards. Such a session is on demand: prof_start() of the program ends it, and the answer has what was captured
    until then; prof_stop() does not see it; a child of fork() does not inherit it. Like any start it discards what an
    earlier session left in memory. Captures at the same time share it, with the highest of their levels. prof_enabled()
    is 1 meanwhile.

    prof_stop() during a capture of the program's own session, prof_server_stop(), and the end of main() all end the
    capture. Its answer has what was captured so far. The exit waits until that is sent, but at most two seconds if the
    client reads nothing, and at most 20 seconds in all. After _exit(), abort() or a crash the system closes the
    connection.

    Cost. One thread, which sleeps until somebody connects, and costs nothing while idle. Recording costs what it always
    costs. A capture takes memory for a copy of the buffer and for the answer, and the thread's time for both. The track
    "prof server" shows that time, as scopes of the category prof, level 2. The thread makes one answer at a time, but a
    client that waits for the end of a capture, or reads slowly, does not delay others.

LIVE                                                                                                          >>live

    The page at / is that of prof_html.h. It shows the last seconds as they pass. Pause, or a click into them, stops
    that, and everything on the page works on what is shown; Go on shows what is new. It keeps 30 s, or 2 million
    scopes. It also saves the last 5 s of the buffer as a report or as a .prof, sets the level, turns categories on and
    off, and says what is missing, and why: it, or the server, was too slow; the ring was overwritten before it was
    read; recording was paused, stopped, or began anew; the program was killed. A child of fork() has no server, and is
    not on the page.

    The page reads one answer, /live, which goes on until the connection ends: docs/internals/html.md has its format. If
    nothing records when it begins, a session on demand starts, as for a capture, with the same parameters, and ends
    when nobody watches any more: http://localhost:9012/?categories=net&level=1. Its ring has 8 MiB, unless
    options.capture or buffer=64M says otherwise: the larger it is, the longer each look takes, and the rarer they are.
    When a session of the program ends, /live waits for the next one: it does not discard what was recorded.

    Four times a second the thread copies the buffer and reads all of it, for what is new. It looks less often where
    that takes longer than 25 ms, so that it takes no more than a tenth of a processor, but at least every 5 s: a full
    ring of 8 MiB takes 20 ms at 2.3 GHz, one of 64 MiB 180 ms, so that the page moves on every 1.8 s. While the client
    has not read a period, no other is sent: the next one then has everything since, up to 3 s or two periods, whichever
    is longer; the rest is left out and counted. A client that reads nothing for 60 s is closed. Four clients can watch
    at once.

    A period lacks events that reach the buffer more than 20 ms late, as those of devices may; /save has them. In mode
    stream, and where a ring was overwritten, it also lacks scopes that began before what the buffer still has: the
    scopes inside them are shown one level higher.

SECURITY

    Whoever can connect can see names, arguments and timing of the program, make it record, which costs time and memory,
    and pause its recording. Therefore:

    - The server listens on the loopback addresses, 127.0.0.1 and ::1, unless options.host says otherwise; any other
      address needs options.token. On a machine with several users all of them can use loopback: set a token there, too.
    - A token must be in each request as `Authorization: Bearer TOKEN`, and is compared in constant time. A browser asks
      its user: the token is the password, with any name (`Authorization: Basic`, base64 of NAME:TOKEN). There is no
      encryption: on a network, use ssh -L 9012:localhost:9012 instead. XProf's dialog cannot send a token.
    - Web pages are refused: without a token the Host must be a name of this machine (no DNS rebinding; with a token it
      may be any, because a browser sends a token only to the name for which its user gave it), and a request that a
      browser marks as another page's (Origin, Sec-Fetch-Site) is refused, whatever it asks for. A browser that knows
      the token may send it with a GET of another page, and marks that only on loopback: on any other address, such a
      page can begin captures, but not read them. A request in which one of these fields, or one that says how long
      the body is, comes twice is answered with 400: another program on the way may believe the other one.
    - The server never opens a path that a client sends; keys of the configuration that name a file are refused.
    - It accepts 16 connections, each with 8 requests at a time (HTTP/1: after 8 requests that were sent without waiting
      for an answer it closes the connection), 16 KiB of head and 64 KiB of body, which must arrive in 10 seconds. If
      all connections are taken, the oldest one without a complete request is closed. After 20 seconds, a client must
      have read 64 KiB of its answer for each further second. All answers together take at most options.max_answer of
      memory (512 MiB unless it is set), the buffer of a capture at most options.max_buffer, and a capture lasts at most
      options.max_ms.
    - Connections take turns: a turn ends after a limited number of frames, or after 10 ms. A capture begins in its
      turn, so that one that is cancelled before costs nothing. A connection that has cancelled 32 requests is closed.
    - Everything a client sends is parsed in buffers of fixed size, and fuzzed (tests/fuzz_server.c).

    Descriptors are closed on exec(), and in children of fork(), which have no server. No signal is raised or handled.

ENVIRONMENT

    PROF_SERVER=9012                  listens before main() begins, for a program whose source only has scopes
    PROF_SERVER=0.0.0.0:9012          on another address, [ADDRESS]:9012 if that has colons; needs a token
    PROF_SERVER_TOKEN=...             the token that each request must have
    Errors go to stderr. Not with PROF_NO_TEXT, nor with PROF_STATIC, unless PROF_AUTOSTART is set.

LIMITS

    The server runs on POSIX systems and on Windows, not freestanding. On Windows, link ws2_32, and include winsock2.h
    before windows.h or define WIN32_LEAN_AND_MEAN; a DLL must call prof_server_stop() before it is unloaded. There is
    no TLS, no compression, no request body in chunks, and no /live over HTTP/2. An answer of gRPC has at most 2 GiB.
*/
