package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A saver can be reset and can write its state.
type saver struct {
	fake
	got *SnapshotParams
}

func (s *saver) Reset(context.Context, uint32) error { return nil }

func (s *saver) Snapshot(_ context.Context, p *SnapshotParams) error {
	s.got = p
	if p.Path == "bad" {
		return errors.New("no room")
	}
	return nil
}

func TestServeSnapshot(t *testing.T) {
	for params, want := range map[string]string{
		`{"path":"/a b","new":1}`:                   `"result":null} "/a b" present of nobody`,
		`{"path":"/a","call":null,"tenantId":null}`: `"result":null} "/a" present of nobody`,
		`{"path":"/a","call":7,"tenantId":"t"}`:     `"result":null} "/a" after 7 of "t"`,
		`{"path":"/a","call":0}`:                    `"result":null} "/a" after 0 of nobody`,
		`{"path":"bad"}`:                            `"error":{"code":-32603,"message":"no room"}} "bad" present of nobody`,
		`{"path":"/a","call":-1}`:                   `"error":{"code":-32602,"message":"snapshot: call is -1, want a number from 0`,
		`{"path":"/a","call":"7"}`:                  `"error":{"code":-32602,"message":"snapshot: call is`,
		`{"path":"/a","tenantId":7}`:                `"error":{"code":-32602,"message":"snapshot: tenantId is 7, want a string`,
		`{"path":""}`:                               `"error":{"code":-32602,"message":"snapshot: path is`,
		`{}`:                                        `"error":{"code":-32602,"message":"snapshot: path is`,
	} {
		s := &saver{}
		got, err := serveText(t, s, `{"id":1,"method":"snapshot","params":`+params+"}\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		got = strings.TrimSpace(got)
		if p := s.got; p != nil {
			when, whose := "present", "nobody"
			if p.Call != nil {
				when = fmt.Sprint("after ", *p.Call)
			}
			if p.TenantID != nil {
				whose = fmt.Sprintf("%q", *p.TenantID)
			}
			got += fmt.Sprintf(" %q %s of %s", p.Path, when, whose)
			back, err := DecodeSnapshotParams(p.AppendJSON(nil))
			if err != nil || string(back.AppendJSON(nil)) != string(p.AppendJSON(nil)) {
				t.Errorf("%s comes back as %s (%v)", p.AppendJSON(nil), back.AppendJSON(nil), err)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", params, got, want)
		}
	}
}

// Only what a provider can do is announced.
func TestServeAnnounces(t *testing.T) {
	for want, p := range map[string]Provider{
		`"result":{"protocolVersion":1}}`:                                &fake{},
		`"result":{"protocolVersion":1,"methods":["reset","snapshot"]}}`: &saver{},
	} {
		got, err := serveText(t, p, `{"id":1,"method":"initialize","params":{}}`+"\n", nil)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	got, err := serveText(t, &fake{}, `{"id":1,"method":"snapshot","params":{"path":"/a"}}`+"\n", nil)
	if err != nil || !strings.Contains(got, "this provider cannot write its state") {
		t.Errorf("got %s, %v", got, err)
	}
}
