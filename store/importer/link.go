package importer

import (
	"fmt"
	"strings"

	"github.com/anvil-sim/anvil/store/fixture"
	"github.com/anvil-sim/anvil/store/internal/naming"
)

// link gives inferred tables the foreign keys that their columns' names promise
// and their rows keep: album_id, albumId or the very name of a key that is not
// just "id".
func (im *importer) link() error {
	for _, child := range im.made {
		var clauses []string
		for _, c := range child.g.columns {
			parent := im.parentOf(child, c)
			if parent == nil {
				continue
			}
			ok, err := im.kept(child.name, c.name, parent.name, parent.key[0])
			if err != nil {
				return err
			}
			if ok {
				clauses = append(clauses, "FOREIGN KEY ("+fixture.Quote(c.name)+") REFERENCES "+fixture.Quote(parent.name)+" ("+fixture.Quote(parent.key[0])+")")
			}
		}
		if len(clauses) > 0 {
			if err := im.remake(child, clauses); err != nil {
				return err
			}
		}
	}
	return nil
}

func (im *importer) parentOf(child *inferred, c *column) *inferred {
	plain := naming.Plain(c.name)
	for _, parent := range im.made {
		if len(parent.key) != 1 || len(child.key) == 1 && strings.EqualFold(child.key[0], c.name) && child == parent {
			continue
		}
		key := parent.g.at(parent.key[0])
		keyName := naming.Plain(key.name)
		noun := naming.Plain(parent.name)
		named := plain == naming.Singular(noun)+keyName || plain == noun+keyName
		same := plain == keyName && keyName != "id" && len(keyName) > 3 && strings.HasSuffix(keyName, "id")
		if child != parent && key.decl == c.decl && (named || same && !(len(child.key) == 1 && strings.EqualFold(child.key[0], c.name))) {
			return parent
		}
	}
	return nil
}

// kept tells whether every value of a column is a key of the parent.
func (im *importer) kept(child, column, parent, key string) (bool, error) {
	n, err := im.db.Int(im.ctx, fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %s AS c WHERE c.%s IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE p.%s = c.%s))",
		fixture.Quote(child), fixture.Quote(column), fixture.Quote(parent), fixture.Quote(key), fixture.Quote(column)))
	return n == 0, err
}

// remake makes a table again with foreign keys: SQLite cannot add one.
func (im *importer) remake(m *inferred, foreign []string) error {
	const tmp = "anvil remake"
	return im.db.Exec(m.create(tmp, foreign) + ";" +
		"INSERT INTO " + fixture.Quote(tmp) + " SELECT * FROM " + fixture.Quote(m.name) + " ORDER BY rowid;" +
		"DROP TABLE " + fixture.Quote(m.name) + ";" +
		"ALTER TABLE " + fixture.Quote(tmp) + " RENAME TO " + fixture.Quote(m.name))
}
