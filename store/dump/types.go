package dump

import (
	"strings"
)

// declared translates a type with its arguments: the words in lower case, and
// what stands in parentheses.
func declared(words []string, args []token) (decl string, enum []string) {
	switch words[0] {
	case "tinyint":
		if len(args) == 1 && args[0].text == "1" {
			return "BOOLEAN", nil
		}
		return "INTEGER", nil
	case "bool", "boolean":
		return "BOOLEAN", nil
	case "int", "integer", "mediumint", "int4", "int2", "serial", "smallserial", "year", "bit", "serial4", "smallint":
		return "INTEGER", nil
	case "bigint", "int8", "bigserial", "serial8":
		return "BIGINT", nil
	case "enum":
		return "TEXT", texts(args, str)
	case "set": // any combination of its words
		return "TEXT", nil
	case "nvarchar", "nchar", "national":
		return "NVARCHAR" + lengths(args), nil
	case "character", "char", "varchar", "bpchar", "varchar2":
		return "VARCHAR" + lengths(args), nil
	case "double", "float", "real", "float4", "float8":
		return "REAL", nil
	case "decimal", "numeric", "dec", "fixed", "money", "number":
		return "NUMERIC" + lengths(args), nil
	case "date":
		return "DATE", nil
	case "datetime":
		return "DATETIME", nil
	case "timestamp", "timestamptz":
		return "TIMESTAMP", nil
	case "time", "timetz", "interval", "tsvector", "xml", "inet", "cidr", "macaddr", "hstore", "name":
		return "TEXT", nil
	case "json", "jsonb":
		return "JSON", nil
	case "uuid":
		return "UUID", nil
	case "blob", "tinyblob", "mediumblob", "longblob", "bytea", "binary", "varbinary":
		return "BLOB", nil
	}
	if base := strings.Join(words, " "); strings.HasSuffix(base, "text") || base == "" {
		return "TEXT", nil
	}
	return "", nil
}

// lengths are the numbers of a type as SQL writes them: "(10,2)", or nothing.
func lengths(args []token) string {
	out := texts(args, number)
	if len(out) == 0 {
		return ""
	}
	return "(" + strings.Join(out, ",") + ")"
}

// texts are the arguments of a kind.
func texts(args []token, k kind) (out []string) {
	for _, a := range args {
		if a.kind == k {
			out = append(out, a.text)
		}
	}
	return out
}
