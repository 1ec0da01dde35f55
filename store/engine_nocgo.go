//go:build !cgo

package store

import "errors"

func openEngine(string) (engine, error) {
	return nil, errors.New("this program was built without cgo, which SQLite needs; build it with CGO_ENABLED=1 and a C compiler")
}

func faultOf(error) fault { return faultOther }
