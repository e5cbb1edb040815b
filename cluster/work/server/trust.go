package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/work"
	"drtmx/engine/experiment"
)

// trusted is what a server needs to check the credentials of its users: nothing in it is secret.
type trusted struct {
	Operator string `json:"operator"` // JWT
	Account  string `json:"account"`  // JWT
	System   string `json:"system"`   // JWT
	User     string `json:"user"`     // public key of the one user
}

// errTrust is a folder that does not know the credentials file.
var errTrust = errors.New("is of another server")

// trust makes the server accept the credentials in a file only. Where there is none, it is made together with what the server
// needs, which stands in kept.
func trust(opts *natsd.Options, creds, kept string) error {
	text, err := atomicfile.Read(creds, work.SecretLimitBytes)
	var t trusted
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if t, err = issue(creds); err != nil {
			return fmt.Errorf("creds: %w", err)
		}
		out, err := json.Marshal(t)
		if err == nil {
			err = os.WriteFile(kept, out, 0o600)
		}
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
	case err != nil:
		return &experiment.SpecError{Field: "creds", Value: creds, Rule: err.Error(), Next: "name a credentials file, or one that is not there: it is made"}
	default:
		if t, err = known(string(text), kept); err != nil {
			return &experiment.SpecError{Field: "creds", Value: creds, Rule: err.Error(), Next: "name a file that is not there: a new one is made"}
		}
	}
	return t.apply(opts)
}

// known is what stands beside the streams, if it is about these credentials.
func known(creds, kept string) (t trusted, err error) {
	text, err := atomicfile.Read(kept, work.SecretLimitBytes)
	if err != nil {
		return t, errTrust
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, errTrust
	}
	token, err := jwt.ParseDecoratedJWT([]byte(creds))
	if err != nil {
		return t, errors.New("is no credentials file")
	}
	user, err := jwt.DecodeUserClaims(token)
	if err != nil || user.Subject != t.User {
		return t, errTrust
	}
	return t, nil
}

// issue makes an operator, accounts and a user, and writes the user's file.
func issue(creds string) (t trusted, err error) {
	operator, opub, err := pair(nkeys.CreateOperator)
	if err != nil {
		return t, err
	}
	account, apub, err := pair(nkeys.CreateAccount)
	if err != nil {
		return t, err
	}
	_, spub, err := pair(nkeys.CreateAccount)
	if err != nil {
		return t, err
	}
	user, upub, err := pair(nkeys.CreateUser)
	if err != nil {
		return t, err
	}
	t.User = upub
	oc := jwt.NewOperatorClaims(opub)
	oc.Name, oc.SystemAccount = "drtmx", spub
	if t.Operator, err = oc.Encode(operator); err != nil {
		return t, err
	}
	sc := jwt.NewAccountClaims(spub)
	sc.Name = "system"
	if t.System, err = sc.Encode(operator); err != nil {
		return t, err
	}
	ac := jwt.NewAccountClaims(apub)
	ac.Name = "drtmx"
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	if t.Account, err = ac.Encode(operator); err != nil {
		return t, err
	}
	uc := jwt.NewUserClaims(upub)
	uc.Name = "drtmx"
	token, err := uc.Encode(account)
	if err != nil {
		return t, err
	}
	seed, err := user.Seed()
	if err != nil {
		return t, err
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		return t, err
	}
	return t, os.WriteFile(creds, text, 0o600)
}

// pair makes a key pair and tells its public key.
func pair(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string, error) {
	k, err := create()
	if err != nil {
		return nil, "", err
	}
	pub, err := k.PublicKey()
	return k, pub, err
}

func (t trusted) apply(opts *natsd.Options) error {
	oc, err := jwt.DecodeOperatorClaims(t.Operator)
	if err != nil {
		return err
	}
	resolver := &natsd.MemAccResolver{}
	for _, token := range []string{t.Account, t.System} {
		ac, err := jwt.DecodeAccountClaims(token)
		if err == nil {
			err = resolver.Store(ac.Subject, token)
		}
		if err != nil {
			return err
		}
	}
	opts.TrustedOperators, opts.SystemAccount, opts.AccountResolver = []*jwt.OperatorClaims{oc}, oc.SystemAccount, resolver
	return nil
}
