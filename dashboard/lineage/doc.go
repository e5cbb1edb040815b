// Package lineage knows what every knob of a system was under each version of its knobs: what has changed since the start, what a
// change moved beside what it set, which change took back which, and what has to be set to take one back. It follows the changes of
// a running system, and reads those before it from the session that the system records.
package lineage
