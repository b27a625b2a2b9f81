package lapel

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhook says that a webhook is not genuine, or too old.
var ErrWebhook = errors.New("the webhook is not genuine, or too old")

// Verifier verifies webhooks (Standard Webhooks).
type Verifier struct {
	// Keys are authenticationKeys ("whsec_..."), or public keys of ed25519 ("whpk_..."). One signature by one of them is enough.
	Keys []string
	// Tolerance is the most time between the clocks; five minutes if it is 0.
	Tolerance time.Duration
	// Now is the clock; that of the system if it is nil.
	Now func() time.Time
}

// Verify returns nil for a genuine webhook, ErrWebhook for another one, and another error for a key of another form. The body is
// what was received, before anything has parsed it.
func (v Verifier) Verify(header http.Header, body []byte) error {
	tolerance, now := v.Tolerance, v.Now
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	if now == nil {
		now = time.Now
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil || id == "" || now().Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return ErrWebhook
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	for _, key := range v.Keys {
		matches, err := matcherOf(key)
		if err != nil {
			return err
		}
		for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
			if matches(signature, signed) {
				return nil
			}
		}
	}
	return ErrWebhook
}

func matcherOf(key string) (func(signature string, signed []byte) bool, error) {
	text := strings.TrimPrefix(key, "whpk_")
	bytes, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	if err != nil || len(bytes) == 0 {
		return nil, errors.New("a key of webhooks is no base64 after whsec_ or whpk_")
	}
	if text == key {
		return func(signature string, signed []byte) bool {
			mac := hmac.New(sha256.New, bytes)
			mac.Write(signed)
			return hmac.Equal([]byte("v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))), []byte(signature))
		}, nil
	}
	if len(bytes) != ed25519.PublicKeySize {
		return nil, errors.New("a key of webhooks is no public key of ed25519")
	}
	return func(signature string, signed []byte) bool {
		made, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1a,"))
		return err == nil && strings.HasPrefix(signature, "v1a,") && ed25519.Verify(bytes, signed, made)
	}, nil
}
