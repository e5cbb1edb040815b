package kvscript

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of a script.
const (
	mostKeys     = 64      // at the start
	mostClients  = 4       // the verdict takes as many times longer as one of them has requests, for each further one
	mostRequests = 48      // of all clients: the verdict has a bit for each, and for the contents at the end
	mostPairs    = 100     // of a scan
	mostKey      = 1 << 32 // keys are below
)

// kind is what a request does.
type kind uint8

// Kinds of requests.
const (
	get kind = iota
	update
	insert
	remove
	scan
)

const letters = "guids"

var kindNames = []string{"get", "update", "insert", "delete", "scan"}

// request is one of a client's.
type request struct {
	kind kind
	key  uint64
	n    int // pairs of a scan

	value state // of a write: what it writes
}

func (r request) String() string {
	s := string(letters[r.kind]) + strconv.FormatUint(r.key, 10)
	if r.kind == scan {
		s += "+" + strconv.Itoa(r.n)
	}
	return s
}

// script is what is written down: the keys at the start, rising, and what each client sends.
type script struct {
	keys    []uint64
	clients [][]request
}

// parse reads a script.
func parse(s string) (x script, err error) {
	keys, rest, ok := strings.Cut(s, ":")
	if !ok {
		return x, fmt.Errorf("no keys at the start: write them before a colon, such as 10 20 30: g20; u20")
	}
	for _, word := range strings.Fields(keys) {
		key, err := strconv.ParseUint(word, 10, 64)
		if err != nil || key >= mostKey || len(x.keys) > 0 && key <= x.keys[len(x.keys)-1] {
			return x, fmt.Errorf("%q is no key at the start: numbers that rise, below %d", word, uint64(mostKey))
		}
		x.keys = append(x.keys, key)
	}
	if len(x.keys) == 0 || len(x.keys) > mostKeys {
		return x, fmt.Errorf("%d keys at the start: from 1 to %d", len(x.keys), mostKeys)
	}
	x.clients, err = parseClients(rest)
	return x, err
}

func parseClients(s string) (clients [][]request, err error) {
	total := 0
	for _, text := range strings.Split(s, ";") {
		var list []request
		for _, word := range strings.Fields(text) {
			r, ok := parseRequest(word)
			if !ok {
				return nil, fmt.Errorf("%q is no request: g20 gets key 20, u20 updates it, i15 inserts key 15, d20 deletes key 20, s10+3 scans 3 pairs from key 10 on, of %d at most; keys are below %d", word, mostPairs, uint64(mostKey))
			}
			list = append(list, r)
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("a client has no requests: at least one")
		}
		total += len(list)
		clients = append(clients, list)
	}
	if len(clients) > mostClients || total > mostRequests {
		return nil, fmt.Errorf("%d requests of %d clients: at most %d of %d", total, len(clients), mostRequests, mostClients)
	}
	return clients, nil
}

func parseRequest(word string) (r request, ok bool) {
	i := strings.IndexByte(letters, word[0])
	if i < 0 {
		return r, false
	}
	r.kind = kind(i)
	key, pairs, counted := strings.Cut(word[1:], "+")
	if counted != (r.kind == scan) {
		return r, false
	}
	var err error
	if counted {
		if r.n, err = strconv.Atoi(pairs); err != nil || r.n < 1 || r.n > mostPairs {
			return r, false
		}
	}
	r.key, err = strconv.ParseUint(key, 10, 64)
	return r, err == nil && r.key < mostKey
}

// String writes a script as parse reads it.
func (x script) String() string {
	var b strings.Builder
	for i, key := range x.keys {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatUint(key, 10))
	}
	texts := make([]string, len(x.clients))
	for i, list := range x.clients {
		words := make([]string, len(list))
		for k, r := range list {
			words[k] = r.String()
		}
		texts[i] = strings.Join(words, " ")
	}
	return b.String() + ": " + strings.Join(texts, "; ")
}

// normal is the canonical form of a script, or the rule that it breaks.
func normal(s string) (string, string) {
	x, err := parse(s)
	if err != nil {
		return "", err.Error()
	}
	return x.String(), ""
}
