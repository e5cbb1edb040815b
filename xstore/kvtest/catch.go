package kvtest

import (
	"fmt"
	"testing"
)

// ends is a test whose fatal end is told to the caller.
type ends struct{ testing.TB }

type fatal string

func (ends) Fatal(args ...any)                 { panic(fatal(fmt.Sprint(args...))) }
func (ends) Fatalf(format string, args ...any) { panic(fatal(fmt.Sprintf(format, args...))) }

// Catch runs something that says what is wrong, and that may also end the test: then it returns why. A planted fault may
// show in either way.
func Catch(t testing.TB, run func(t testing.TB) (wrong string)) (wrong string) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case fatal:
			wrong = string(end)
		default:
			panic(end)
		}
	}()
	return run(ends{t})
}
