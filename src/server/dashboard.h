/* The dashboard (dashboard/index.html), built in by cmake/embed.cmake. */
#ifndef CUZK_SERVER_DASHBOARD_H
#define CUZK_SERVER_DASHBOARD_H

#include <stddef.h>

extern const unsigned char dashboard_html[]; /* NUL-terminated */
extern const size_t dashboard_html_size;     /* without the NUL */

#endif
