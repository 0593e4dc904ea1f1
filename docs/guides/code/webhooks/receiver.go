// Receive webhooks: check the signature, drop repetitions, answer, then work.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type event struct {
	Type string `json:"type"`
	Data struct {
		MessageID string `json:"messageId"`
		Recipient string `json:"recipient"`
	} `json:"data"`
}

var seen sync.Map // in production a table with the webhook-id as its unique key

func verify(header http.Header, body []byte, key []byte, now time.Time) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false // an old request that somebody sends again
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(expected), []byte(signature)) {
			return true // during a rotation there are several
		}
	}
	return false
}

func main() {
	secret := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		log.Fatal("WEBHOOK_SECRET is not a secret")
	}
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var e event
		if err != nil || !verify(r.Header, body, key, time.Now()) || json.Unmarshal(body, &e) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, known := seen.LoadOrStore(r.Header.Get("webhook-id"), true); !known {
			fmt.Println(e.Type, e.Data.MessageID, e.Data.Recipient)
		}
		w.WriteHeader(http.StatusNoContent)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
