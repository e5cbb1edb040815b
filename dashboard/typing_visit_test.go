package dashboard_test

import "testing"

// TestNoNumberIsTyped types what is no number where one is asked for: a browser makes nothing of it, and nothing
// must not become 0.
func TestNoNumberIsTyped(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.act(`for (const d of document.querySelectorAll("#knobs details")) d.open = true`)
	type field struct{ id, stays string }
	for _, f := range []field{{"k-workload-mix-balance", "15"}, {"k-workload-accounts", "10000"}} {
		for _, typed := range []string{"3-", ""} {
			b.act(`const e = document.getElementById("` + f.id + `"); e.focus(); e.select(); document.execCommand("delete")`)
			b.key(typed + "\r")
			b.until("it is refused", `/: must be a number from .* it stays `+f.stays+`$/.test(document.getElementById("notice").textContent)`)
			b.until("the field is as it was", `document.getElementById("`+f.id+`").value === "`+f.stays+`"`)
			b.act(`document.activeElement.blur(); document.getElementById("notice").textContent = ""`)
		}
	}
	if n := eval[int](b, `document.querySelectorAll("#knobs .staged, .changes").length`); n != 0 {
		t.Errorf("%d knobs are changed or staged", n)
	}
	spec, err := s.agent.Spec(t.Context(), "a")
	if err != nil || spec.Set["workload.mix.balance"] != nil {
		t.Errorf("%v, %v", spec.Set, err)
	}
}

// TestStagedIsLetGo stages knobs for a reset, one of them such that it is refused, and leaves them as they are.
func TestStagedIsLetGo(t *testing.T) {
	t.Parallel()
	s, b := visit(t)
	b.act(`for (const d of document.querySelectorAll("#knobs details")) d.open = true`)
	for _, id := range []string{"k-nodes", "k-replicas"} {
		b.act(`const e = document.getElementById("` + id + `"); e.focus(); e.select()`)
		b.key("1\r")
	}
	b.until("both are staged", `document.querySelectorAll("#knobs .staged").length === 2`)
	b.click("#knobs .go button")
	b.until("they are refused", `/nodes = 1/.test(document.getElementById("notice").textContent)`)
	b.click("#knobs .go button.link")
	b.until("nothing is staged", `!document.querySelector("#knobs .staged") && [...document.querySelectorAll("#knobs .go button")].every((e) => e.hidden)`)
	if v := eval[string](b, `document.getElementById("k-nodes").value`); v != "3" {
		t.Errorf("nodes is %s", v)
	}
	b.quiet(s, "400")
}
