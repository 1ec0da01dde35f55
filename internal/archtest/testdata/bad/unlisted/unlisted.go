// Package unlisted stands in no table.
package unlisted
