package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Copy from here
import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// VerifyPostback goes by the headers. The content of a POST is its body as it came; of a GET, the whole URL.
func VerifyPostback(secrets []string, header http.Header, content []byte, now time.Time) bool {
	id := header.Get("webhook-id")
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if id == "" || err != nil {
		return false
	}
	if age := now.Unix() - int64(seconds); age > 300 || age < -300 {
		return false
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, keyOf(secret))
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(content)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
			if hmac.Equal([]byte(signature), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// VerifySignature goes by the {signature} at the end of the URL.
func VerifySignature(secrets []string, url string) bool {
	if len(url) < 64 {
		return false
	}
	signed, signature := url[:len(url)-64], url[len(url)-64:]
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, keyOf(secret))
		mac.Write([]byte(signed))
		if hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac.Sum(nil)))) {
			return true
		}
	}
	return false
}

func keyOf(secret string) []byte {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		panic("the signing secret must be whsec_ and base64")
	}
	return key
}

// to here. The rest tries it: go run go.go < vectors.json

type vector struct {
	Name    string
	Proof   string
	Secrets []string
	Headers map[string]string
	Content string
	Now     int64
	Expect  string
}

func main() {
	var vectors []vector
	if err := json.NewDecoder(os.Stdin).Decode(&vectors); err != nil {
		panic(err)
	}
	failed := false
	for _, v := range vectors {
		isOurs := false
		if v.Proof == "headers" {
			header := http.Header{}
			for name, value := range v.Headers {
				header.Set(name, value)
			}
			isOurs = VerifyPostback(v.Secrets, header, []byte(v.Content), time.Unix(v.Now, 0))
		} else {
			isOurs = VerifySignature(v.Secrets, v.Content)
		}
		verdict := "pass"
		if isOurs != (v.Expect == "ok") {
			verdict = "FAIL"
			failed = true
		}
		fmt.Printf("%s  %s\n", verdict, v.Name)
	}
	if failed {
		os.Exit(1)
	}
}
