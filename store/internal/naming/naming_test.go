package naming

import "testing"

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"Releases": "release", "branches": "branch", "analyses": "analysis", "statuses": "status", "codes-of-conduct": "codesofconduct",
		"repos": "repository", "repository": "repository", "orgs": "organization", "access": "access", "ids": "id", "--": "--",
	} {
		if got := Thing(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if !SameThing("issue_types", "IssueType") || SameThing("org", "organization") {
		t.Error("names meet in any number and spelling; a cut word is another name")
	}
}
