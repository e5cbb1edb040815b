// Package model is XStore's learned index (thesis §3.4.1, §3.4.2.3, §3.5): the top model that chooses a sub-model, sub-models
// of 14 bytes that predict a range of leaves, and the translation tables (TT) that map their logical leaf numbers to actual
// ones. It trains them and predicts with them. It knows keys and leaves only: no network, no memory, no time.
//
// # What is fixed here
//
//   - The bytes: Entry (8), Sub (14), Span (16, only for tops without an inverse), the header of a table (8).
//   - The base. A 64-bit key does not fit the float32 of a sub-model, so sub-model m predicts from key - base(m). Model.Base
//     inverts the top model in closed form: LR and Pieces. Other top models get a table beside them, whose bytes count.
//   - Bounds. A prediction covers every key that the tree routes to a leaf and that the top model sends to the sub-model,
//     whether it was trained, is absent, or was inserted after the training without a split. They are measured with the 14
//     bytes as stored and by the function that clients call. See Trainer.
//   - Errors of more than 8 bits are not cut: such a sub-model is Fallback and has no table. Clients ask the server.
//
// # Data augmentation
//
// The thesis adds a boundary key in the gap between neighbouring sub-models to the training sets of both (Figure 3-9). Here both
// tables have the leaf that the tree routes the gap's keys to, and the errors cover the ends of the gap. The boundary key does
// not move the line: the ends of a table need no error, as a prediction beyond it means its last leaf; and the gap below a
// server's first key may be most of the key space.
//
// # Caveats
//
//   - A client must not predict for a key that Model.Covers denies. Only top models with a table do that.
//   - Training reads the leaves that it is given. That a leaf's incarnation was read before its keys is the caller's.
//   - The 12-bit generation wraps.
//
// # Left out
//
//   - More than two levels.
//   - Keys that are not 64-bit numbers. Hashes of longer keys (§3.6) are numbers to this package.
package model
