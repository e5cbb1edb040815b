//go:build drtmxkernel

package main

import (
	"fmt"
	"strings"
)

// inspect answers the tooltip request: the type of the name under the cursor.
func (s *session) inspect(m msgReceipt) {
	code, _ := m.content()["code"].(string)
	pos, _ := m.content()["cursor_pos"].(float64)
	text := s.describe(wordAt([]rune(code), int(pos)))
	m.answer("inspect_reply", map[string]any{
		"status": "ok", "found": text != "", "data": map[string]any{"text/plain": text}, "metadata": map[string]any{},
	})
}

func (s *session) describe(word string) (text string) {
	defer func() {
		if recover() != nil { // the interpreter's way to say that it does not compile
			text = ""
		}
	}()
	if word == "" {
		return ""
	}
	e := s.kernel.ir.Compile(word)
	if e == nil || e.Type == nil {
		return ""
	}
	return fmt.Sprintf("%s  %v", word, e.Type)
}

// wordAt is the name, with what it is selected from, around a position.
func wordAt(code []rune, pos int) string {
	ok := func(r rune) bool {
		return r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	pos = max(0, min(pos, len(code)))
	i, j := pos, pos
	for i > 0 && ok(code[i-1]) {
		i--
	}
	for j < len(code) && ok(code[j]) && code[j] != '.' {
		j++
	}
	return strings.Trim(string(code[i:j]), ".")
}
