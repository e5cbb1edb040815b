package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drtmx/engine/txn"
)

// Limits of a script, so that one message carries a transaction's locks and its log entry.
const (
	mostClients      = 16
	mostTransactions = 16 // of a client
	mostOps          = 8
	MostKeys         = 1 << 16 // keys are below
)

// op is a step of a transaction: read, write, insert or delete a key, follow what it says, or announce it.
type op struct {
	what byte // r, w, i, d, f, a
	key  uint64
}

func (o op) String() string { return string(o.what) + strconv.FormatUint(o.key, 10) }

// writes says that a step changes a record.
func (o op) writes() bool { return o.what == 'w' || o.what == 'i' || o.what == 'd' }

// follows says that it reads a record which another one names.
func (o op) follows() bool { return o.what == 'f' }

// transaction is a body, as it is in the script.
type transaction []op

func (t transaction) String() string {
	words := make([]string, len(t))
	for i, o := range t {
		words[i] = o.String()
	}
	return strings.Join(words, " ")
}

// readOnly says that it only reads.
func (t transaction) readOnly() bool {
	return !slices.ContainsFunc(t, op.writes)
}

// sets adds the records of the steps, and whether those write them.
func (t transaction) sets(refs []txn.Ref) []txn.Ref {
	for _, o := range t {
		refs = append(refs, txn.Ref{Table: Table, Key: o.key, Write: o.writes()})
	}
	return refs
}

// inPieces says that no step depends on what another one finds.
func (t transaction) inPieces() bool {
	return !slices.ContainsFunc(t, func(o op) bool { return o.what == 'i' || o.what == 'd' })
}

// grows says that a transaction of the script inserts or deletes a record.
func grows(list []transaction) bool {
	return slices.ContainsFunc(list, func(t transaction) bool {
		return slices.ContainsFunc(t, func(o op) bool { return o.what == 'i' || o.what == 'd' })
	})
}

// parse reads a script: what each client does.
func parse(s string) (clients [][]transaction, err error) {
	for _, text := range strings.Split(s, ";") {
		var list []transaction
		for _, body := range strings.Split(text, "|") {
			t, err := parseTransaction(body)
			if err != nil {
				return nil, err
			}
			list = append(list, t)
		}
		if len(list) > mostTransactions {
			return nil, fmt.Errorf("%d transactions of a client: at most %d", len(list), mostTransactions)
		}
		clients = append(clients, list)
	}
	if len(clients) > mostClients {
		return nil, fmt.Errorf("%d clients: at most %d", len(clients), mostClients)
	}
	return clients, nil
}

func parseTransaction(s string) (t transaction, err error) {
	for _, word := range strings.Fields(s) {
		key, err := strconv.ParseUint(word[1:], 10, 64)
		if err != nil || key >= MostKeys || !strings.ContainsRune("rwidfa", rune(word[0])) {
			return nil, fmt.Errorf("%q is no step: r1 reads key 1, w1 adds one to it, i1 inserts it, d1 deletes it, f1 reads it and the one that it says, a1 announces it; keys are below %d", word, MostKeys)
		}
		t = append(t, op{word[0], key})
	}
	if len(t) == 0 || len(t) > mostOps {
		return nil, fmt.Errorf("a transaction has %d steps: from 1 to %d", len(t), mostOps)
	}
	return t, nil
}

// format writes a script as parse reads it.
func format(clients [][]transaction) string {
	texts := make([]string, len(clients))
	for i, list := range clients {
		bodies := make([]string, len(list))
		for k, t := range list {
			bodies[k] = t.String()
		}
		texts[i] = strings.Join(bodies, " | ")
	}
	return strings.Join(texts, "; ")
}

// normal is the canonical form of a script, or the rule that it breaks.
func normal(s string) (string, string) {
	clients, err := parse(s)
	if err != nil {
		return "", err.Error()
	}
	return format(clients), ""
}
