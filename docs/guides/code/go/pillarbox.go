package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = http.Client{Timeout: 30 * time.Second}

// Refused says that Pillarbox refused an email: Code says why, and Text says it to people.
type Refused struct {
	Status     int
	Code, Text string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Text) }

// Send returns the message's id. Each operation has a key of its own, which its retries repeat.
func Send(email map[string]any, idempotencyKey string, tries int) (string, error) {
	body, err := json.Marshal(email)
	if err != nil {
		return "", err
	}
	failure := errors.New("tries must be at least 1")
	wait := 0.0
	for attempt := 0; attempt < tries && !math.IsInf(wait, 1); attempt++ {
		time.Sleep(time.Duration(wait * float64(time.Second)))
		wait = 0.5*math.Pow(2, float64(attempt)) + rand.Float64()/4
		response, text, err := post(body, idempotencyKey)
		if err != nil {
			failure = err // no answer; the email may be accepted all the same
			continue
		}
		if response.StatusCode < 300 {
			var sent struct{ MessageID string }
			err = json.Unmarshal(text, &sent)
			return sent.MessageID, err
		}
		failure = refused(response.StatusCode, text)
		wait = secondsToWait(response, wait)
	}
	return "", failure
}

func post(body []byte, idempotencyKey string) (*http.Response, []byte, error) {
	url := os.Getenv("PILLARBOX_URL") + "/api/v1/emails"
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("X-API-Key", os.Getenv("PILLARBOX_KEY"))
	request.Header.Set("User-Agent", "shop/1.0")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", idempotencyKey)
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

// secondsToWait returns the seconds until the next try, or infinity if no try can succeed soon.
func secondsToWait(response *http.Response, usual float64) float64 {
	header := func(name string, otherwise float64) float64 {
		seconds, err := strconv.ParseFloat(response.Header.Get(name), 64)
		if err != nil {
			return otherwise
		}
		return seconds
	}
	if response.StatusCode == http.StatusTooManyRequests {
		// The limit of a minute ends soon, that of a day does not.
		if seconds := header("RateLimit-Reset", 60); seconds <= 60 {
			return seconds
		}
		return math.Inf(1)
	}
	if response.StatusCode >= 500 {
		return header("Retry-After", usual)
	}
	return header("Retry-After", math.Inf(1))
}

func refused(status int, text []byte) error {
	var envelope struct{ Error struct{ Code string } }
	if json.Unmarshal(text, &envelope) != nil {
		envelope.Error.Code = "unknown"
	}
	return &Refused{status, envelope.Error.Code, string(text)}
}
