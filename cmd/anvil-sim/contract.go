package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/anvil-sim/anvil/air"
	"github.com/anvil-sim/anvil/compile"
	"github.com/anvil-sim/anvil/internal/cli"
)

// namedContract is the contract of the option, else of the environment, and
// which of the two; "" when there is none.
func namedContract(s cli.Streams, option string) (path, from string) {
	if option != "" {
		return option, "--contract"
	}
	if env := s.Getenv("ANVIL_CONTRACT"); env != "" {
		return env, "$ANVIL_CONTRACT"
	}
	return "", ""
}

// contractError says by what a contract that is not there was named; other
// errors of loading it stay as they are.
func contractError(path, from string, err error) error {
	if err == nil {
		return nil
	}
	if _, missing := os.Stat(path); !errors.Is(missing, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%s: %s does not exist, want a bundle directory, an air.yaml or air.json, or an API description", from, path)
}

// loadContract loads a contract, or compiles an API description in memory.
func loadContract(path, approve string) (*air.Document, error) {
	file, text, err := air.ReadText(path)
	if err != nil {
		return nil, err
	}
	if compile.IsDescription(text) {
		return compile.Document(path, approve)
	}
	return air.Parse(file, text)
}
