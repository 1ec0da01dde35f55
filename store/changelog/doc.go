// Package changelog remembers what each call changed in a database, and takes
// the changes of later calls back: the state as it was after any call.
//
// # Keeping it
//
// A [Log] puts temporary triggers on the tables that a connection writes. They
// note each row as it was before it is changed, in a database of the connection's
// own: the file that is written has no trace of the log. [Mark] begins a call. What SQL, the fixture's own triggers, foreign keys with actions
// or full-text tables change is noted alike, and what is rolled back is not.
//
// # Reading it
//
// A saved state carries its log ([Save]): anvil_log has one row for each call that
// wrote, by its position in the order of commits, and anvil_log_TABLE the rows of
// one table as they were before a call changed them. [Rewind] takes back what came
// after a call: each touched row becomes what its first note says. The cost is
// that of the later changes, not that of the database.
//
// Tables with these names are no content: see [fixture.LogTable].
package changelog
