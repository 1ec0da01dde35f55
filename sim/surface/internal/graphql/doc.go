// Package graphql reads GraphQL documents and runs them against values that are
// already there.
//
// There are two readings. The plain one asks of a document only what the
// runtime's codec puts into it: the kind of its operation, the root field and
// its alias. The strict one is an executor: a [Schema] made of the operations
// that a contract binds checks a whole document, binds arguments and variables
// to each root field, and applies selection sets to the values that come back.
//
// A contract holds no GraphQL schema. What stands in for one:
//
//   - the root types have the bound root fields, no others;
//   - a root field's arguments are those of its compiled document, typed by
//     that document's variables, and its other declared inputs;
//   - below a root field the declared output schema counts as far as it goes:
//     it tells scalars from objects and names types. What it does not mention
//     is null when the value lacks it.
//
// So names and types that only the vendor's own schema knows are not checked:
// fields below the root, input objects, enums, custom scalars, interfaces.
package graphql
