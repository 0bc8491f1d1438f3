/*
 * The database of a journal: `jobs.db` in the state directory, an SQLite file of one table (docs/formats.md).
 * A new one is made beside it and renamed, so a jobs.db that exists is a whole one; what it is shows in its
 * header, which is read before SQLite may touch the file.
 */
#ifndef CUZK_SERVER_JOURNAL_DB_H
#define CUZK_SERVER_JOURNAL_DB_H

#include <sqlite3.h>

#include "base/error.h"

/* Open the database of `directory`, or make it. The caller holds the directory's lock and uses the connection
 * from one thread at a time. CUZK_ERR_INPUT: it is something else, of a newer schema, or damaged; it is left
 * as it was. CUZK_ERR_RESOURCES: the disk or the system refused. */
cuzk_code journal_db_open(sqlite3 **out, const char *directory, cuzk_error *err);

/* The error that the last call on `db` ended with. */
cuzk_code journal_db_error(sqlite3 *db, const char *doing, cuzk_error *err);

#endif
