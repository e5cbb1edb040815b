// Package strictjson reads JSON that a person, a script or a file of another version gave. What it does not know it
// refuses, and says what is wrong in the words of JSON rather than of Go.
//
// Caveat: encoding/json takes a field's name in any case, so two names that differ in case alone are one, given twice.
package strictjson
