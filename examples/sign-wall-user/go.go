package main

import (
	"encoding/json"
	"os"
)

// Copy from here
import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// SignWallUser returns the sig of a wall. expiresAt is its exp: Unix seconds, at most a day from now.
func SignWallUser(secret, apiKey, userID string, expiresAt int64) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		panic("the signing secret must be whsec_ and base64")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "wall.v1\n%s\n%d\n%s", apiKey, expiresAt, userID)
	return hex.EncodeToString(mac.Sum(nil))
}

// to here. The rest tries it: go run go.go < vectors.json

type vector struct {
	Name      string `json:"name"`
	Secret    string `json:"secret"`
	APIKey    string `json:"api_key"`
	UserID    string `json:"user_id"`
	ExpiresAt int64  `json:"expires_at"`
	Signature string `json:"signature"`
}

func main() {
	var vectors []vector
	if err := json.NewDecoder(os.Stdin).Decode(&vectors); err != nil {
		panic(err)
	}
	failed := false
	for _, v := range vectors {
		verdict := "pass"
		if SignWallUser(v.Secret, v.APIKey, v.UserID, v.ExpiresAt) != v.Signature {
			verdict = "FAIL"
			failed = true
		}
		fmt.Printf("%s  %s\n", verdict, v.Name)
	}
	if failed {
		os.Exit(1)
	}
}
