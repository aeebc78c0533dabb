/* Every header of prof. */
#include "prof.h"
#include "prof_bridge.h"
#include "prof_chrome.h"
#include "prof_html.h"
#include "prof_ntff.h"
#include "prof_report.h"
#include "prof_server.h"
#include "prof_xplane.h"
