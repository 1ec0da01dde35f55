package assert

import (
	"slices"
	"strings"

	"github.com/anvil-sim/anvil/internal/canon"
)

// clientCalls are what the rules of the pack ask about calls.
type clientCalls struct {
	who       question[string]   // tells callers apart
	asked     question[string]   // by whom and for what
	retryable question[bool]     // it failed in a way that may pass
	wait      question[string]   // Retry-After of a refusal
	keyed     question[keying]   //
	creates   question[string]   // asked, of a call that made something without a key
	rows      question[rows]     //
	list      question[string]   // the list that is paged through, and for whom
	reads     question[string]   // the id of the row that a call reads
	words     question[[]string] // what a call asks for, of one that is no list
	leaks     question[leak]     //
}

func (s *Set) clientCalls() *clientCalls {
	q := &clientCalls{}
	q.who = questionOf(s, func(c *call) string { return c.Principal() + "\x00" + c.Tenant() })
	q.asked = questionOf(s, func(c *call) string { return q.who.ask(c) + askedOf(c) })
	q.retryable = questionOf(s, retryable)
	q.wait = questionOf(s, func(c *call) string {
		if s := c.Status(); s == "429" || s == "503" {
			return header(c, "retry-after")
		}
		return ""
	})
	q.keyed = questionOf(s, keyingOf)
	q.creates = questionOf(s, func(c *call) string {
		if c.Method() != "POST" || !strings.HasPrefix(c.Status(), "2") || keyed(c) || answerID(c) == "" || len(lastParam(c)) > 0 {
			return ""
		}
		return q.asked.ask(c)
	})
	q.rows = questionOf(s, rowsOf)
	q.list = questionOf(s, func(c *call) string {
		if !q.rows.ask(c).list {
			return ""
		}
		return q.who.ask(c) + listOf(c)
	})
	q.reads = questionOf(s, func(c *call) string {
		if q.rows.ask(c).list || c.Write() {
			return ""
		}
		return idOf(c)
	})
	q.words = questionOf(s, func(c *call) []string {
		if q.rows.ask(c).list {
			return nil
		}
		return wordsOf(c)
	})
	q.leaks = questionOf(s, leakOf)
	return q
}

// ahead asks all of it: some rule wants each.
func (q *clientCalls) ahead(c *call) {
	q.asked.ask(c)
	q.retryable.ask(c)
	q.wait.ask(c)
	q.keyed.ask(c)
	q.creates.ask(c)
	q.list.ask(c)
	q.reads.ask(c)
	q.words.ask(c)
	q.leaks.ask(c)
}

func retryable(c *call) bool {
	s := c.Status()
	return s == "429" || s == "408" || len(s) == 3 && s[0] == '5'
}

// header is a header that the provider set and that was served.
func header(c *call, name string) string {
	v, err := canon.Parse(orNull(c.Get("headers")), canon.Lenient)
	if err != nil {
		return ""
	}
	for _, m := range v.Members() {
		if strings.EqualFold(m.Key, name) {
			return m.Value.Text()
		}
	}
	return ""
}

// A keying says whether a call changes something, and with an idempotency key.
type keying uint8

const (
	noWrite keying = iota // or no tool is known
	withoutKey
	withKey
)

func keyingOf(c *call) keying {
	switch {
	case !c.Write() || c.Tool() == "":
		return noWrite
	case keyed(c):
		return withKey
	}
	return withoutKey
}

func keyed(c *call) bool {
	if text(c.At("normalized", "idempotencyKey")) != "" {
		return true
	}
	v, err := canon.Parse(orNull(c.At("request", "headers")), canon.Lenient)
	return err == nil && slices.ContainsFunc(v.Members(), func(m canon.Member) bool {
		name := strings.ToLower(m.Key)
		return name == "idempotency-key" || strings.HasSuffix(name, "-idempotency-key") || name == "x-request-token"
	})
}

// rows are the ids of the rows of a list's answer; list is false for another
// call.
type rows struct {
	ids  []string
	list bool
}

func rowsOf(c *call) rows {
	if c.Kind() != "" && c.Kind() != "list" || c.Write() || !strings.HasPrefix(c.Status(), "2") {
		return rows{}
	}
	v, err := canon.Parse(orNull(c.Get("response")), canon.Lenient)
	if err != nil {
		return rows{}
	}
	at := v
	for _, m := range v.Members() {
		if m.Value.Is(canon.Array) {
			at = m.Value
			break
		}
	}
	if !at.Is(canon.Array) || v.Is(canon.Object) && c.Kind() != "list" && v.Get("id") != nil {
		return rows{list: c.Kind() == "list"}
	}
	out := rows{list: true}
	for _, e := range at.Elems() {
		for _, key := range []string{"id", "_id", "uuid", "sys_id", "key"} {
			if id := e.Get(key); id.Is(canon.String) || id.Is(canon.Number) {
				out.ids = append(out.ids, id.Text())
				break
			}
		}
	}
	return out
}

// set is the ids for looking one up.
func (r rows) set() map[string]bool {
	set := make(map[string]bool, len(r.ids))
	for _, id := range r.ids {
		set[id] = true
	}
	return set
}

func wordsOf(c *call) []string {
	asked := c.Path() + " " + string(orNull(c.At("request", "body"))) + " " + string(orNull(c.At("request", "query")))
	return strings.FieldsFunc(asked, func(r rune) bool { return strings.ContainsRune(" /\"{}[]:,=&?", r) })
}

// A leak is what of a URL looks like a secret.
type leak struct {
	names []string // of query parameters
	path  bool
}

func leakOf(c *call) (l leak) {
	v, err := canon.Parse(orNull(c.At("request", "query")), canon.Lenient)
	if err == nil {
		for _, mem := range v.Members() {
			if secretName(mem.Key) {
				l.names = append(l.names, mem.Key)
			}
		}
	}
	l.path = slices.ContainsFunc(strings.Split(c.Path(), "/"), secretText)
	return l
}

func secretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	return slices.Contains([]string{"apikey", "accesstoken", "authtoken", "token", "password", "passwd", "secret", "clientsecret", "sig", "signature", "auth"}, name)
}

// secretText tells forms of credentials that are well known.
func secretText(s string) bool {
	for _, prefix := range []string{"sk_live_", "sk_test_", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "glpat-"} {
		if strings.HasPrefix(s, prefix) && len(s) >= len(prefix)+12 {
			return true
		}
	}
	return strings.HasPrefix(s, "eyJ") && strings.Count(s, ".") == 2 // a JSON web token
}
