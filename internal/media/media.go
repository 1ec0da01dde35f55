// Package media tells what a body is by its content type.
package media

import "strings"

// Type is the media type of a content type: lower case, without parameters and the
// space around it; "" for "".
func Type(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// JSON reports whether a media type, as Type gives it, is that of a JSON text.
func JSON(t string) bool {
	return t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json")
}

// Binary reports whether a body of a media type, as Type gives it, is bytes that are
// no text: what a provider and a trace are told of in base64. A type that is not
// known is taken for text.
func Binary(t string) bool {
	switch t {
	case "application/octet-stream", "application/pdf", "application/zip", "application/gzip", "application/x-gzip", "application/x-tar",
		"application/protobuf", "application/x-protobuf":
		return true
	}
	family, _, _ := strings.Cut(t, "/")
	return (family == "image" || family == "audio" || family == "video" || family == "font") && !strings.HasSuffix(t, "+xml")
}
