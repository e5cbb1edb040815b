package txn

import "errors"

// Declare names all records that the body touches, and says of each whether the body writes it. A workload that knows these sets before a
// transaction runs begins its body so. Under a protocol that has to know them (Kind.NeedsSets) the records are there when Declare returns, and the
// body fails if it touches another one; under the other protocols Declare does nothing.
func (tx *Tx) Declare(refs ...Ref) error {
	switch {
	case tx.failed != nil || !tx.declares():
		return tx.failed
	case len(tx.set) > 0:
		return tx.Fail(errors.New("records declared twice: name all of them in one Tx.Declare"))
	}
	tx.closed = false
	for _, r := range refs {
		a := tx.find(r.Table, r.Key)
		if a == nil {
			var err error
			if a, err = tx.add(r.Table, r.Key); err != nil {
				return tx.Fail(err)
			}
		}
		a.ToWrite = a.ToWrite || r.Write
	}
	tx.closed = true
	return tx.declaring.Declared()
}

// declares says that the attempt's session has to know what the body touches.
func (tx *Tx) declares() bool { return tx.declaring != nil && !tx.snapshot() }
