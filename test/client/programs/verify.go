package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"lapel"
)

func main() {
	for all := os.Args[1:]; len(all) > 0; all = all[6:] {
		seconds, err := strconv.ParseInt(all[1], 10, 64)
		if err != nil {
			panic(err)
		}
		verifier := lapel.Verifier{Keys: []string{all[0]}, Now: func() time.Time { return time.Unix(seconds, 0) }}
		header := http.Header{}
		header.Set("webhook-id", all[2])
		header.Set("webhook-timestamp", all[3])
		header.Set("webhook-signature", all[4])
		fmt.Println(verifier.Verify(header, []byte(all[5])) == nil)
	}
}
