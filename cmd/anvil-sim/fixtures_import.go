package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anvil-sim/anvil/internal/cli"
	"github.com/anvil-sim/anvil/internal/plural"
	"github.com/anvil-sim/anvil/store/dump"
	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/importer"
)

type importOptions struct {
	output, delimiter, dialect string
	force, into, quiet         bool
	keys, types                []string
	importer.Options
}

func newFixturesImport(s cli.Streams) *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:   "import FILE|-... --output DB",
		Short: "Make a fixture database of CSV, TSV, JSON, JSON Lines, YAML or SQL files",
		Long: `Make a fixture database of files. A folder is one table a file. Types and keys are
inferred from the rows; nothing is lost by it: a column is a number only where a
number holds every value. The database appears whole or not at all. - is stdin, and --format
says what comes through it.`,
		Example: `  anvil-sim fixtures import airports.csv -o fixtures.db
  anvil-sim fixtures import data/ -o fixtures.db --pk users=email --types zip=TEXT
  anvil-sim fixtures import dump.sql -o fixtures.db --force
  anvil-sim fixtures import more.jsonl -o fixtures.db --into --table users
  curl -s https://example.com/users.json | anvil-sim fixtures import - --format json --table users -o fixtures.db`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.WithHint(errors.New("import needs a FILE or folder, found no argument"), "run 'anvil-sim fixtures import --help' for what it takes")
			}
			return o.run(cmd, s, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the database file to make")
	f.BoolVar(&o.force, "force", false, "replace an existing database")
	f.BoolVar(&o.into, "into", false, "add to an existing database")
	f.StringVar(&o.Table, "table", "", "the table's name, for one file (default the file's name)")
	f.StringVar(&o.Format, "format", "", "csv, tsv, json, jsonl, yaml or sql (default by the file's name; needed for stdin)")
	f.StringVar(&o.delimiter, "delimiter", "", "what separates the fields of a CSV file, one character (default found in the first line)")
	f.StringVar(&o.dialect, "dialect", "", "sqlite, mysql or postgres (default found in the dump)")
	f.StringArrayVar(&o.keys, "pk", nil, "primary key: column[,column] or table=column[,column]; table= for none")
	f.StringArrayVar(&o.types, "types", nil, "types: column=TYPE or table.column=TYPE[,...]")
	f.BoolVar(&o.SkipBad, "skip-bad", false, "leave out rows that cannot be taken, and name them")
	f.BoolVar(&o.quiet, "quiet", false, "print nothing when all is well")
	return cmd
}

func (o *importOptions) run(cmd *cobra.Command, s cli.Streams, args []string) error {
	if err := o.settle(); err != nil {
		return err
	}
	o.Stdin = s.In
	if s.IsTerminal != nil && s.IsTerminal(s.Err) && !o.quiet {
		o.Progress = func(table string, rows int) { fmt.Fprintf(s.Err, "\r\x1b[K%s: %s", table, plural.Of(rows, "row")) }
	}
	for _, file := range args {
		if err := onlyRead(file, o.output); err != nil {
			return err
		}
	}
	report, err := importer.Import(cmd.Context(), o.output, args, &o.Options)
	if o.Progress != nil {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
	if errors.Is(err, fixture.ErrExists) {
		return cli.WithHint(err, "--force replaces it, --into adds to it")
	}
	if err != nil {
		return err
	}
	for _, n := range report.Notes {
		fmt.Fprintln(s.Err, "anvil-sim: note:", n)
	}
	if o.quiet {
		return nil
	}
	return printImport(s.Out, o.output, report)
}

// settle turns the options' texts into what the import takes.
func (o *importOptions) settle() error {
	switch {
	case o.output == "":
		return errors.New("--output names the database file to make, found none")
	case o.force && o.into:
		return errors.New("--force and --into exclude each other")
	case o.force:
		o.Mode = fixture.Replace
	case o.into:
		o.Mode = fixture.Into
	}
	switch o.delimiter {
	case "":
	case `\t`, "tab":
		o.Delimiter = '\t'
	default:
		if len(o.delimiter) != 1 || strings.ContainsAny(o.delimiter, "\"\r\n") {
			return fmt.Errorf("--delimiter: found %q, want one ASCII character, no quote", o.delimiter)
		}
		o.Delimiter = o.delimiter[0]
	}
	if o.dialect != "" {
		d, ok := dump.ParseDialect(o.dialect)
		if !ok {
			return fmt.Errorf("--dialect: found %q, want sqlite, mysql or postgres", o.dialect)
		}
		o.Dialect = &d
	}
	return o.settleTables()
}

// settleTables reads what --pk and --types say of tables.
func (o *importOptions) settleTables() error {
	o.Keys, o.Types = map[string][]string{}, map[string]string{}
	for _, k := range o.keys {
		table, cols, named := strings.Cut(k, "=")
		if !named {
			table, cols = "", k
		}
		o.Keys[table] = fields(cols)
		if !named && len(o.Keys[table]) == 0 {
			return fmt.Errorf("--pk: found %q, want column[,column] or table=column[,column]", k)
		}
	}
	for _, entry := range o.types {
		for _, one := range splitTypes(entry) {
			name, decl, ok := strings.Cut(one, "=")
			if !ok || name == "" || decl == "" {
				return fmt.Errorf("--types: found %q, want column=TYPE or table.column=TYPE", one)
			}
			o.Types[name] = decl
		}
	}
	return nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// splitTypes splits at commas outside parentheses: a=NUMERIC(10,2),b=TEXT.
func splitTypes(list string) (out []string) {
	depth, start := 0, 0
	for i, r := range list {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out, start = append(out, list[start:i]), i+1
		}
	}
	return append(out, list[start:])
}

func printImport(w io.Writer, output string, r *importer.Report) error {
	var b strings.Builder
	for _, t := range r.Tables {
		key := "no key"
		if len(t.Key) > 0 {
			key = "key " + strings.Join(t.Key, ", ")
		}
		skipped := ""
		if t.Skipped > 0 {
			skipped = fmt.Sprintf(", %d left out", t.Skipped)
		}
		fmt.Fprintf(&b, "%s: %s%s, %s (%s)\n", t.Name, plural.Of(t.Rows, "row"), skipped, key, strings.Join(t.Columns, ", "))
	}
	fmt.Fprintf(&b, "%s: %d table(s)\n", output, len(r.Tables))
	_, err := io.WriteString(w, b.String())
	return err
}
