// Package lapel is the client of the REST API of Lapel, and the verification of its webhooks. It needs the standard library only.
package lapel

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

const (
	firstPause        = 200 * time.Millisecond
	longestPause      = 10 * time.Second
	longestRetryAfter = 10
	tokenMargin       = 60
	memberToken       = "lapeldev_"
	stillRunning      = "IDEMPOTENCY_KEY_RUNNING"
)

// Client is the API in the name of an application. It may be used by several goroutines.
//
// Access tokens are fetched and renewed by themselves. A call that creates a transaction or a rollout carries an Idempotency-Key,
// so it is repeated after a lost connection and carried out only once. Methods return an *Error for an error answer.
type Client struct {
	// HTTP makes the requests.
	HTTP *http.Client
	// Attempts is the largest number of attempts for a request.
	Attempts int
	// Scope has the scopes of the access tokens.
	Scope string

	baseURL, applicationID, secret string
	mutex                          sync.Mutex
	token                          string
	until                          time.Time
}

// New makes a client. The secret is that of the application, or the token of a person.
func New(baseURL, applicationID, secret string) *Client {
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token is for this service only
	return &Client{
		HTTP:     &http.Client{Timeout: time.Minute, CheckRedirect: refuse},
		Attempts: 4, Scope: allScopes,
		baseURL: strings.TrimRight(baseURL, "/"), applicationID: applicationID, secret: secret,
	}
}

// CallOption is an option of a single call.
type CallOption func(http.Header)

// IdempotencyKey lets a program repeat a call after its own restart. By default each call has a key of its own.
func IdempotencyKey(key string) CallOption {
	return func(header http.Header) { header.Set("Idempotency-Key", key) }
}

// IfMatch names the state that the caller has read.
func IfMatch(tag string) CallOption {
	return func(header http.Header) { header.Set("If-Match", tag) }
}

type call struct {
	method, path string
	params       map[string]any
	query, body  any
	repeatable   bool
	options      []CallOption
}

// do makes a call, reads its answer into `into`, and returns the query of the next page, "" at the last one.
func (c *Client) do(ctx context.Context, one call, page string, into any) (string, error) {
	path := strings.ReplaceAll(one.path, "{applicationId}", url.PathEscape(c.applicationID))
	for name, value := range one.params {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(value)))
	}
	header := http.Header{}
	if one.repeatable {
		header.Set("Idempotency-Key", newKey())
	}
	for _, option := range one.options {
		option(header)
	}
	var body []byte
	if one.body != nil {
		encoded, err := json.Marshal(one.body)
		if err != nil {
			return "", err
		}
		body = encoded
		header.Set("Content-Type", "application/json")
	}
	if page == "" {
		encoded, err := encodeQuery(one.query)
		if err != nil {
			return "", err
		}
		page = encoded
	}
	again := one.repeatable || one.method != http.MethodPost
	for isSecond := false; ; isSecond = true {
		token, err := c.authorization(ctx)
		if err != nil {
			return "", err
		}
		header.Set("Authorization", token)
		next, err := c.send(ctx, one.method, path, page, header, body, again, into)
		var refused *Error
		if isSecond || !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
			return next, err
		}
		c.forget(token) // a token may end early, so the call is repeated once with a new one
	}
}

func (c *Client) authorization(ctx context.Context) (string, error) {
	if strings.HasPrefix(c.secret, memberToken) {
		return "Bearer " + c.secret, nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.token != "" && time.Now().Before(c.until) {
		return c.token, nil
	}
	request := &http.Request{Header: http.Header{}}
	request.SetBasicAuth(url.QueryEscape(c.applicationID), url.QueryEscape(c.secret))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {c.Scope}}
	var answer struct {
		Token string `json:"access_token"`
		Life  int    `json:"expires_in"`
	}
	if _, err := c.send(ctx, http.MethodPost, "/api/v1/authenticate", "", request.Header, []byte(form.Encode()), true, &answer); err != nil {
		return "", err
	}
	life := answer.Life - tokenMargin
	if life < answer.Life/2 {
		life = answer.Life / 2
	}
	c.token, c.until = "Bearer "+answer.Token, time.Now().Add(time.Duration(life)*time.Second)
	return c.token, nil
}

func (c *Client) forget(token string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.token == token {
		c.token = ""
	}
}

func (c *Client) send(ctx context.Context, method, path, query string, header http.Header, body []byte, repeatable bool, into any) (string, error) {
	wait := firstPause
	for attempt := 1; ; attempt++ {
		next, err := c.once(ctx, method, path, query, header, body, into)
		var refused *Error
		isAnswer := errors.As(err, &refused)
		if err == nil || attempt >= c.Attempts || ctx.Err() != nil || !mayPass(refused, isAnswer, repeatable) {
			return next, err
		}
		pause := wait
		if isAnswer && time.Duration(refused.RetryAfter)*time.Second > pause {
			pause = time.Duration(refused.RetryAfter) * time.Second
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(pause):
		}
		if wait *= 2; wait > longestPause {
			wait = longestPause
		}
	}
}

// mayPass says whether the same request may succeed a little later.
func mayPass(refused *Error, isAnswer, repeatable bool) bool {
	if !isAnswer {
		return repeatable
	}
	if refused.RetryAfter > longestRetryAfter {
		return false
	}
	switch refused.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable: // these guarantee that it was not carried out
		return true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return repeatable
	}
	return repeatable && refused.Code == stillRunning
}

var nextPage = regexp.MustCompile(`<([^>]*)>; ?rel="next"`)

func (c *Client) once(ctx context.Context, method, path, query string, header http.Header, body []byte, into any) (string, error) {
	address := c.baseURL + path
	if query != "" {
		address += "?" + query
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header = header.Clone()
	request.Header.Set("Accept", "application/json")
	response, err := c.HTTP.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	isGood := response.StatusCode >= 200 && response.StatusCode < 300
	if !isGood || (len(text) > 0 && into != nil && json.Unmarshal(text, into) != nil) {
		return "", errorOf(method+" "+path, response.StatusCode, text, response.Header)
	}
	found := nextPage.FindStringSubmatch(response.Header.Get("Link"))
	if found == nil {
		return "", nil
	}
	target, err := url.Parse(found[1])
	if err != nil {
		return "", err
	}
	return target.RawQuery, nil
}

// encodeQuery writes the members of a struct or a map as a query; a list is a parameter that is repeated.
func encodeQuery(query any) (string, error) {
	text, err := json.Marshal(query)
	if err != nil {
		return "", err
	}
	members := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		return "", err
	}
	values := url.Values{}
	for name, value := range members {
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		for _, one := range list {
			if one != nil {
				values.Add(name, fmt.Sprint(one))
			}
		}
	}
	return values.Encode(), nil
}

func newKey() string {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		panic(err) // the system has no random numbers
	}
	return fmt.Sprintf("%x", random)
}
