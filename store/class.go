package store

import "strings"

// affinity is SQLite's own classification of a declared type.
type affinity uint8

const (
	affNone affinity = iota
	affText
	affNumeric
	affInteger
	affReal
)

// class is what the values of a column are to a client of the API.
type class uint8

const (
	classAny     class = iota // no declared type, or one that says nothing
	classInteger              //
	classNumber               //
	classString               // text, dates and times too
	classBoolean              // 0 and 1 in the table, false and true in JSON
	classBlob                 // base64 in JSON
	classJSON                 // JSON text
)

// String names the class for an error.
func (c class) String() string {
	return [...]string{"any scalar", "an integer", "a number", "a string", "a boolean", "a base64 string", "any JSON value"}[c]
}

// exactClasses are the declared types whose meaning is plain. Any other is
// judged by its affinity alone, and not held against values.
var exactClasses = map[string]class{
	"int": classInteger, "integer": classInteger, "tinyint": classInteger, "smallint": classInteger,
	"mediumint": classInteger, "bigint": classInteger, "int2": classInteger, "int4": classInteger, "int8": classInteger,
	"unsigned big int": classInteger,
	"real":             classNumber, "double": classNumber, "double precision": classNumber, "float": classNumber,
	"numeric": classNumber, "decimal": classNumber, "dec": classNumber, "number": classNumber, "money": classNumber,
	"bool": classBoolean, "boolean": classBoolean,
	"date": classString, "time": classString, "datetime": classString, "timestamp": classString,
	"uuid": classString, "string": classString,
	"json": classJSON, "jsonb": classJSON,
	"any": classAny, // in STRICT tables
}

// classify derives affinity and class from a declared type, by the five rules of
// SQLite's documentation ("Determination Of Column Affinity").
func classify(decl string) (affinity, class) {
	base, _, _ := strings.Cut(strings.ToLower(decl), "(")
	base = strings.Join(strings.Fields(base), " ")
	aff := affinityOf(strings.ToLower(decl))
	if c, ok := exactClasses[base]; ok {
		return aff, c
	}
	switch {
	case aff == affText:
		return aff, classString
	case strings.Contains(base, "blob"):
		return aff, classBlob
	case aff == affReal:
		return aff, classNumber
	}
	return aff, classAny
}

func affinityOf(decl string) affinity {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(decl, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("int"):
		return affInteger
	case has("char", "clob", "text"):
		return affText
	case decl == "" || has("blob") || decl == "any":
		return affNone
	case has("real", "floa", "doub"):
		return affReal
	}
	return affNumeric
}
