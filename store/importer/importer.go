package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/store/dump"
	"github.com/anvil-sim/anvil/store/fixture"
)

// Options change how files are imported. The zero value and nil are the defaults.
type Options struct {
	// Mode says what happens where the database file exists.
	Mode fixture.Mode
	// Table is the table's name when one file is imported that names none. "" is
	// the file's name.
	Table string
	// Format is csv, tsv, json, jsonl, yaml or sql for every file; "" goes by the
	// files' names.
	Format string
	// Delimiter separates a CSV file's fields; 0 finds it in the first line.
	Delimiter byte
	// Dialect is the SQL dialect of dumps; nil finds it in the text.
	Dialect *dump.Dialect
	// Types gives columns a type: "column" or "table.column" to a type as SQLite
	// declares it. Every entry must name a column that is there.
	Types map[string]string
	// Keys gives tables their primary key: table, or "" for every table that has
	// the columns, to columns. An empty list is no key.
	Keys map[string][]string
	// SkipBad leaves out rows that cannot be taken and reports them.
	SkipBad bool
	// Stdin is read where a path is "-"; Format must say what it is. Its tables are
	// called "stdin" where neither the content nor Table names them. Nil: there is
	// none.
	Stdin io.Reader
	// Progress hears how many rows of a table were taken, now and then. Nil hears
	// nothing.
	Progress func(table string, rows int)
}

// A Report says what was imported.
type Report struct {
	Tables []TableReport // in the order of the files
	// Notes say what was left out or looks wrong: parts of a dump that have no
	// meaning here, rows that refer to rows which are not there.
	Notes []string
}

// A TableReport says what a table was made of.
type TableReport struct {
	Name, File string
	Rows       int
	Skipped    int
	Columns    []string // "name TYPE"
	Key        []string
}

// Import makes or extends the database file at out from files and folders. A
// folder holds one table a file; a file schema.sql in it, as an export writes
// one, makes the tables first. Nothing is written when anything fails.
//
// A *[BadRowsError] names rows that cannot be taken.
func Import(ctx context.Context, out string, paths []string, opts *Options) (report *Report, err error) {
	im := &importer{ctx: ctx, report: &Report{}, asked: map[string]bool{}}
	if opts != nil {
		im.opts = *opts
	}
	stdin, paths, err := takeStdin(paths, &im.opts)
	defer func() { err = errors.Join(err, stdin.remove()) }()
	if err != nil {
		return nil, err
	}
	if report, err = im.run(out, paths); err != nil {
		return nil, stdin.rename(err)
	}
	for i := range report.Tables {
		report.Tables[i].File = stdin.shown(report.Tables[i].File)
	}
	for i := range report.Notes {
		report.Notes[i] = stdin.shown(report.Notes[i])
	}
	return report, nil
}

func (im *importer) run(out string, paths []string) (*Report, error) {
	if err := im.open(paths); err != nil {
		return nil, err
	}
	err := fixture.Build(im.ctx, out, im.opts.Mode, im.fill)
	var bad *BadRowsError
	if errors.As(err, &bad) {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	return im.report, nil
}

type importer struct {
	ctx    context.Context
	opts   Options
	report *Report
	dumps  []string // SQL files
	tables []*table
	db     *fixture.DB
	asked  map[string]bool // entries of Types and Keys that met a column
	late   []string        // statements that wait for the rows: indexes, views, triggers
	made   []*inferred     // tables that this import made from rows
}

// open finds the files and looks into each.
func (im *importer) open(paths []string) error {
	files, err := expand(paths, im.opts.Format)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := im.openFile(f, len(files) == 1); err != nil {
			return err
		}
	}
	for i, t := range im.tables {
		for _, other := range im.tables[:i] {
			if strings.EqualFold(t.name, other.name) {
				return fmt.Errorf("%s and %s both hold the table %q; import them one after the other, the second with --into",
					other.file, t.file, t.name)
			}
		}
	}
	return nil
}

type inputFile struct{ path, format, name string }

// formats are the endings of the names of files that can be imported.
var formats = map[string]string{
	".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl",
	".yaml": "yaml", ".yml": "yaml", ".sql": "sql",
}

const formatList = "csv, tsv, json, jsonl, yaml or sql"

func expand(paths []string, format string) (files []inputFile, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist", p)
		}
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			inside, err := folder(p, format)
			if err != nil {
				return nil, err
			}
			files = append(files, inside...)
			continue
		}
		f, ok := input(p, format)
		if !ok {
			return nil, fmt.Errorf("%s: the name does not say what the file is; say it with --format %s", p, formatList)
		}
		files = append(files, f)
	}
	return files, nil
}

