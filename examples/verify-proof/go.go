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
	"regexp"
	"strconv"
	"strings"
	"time"
)

var proofForm = regexp.MustCompile(`^(locker\.v1\.([0-9]{1,15})\.([0-9a-f]{32})\.[0-9a-f-]{36}\.([0-9]{1,12}))\.([0-9a-f]{64})$`)

// VerifyProof returns the visitor's ID, or "". A valid proof can have been used before: redeem it, then deliver.
func VerifyProof(secrets []string, lockerID int64, proof string, now time.Time) string {
	parts := proofForm.FindStringSubmatch(proof)
	if parts == nil {
		return ""
	}
	signed, locker, visitorID, signature := parts[1], parts[2], parts[3], parts[5]
	expiresAt, _ := strconv.ParseInt(parts[4], 10, 64)
	if locker != strconv.FormatInt(lockerID, 10) || expiresAt <= now.Unix() {
		return ""
	}
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			panic("the signing secret must be whsec_ and base64")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(signed))
		if hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac.Sum(nil)))) {
			return visitorID
		}
	}
	return ""
}

// to here. The rest tries it: go run go.go < vectors.json

type vector struct {
	Name      string   `json:"name"`
	Secrets   []string `json:"secrets"`
	LockerID  int64    `json:"locker_id"`
	Proof     string   `json:"proof"`
	Now       int64    `json:"now"`
	VisitorID string   `json:"visitor_id"`
}

func main() {
	var vectors []vector
	if err := json.NewDecoder(os.Stdin).Decode(&vectors); err != nil {
		panic(err)
	}
	failed := false
	for _, v := range vectors {
		verdict := "pass"
		if VerifyProof(v.Secrets, v.LockerID, v.Proof, time.Unix(v.Now, 0)) != v.VisitorID {
			verdict = "FAIL"
			failed = true
		}
		fmt.Printf("%s  %s\n", verdict, v.Name)
	}
	if failed {
		os.Exit(1)
	}
}
