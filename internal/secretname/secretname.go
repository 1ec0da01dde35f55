// Package secretname tells by a name (of a header, a query parameter, a field)
// that its value is usually a secret.
package secretname

import "strings"

// Normal is a name without case and separators: X-Api-Key, api_key and apiKey
// become xapikey, apikey and apikey.
func Normal(name string) string {
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

// Anywhere reports whether a normal name tells that its value is a secret, in
// any place.
func Anywhere(n string) bool {
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

// Query reports it for a normal name in a query, a form or a cookie, where further
// names tell it.
func Query(n string) bool {
	switch n {
	case "key", "sig", "sign", "hmac", "sid", "session", "xamzcredential", "googleaccessid", "awsaccesskeyid", "hapikey", "ticket":
		return true
	}
	return Anywhere(n)
}

// Header reports whether a header field of a normal name carries credentials.
func Header(n string) bool {
	switch n {
	case "authorization", "proxyauthorization", "cookie", "setcookie", "cookie2", "setcookie2", "authenticationinfo", "xauthtoken", "xaccesstoken",
		"xtoken", "xvaulttoken", "xgitlabtoken", "xhubsignature256", "xauthkey", "xgoogiapjwtassertion", "xmsclientprincipal", "xforwardedaccesstoken",
		"xsessionid", "xauth", "xjwt", "xsecret", "xkey", "xsig", "xforwardeduser":
		return true
	}
	return Anywhere(n)
}
