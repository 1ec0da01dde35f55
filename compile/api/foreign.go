package api

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/internal/canon"
)

// foreignXML tells XML formats by a word near their beginning.
var foreignXML = []struct{ word, what string }{
	{"schemas.xmlsoap.org/wsdl", "a WSDL description"}, {"www.w3.org/ns/wsdl", "a WSDL description"}, {"edmx", "OData metadata"},
	{"wadl.dev.java.net", "a WADL description"}, {"<html", "an HTML page"}, {"<!doctype html", "an HTML page"}, {"<", "XML"},
}

// foreignStarts tell formats by what they begin with.
var foreignStarts = []struct{ start, what string }{
	{"#%RAML", "a RAML description"}, {"FORMAT: 1A", "an API Blueprint"}, {"SQLite format 3\x00", "a SQLite database"}, {"PK\x03\x04", "a zip archive"},
}

// Lines that tell a format. They are compiled when an error asks for them.
const (
	protoLine   = `(?m)^\s*(?:syntax\s*=\s*["']proto[23]|edition\s*=\s*"\d+)["']\s*;`
	graphqlLine = `(?m)^(?:extend\s+)?(?:(?:type|interface|input|enum)\s+\w+[^:\n]*\{|schema\b[^:\n]*\{|(?:scalar|union)\s+\w+\b[^:\n]*$|directive\s+@\w+)`
)

// maxForeign is how much of a text is looked at, in bytes.
const maxForeign = 256 << 10

// Foreign says what a text is that is neither a contract nor a description that
// is read, as "a GraphQL schema"; "" when nothing tells. It may be gzipped.
func Foreign(data []byte) string {
	text, err := air.Unzip("", data)
	if err != nil {
		return ""
	}
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	head := text[:min(len(text), maxForeign)]
	if what := foreignText(head); what != "" {
		return what
	}
	tree, err := air.ReadTree("", text)
	if err != nil {
		return ""
	}
	return foreignTree(tree)
}

func foreignText(head []byte) string {
	for _, f := range foreignStarts {
		if bytes.HasPrefix(head, []byte(f.start)) {
			return f.what
		}
	}
	if bytes.HasPrefix(head, []byte("<")) {
		near := bytes.ToLower(head[:min(len(head), 4<<10)])
		for _, f := range foreignXML {
			if bytes.Contains(near, []byte(f.word)) {
				return f.what
			}
		}
	}
	switch {
	case regexp.MustCompile(protoLine).Match(head):
		return "a protobuf definition"
	case regexp.MustCompile(graphqlLine).Match(head):
		return "a GraphQL schema"
	}
	return ""
}

// foreignTree says what a document of another format is.
func foreignTree(v *Value) string {
	info := v.Get("info")
	switch {
	case strings.HasPrefix(v.Get("kind").Text(), "discovery#"):
		return "a Google Discovery document"
	case strings.Contains(info.Get("schema").Text(), "postman") || info.Get("_postman_id") != nil:
		return "a Postman collection"
	case v.Get("log").Get("entries") != nil:
		return "a HAR file"
	case v.Get("asyncapi") != nil:
		return "an AsyncAPI description"
	case v.Get("openrpc") != nil:
		return "an OpenRPC description"
	case v.Get("arazzo") != nil:
		return "an Arazzo description"
	case v.Get("swaggerVersion") != nil:
		return "a Swagger 1 description"
	case v.Get("__schema") != nil || v.Get("data").Get("__schema") != nil:
		return "the introspection of a GraphQL schema"
	case v.Get("interactions").Is(canon.Array), v.Get("http_interactions").Is(canon.Array):
		return "a recording"
	case v.Get("_type").Text() == "export":
		return "an Insomnia export"
	case v.Get("$schema") != nil && v.Get("service") == nil:
		return "a JSON Schema"
	}
	return ""
}
