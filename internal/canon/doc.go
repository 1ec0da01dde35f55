// Package canon is the one JSON policy of this module.
//
// JSON is carried, not rebuilt: the key order and the number text of what a
// client, a provider or a tape says reach the other side unchanged. What is
// decided here, once:
//
//   - Keys match exactly. A duplicate key keeps its first place and its last
//     value (Lenient: what peers say) or is an error with its position
//     (Strict: this project's own files).
//   - Text has one spelling: no white space, only `"`, `\` and control
//     characters escaped, the short escapes for \b \t \n \f \r.
//   - A lone surrogate escape is carried as \udXXX; raw invalid UTF-8 is
//     refused.
//   - Numbers keep their text. Numbers made here are spelled as ECMAScript
//     spells them (1e+21, 1e-7).
//
// In memory a string that held a lone surrogate is WTF-8: the surrogate's
// three-byte form, which is never valid UTF-8 and so cannot collide.
//
// Compact text is produced by [AppendCompact]; [Members] and [Elements] walk it
// without decoding. [Parse] makes a [Value] tree where a tree is needed, [ParseLazy]
// of a large document of which parts are seldom looked at.
package canon

// MaxDepth is the deepest nesting of arrays and objects that is read. Deeper
// text is a syntax error: it has no use in an API and exhausts the stack of
// less careful readers behind this one.
const MaxDepth = 512
