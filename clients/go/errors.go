package lapel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Fault is one fault of an input: its place, a message, and its type.
type Fault struct {
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
	Type string   `json:"type"`
}

// Error is an error answer of the service, or an answer that is not from this service at all.
type Error struct {
	// Request is method and path, such as "GET /v1/applications/patrol".
	Request string
	Status  int
	// Code is that of the service's table of errors, by which programs should tell errors apart; "" without one.
	Code   string
	Reason string
	// Details has every faulty field.
	Details []Fault
	// RequestID is the id under which the service logged the request.
	RequestID string
	// RetryAfter is the number of seconds after which to retry; 0 when the service does not say it.
	RetryAfter int
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %d %s", e.Request, e.Status, e.Reason) }

func errorOf(request string, status int, body []byte, header http.Header) *Error {
	found := &Error{Request: request, Status: status, Code: header.Get("Lapel-Error-Code"), RequestID: header.Get("X-Request-Id")}
	found.RetryAfter, _ = strconv.Atoi(header.Get("Retry-After"))
	found.Reason = "the answer does not come from this service"
	members := map[string]json.RawMessage{}
	if json.Unmarshal(body, &members) != nil {
		return found
	}
	for _, name := range []string{"error", "error_description", "message", "reason"} {
		var text string
		if json.Unmarshal(members[name], &text) == nil {
			found.Reason = text
		}
	}
	_ = json.Unmarshal(members["details"], &found.Details) // details of another form are none
	return found
}
