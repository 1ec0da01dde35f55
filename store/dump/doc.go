// Package dump reads SQL dumps: the text that sqlite3, mysqldump and pg_dump
// write, and scripts like it. It knows enough of MySQL's and PostgreSQL's SQL to
// make SQLite tables of theirs and to take the rows of INSERT and COPY; what has
// no meaning for a fixture (owners, storage engines, functions) it names and
// leaves out.
//
// SQLite's own dialect is only split into statements, which SQLite runs.
package dump
