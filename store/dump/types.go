package dump

import (
	"strings"
)

// declared translates a type with its arguments: the words in lower case, and
// what stands in parentheses.
func declared(words []string, args []token) (decl string, enum []string) {
	base := strings.Join(words, " ")
	numbers := func() string {
		var out []string
		for _, a := range args {
			if a.kind == number {
				out = append(out, a.text)
			}
		}
		if len(out) == 0 {
			return ""
		}
		return "(" + strings.Join(out, ",") + ")"
	}
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
	case "enum", "set":
		for _, a := range args {
			if a.kind == str {
				enum = append(enum, a.text)
			}
		}
		if words[0] == "set" {
			enum = nil // any combination
		}
		return "TEXT", enum
	case "nvarchar", "nchar", "national":
		return "NVARCHAR" + numbers(), nil
	case "character", "char", "varchar", "bpchar", "varchar2":
		return "VARCHAR" + numbers(), nil
	case "double", "float", "real", "float4", "float8":
		return "REAL", nil
	case "decimal", "numeric", "dec", "fixed", "money", "number":
		return "NUMERIC" + numbers(), nil
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
	if strings.HasSuffix(base, "text") || base == "" {
		return "TEXT", nil
	}
	return "", nil
}
