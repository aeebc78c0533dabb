/* libprof.so: the implementation for programs and plugins that are compiled without one. `make` builds it, `make install`
   puts it beside the headers. Link with -lprof, or preload it under a program whose plugins have only markup. */
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include "prof_html.h"
#include "prof_ntff.h"
#include "prof_report.h"
#include "prof_server.h"
#include "prof_system.h"
#include "prof_xplane.h"
