package scrub

import "strings"

// normal is a name without case and separators: X-Api-Key, api_key and apiKey
// become xapikey, apikey and apikey.
func normal(name string) string {
	clean := true
	for i := range len(name) {
		if c := name[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			clean = false
			break
		}
	}
	if clean {
		return name
	}
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80:
			b = append(b, c)
		}
	}
	return string(b)
}

// secretNormal reports whether a normal name tells that its value is a secret, in
// any place.
func secretNormal(n string) bool {
	switch n {
	case "token", "secret", "password", "passwd", "pwd", "pass", "passphrase", "passcode", "pin", "cvv", "cvc", "otp", "totp", "apikey", "auth", "authkey",
		"authorization", "bearer", "jwt", "credential", "credentials", "assertion", "clientassertion", "samlresponse", "codeverifier",
		"sessionid", "sessid", "jsessionid", "phpsessid", "connectsid", "xsrf", "csrf", "authenticitytoken", "accesskey", "secretkey", "signingkey",
		"encryptionkey", "masterkey", "privatekey", "privatetoken", "accountkey", "sharedaccesskey", "subscriptionkey", "refreshtoken",
		"connectionstring", "webhookurl", "sshkey", "storagekey", "applicationkey", "appkey", "cardnumber", "ssn":
		return true
	}
	for _, end := range []string{
		"secret", "password", "passwd", "passphrase", "apikey", "accesstoken", "refreshtoken", "idtoken", "authtoken", "bearertoken", "sessiontoken",
		"securitytoken", "clienttoken", "usertoken", "bottoken", "apptoken", "apitoken", "csrftoken", "xsrftoken", "oauthtoken", "secretkey",
		"privatekey", "secretaccesskey", "clientsecret", "authkey", "signature", "deploytoken", "jobtoken", "webhooktoken", "resettoken", "devicetoken",
		"subscriptionkey", "functionskey", "applicationkey", "verificationtoken", "registrationtoken", "credential",
	} {
		if strings.HasSuffix(n, end) {
			return true
		}
	}
	return false
}

// secretQuery are further names that tell it in a query or a form.
func secretQuery(n string) bool {
	switch n {
	case "key", "sig", "sign", "hmac", "sid", "session", "xamzcredential", "googleaccessid", "awsaccesskeyid", "hapikey", "ticket":
		return true
	}
	return secretNormal(n)
}

// secretHeader are the header fields that carry credentials.
func secretHeader(n string) bool {
	switch n {
	case "authorization", "proxyauthorization", "cookie", "setcookie", "cookie2", "setcookie2", "authenticationinfo", "xauthtoken", "xaccesstoken",
		"xtoken", "xvaulttoken", "xgitlabtoken", "xhubsignature256", "xauthkey", "xgoogiapjwtassertion", "xmsclientprincipal", "xforwardedaccesstoken",
		"xsessionid", "xauth", "xjwt", "xsecret", "xkey", "xsig", "xforwardeduser":
		return true
	}
	return secretNormal(n)
}

// redacted reports whether a value is no secret (any more): empty, a placeholder of
// this or another tool, a literal of JSON.
func redacted(v string) bool {
	v = strings.TrimSpace(v)
	if len(v) < 3 || strings.Contains(v, "ANVIL-SECRET-") || strings.Contains(v, volatileText) {
		return true
	}
	switch strings.ToLower(v) {
	case "true", "false", "null", "none", "undefined", "redacted", "filtered", "hidden", "secret", "token", "password", "removed", "dummy", "fake",
		"bearer", "basic", "test", "example", "changeme", "omitted", "scrubbed", "sanitized", "masked", "api_key", "apikey", "string", "xxx":
		return true
	}
	first, last := v[0], v[len(v)-1]
	if strings.IndexByte("<{[(*$%", first) >= 0 && strings.IndexByte(">}])*%", last) >= 0 {
		return true
	}
	upper := strings.ToUpper(v)
	for _, mark := range []string{"REDACT", "FILTERED", "SCRUBBED", "SANITIZED", "PLACEHOLDER", "DUMMY", "FAKE", "MASKED", "YOUR_", "YOUR-", "EXAMPLE"} {
		if strings.Contains(upper, mark) {
			return true
		}
	}
	return strings.Trim(v, "*xX.-_0 ") == ""
}
