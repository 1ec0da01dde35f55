// Package store is the fixture database: a SQLite file as the whole state of a
// simulated API, and the provider that answers from it.
//
// [Open] takes a private copy, so the file that was given never changes. With a
// contract in hand, each operation is mapped to a table by rule (see mapping.go);
// without one, [DB.Contract] derives a contract from the tables themselves.
//
// What happens in a call:
//
//	request -> target (which table, key, filters) -> query or write -> row bytes
//
// Where to look: mapping.go, rpc.go, binding.go (which table and row), mapfile.go,
// mapcompile.go, mapop.go, customsql.go (the map), params.go, compare.go,
// sorting.go, search.go, odata.go, jql.go (what a list asks), filter.go, order.go,
// query.go, cursor.go (its SQL), declared.go, shapebuild.go, shape.go (rows as the
// contract has them), body.go, faults.go, ids.go, stamps.go, write.go (writes),
// meta.go, refusal.go (why an answer is as it is), tenants.go (copies, reset), snapshot.go (saved states, the
// change log).
//
// # Determinism
//
// Equal files and equal call sequences give equal answers. Rows are ordered by
// primary key, clocks and random functions of SQL are driven by the seed and the
// position of the call (see clock.go).
//
// # Concurrency
//
// Reads run side by side on their own connections and never wait for the one
// writer. Each call is one transaction.
package store