func input(path, format string) (inputFile, bool) {
	ext := filepath.Ext(path)
	if format == "" {
		format = formats[strings.ToLower(ext)]
	}
	return inputFile{path, format, strings.TrimSuffix(filepath.Base(path), ext)}, format != ""
}

// folder lists the files of a folder by name, schema.sql first.
func folder(dir, format string) (files []inputFile, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		known := formats[strings.ToLower(filepath.Ext(e.Name()))] != ""
		if e.IsDir() || !known || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f, _ := input(filepath.Join(dir, e.Name()), "")
		if format != "" && f.format != format && f.name != "schema" {
			continue
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no file in this folder can be imported, want names that end in .csv, .tsv, .json, .jsonl, .yaml or .sql", dir)
	}
	slices.SortStableFunc(files, func(a, b inputFile) int {
		return rank(a) - rank(b)
	})
	return files, nil
}

func rank(f inputFile) int {
	switch {
	case f.name == "schema" && f.format == "sql":
		return 0
	case f.format == "sql":
		return 1
	}
	return 2
}

func (im *importer) openFile(f inputFile, alone bool) error {
	name := f.name
	if alone && im.opts.Table != "" {
		name = im.opts.Table
	}
	var tables []*table
	var err error
	one := func(t *table, e error) { tables, err = []*table{t}, e }
	switch f.format {
	case "csv", "tsv":
		comma := im.opts.Delimiter
		if comma == 0 && f.format == "tsv" {
			comma = '\t'
		}
		one(csvTable(f.path, name, comma))
	case "json":
		tables, err = jsonTables(f.path, name)
	case "jsonl":
		one(linesTable(f.path, name))
	case "yaml":
		tables, err = yamlTables(f.path, name)
	case "sql":
		im.dumps = append(im.dumps, f.path)
	default:
		return fmt.Errorf("unknown format %q, want %s", f.format, formatList)
	}
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.name == "" || strings.HasPrefix(strings.ToLower(t.name), "sqlite_") {
			return fmt.Errorf("%s: the table cannot be named %q; names that begin with sqlite_ are SQLite's own", t.file, t.name)
		}
	}
	im.tables = append(im.tables, tables...)
	return nil
}

// fill makes the tables and takes the rows.
func (im *importer) fill(db *fixture.DB) error {
	im.db = db
	for _, path := range im.dumps {
		if err := im.dump(path); err != nil {
			return err
		}
	}
	for _, t := range im.tables {
		if err := im.table(t); err != nil {
			return err
		}
	}
	if err := im.link(); err != nil {
		return err
	}
	for _, sql := range im.late {
		if err := db.Guarded(sql); err != nil {
			return fmt.Errorf("%w in: %s", err, clip(sql))
		}
	}
	if n, err := db.Int(im.ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"); err != nil || n == 0 {
		return errors.Join(err, errors.New("the files hold no table"))
	}
	if err := im.checkAsked(); err != nil {
		return err
	}
	return im.checkForeign()
}

// checkAsked finds --types and --pk that no table took.
func (im *importer) checkAsked() error {
	var unmet []string
	for name := range im.opts.Types {
		if !im.asked["type "+name] {
			unmet = append(unmet, fmt.Sprintf("--types %s: no imported table has this column", name))
		}
	}
	for name, cols := range im.opts.Keys {
		if !im.asked["key "+name] {
			unmet = append(unmet, fmt.Sprintf("--pk %s: no imported table has these columns", strings.TrimPrefix(name+"="+strings.Join(cols, ","), "=")))
		}
	}
	if len(unmet) == 0 {
		return nil
	}
	slices.Sort(unmet)
	return errors.New(strings.Join(unmet, "; "))
}

// checkForeign notes rows that refer to rows which are not there.
func (im *importer) checkForeign() error {
	type broken struct{ child, parent string }
	counts := map[broken]int{}
	var order []broken
	err := im.db.Query(im.ctx, "PRAGMA foreign_key_check", nil, 4, func(v []fixture.Value) error {
		child, _ := v[0].(string)
		parent, _ := v[2].(string)
		b := broken{child, parent}
		if counts[b] == 0 {
			order = append(order, b)
		}
		counts[b]++
		return nil
	})
	for _, b := range order {
		im.note("%d row(s) of %q refer to rows of %q that are not there", counts[b], b.child, b.parent)
	}
	if err != nil && strings.Contains(err.Error(), "foreign key mismatch") {
		im.note("%v", err) // the parent's columns are no key
		return nil
	}
	return err
}

func (im *importer) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(im.report.Notes, n) {
		im.report.Notes = append(im.report.Notes, n)
	}
}
