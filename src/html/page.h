// html/page: The page as strings.
#ifndef PROF__HTML_PAGE_H
#define PROF__HTML_PAGE_H
#include "ground/base.h"

/* The page up to where its data begin. */
static const char *const prof__html_page[] = {
    /* the lines of html/index.html */
    NULL};

/* The part of the page that only prof_server.h serves. */
static PROF__UNUSED const char *const prof__html_live[] = {
    /* the lines of html/live.html */
    NULL};

#endif /* PROF__HTML_PAGE_H */
