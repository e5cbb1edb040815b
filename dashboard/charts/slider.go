package charts

import (
	"encoding/json"
	"fmt"
	"html"
	"sync"
)

// Slider is an input in a notebook's page: a move runs a function of the notebook, whose chart is shown below it. The page of
// the classic Jupyter notebook can ask its kernel for that; elsewhere the slider says that the function has to be called in a
// cell.
type Slider struct {
	id    int
	label string
	steps []int
	show  func(value int) *Chart
}

// sliders are those of this process, by their numbers from 1 on: the page knows them by these.
var sliders struct {
	sync.Mutex
	all []*Slider
}

// NewSlider makes a slider over some values.
func NewSlider(label string, steps []int, show func(value int) *Chart) *Slider {
	sliders.Lock()
	defer sliders.Unlock()
	s := &Slider{len(sliders.all) + 1, label, steps, show}
	sliders.all = append(sliders.all, s)
	return s
}

// Slide is what the page has the kernel run when a slider is moved to the value of a number. If that cannot be, the chart is a
// sentence without a picture.
func Slide(id, step int) *Chart {
	sliders.Lock()
	if id < 1 || id > len(sliders.all) {
		sliders.Unlock()
		return New(fmt.Sprintf("slider %d is of a kernel that has ended: run its cell again", id), nil, "")
	}
	s := sliders.all[id-1]
	sliders.Unlock()
	if step < 0 || step >= len(s.steps) {
		return New(fmt.Sprintf("slider %d has no step %d: there are %d", id, step, len(s.steps)), nil, "")
	}
	return s.show(s.steps[step])
}

// sliderScript finds the kernel of the classic notebook, which runs scripts of outputs without telling them where they stand.
// What the kernel answers is shown as a picture, or as text.
const sliderScript = `document.querySelectorAll('[data-drtmx-slider="%d"]').forEach(function(e){if(e.drtmx)return;e.drtmx=1;var i=e.querySelector("input"),o=e.querySelector("output"),d=e.querySelector("div"),s=%s;` +
	`i.oninput=function(){o.textContent=s[i.value].toLocaleString("en")};` +
	`i.onchange=function(){var k=window.Jupyter&&Jupyter.notebook&&Jupyter.notebook.kernel;` +
	`if(!k){d.textContent="No kernel can be reached from this page: open the notebook in Jupyter's classic interface, or call the function in a cell.";return}` +
	`d.style.opacity=.5;k.execute("charts.Slide(%d, "+i.value+")",{shell:{reply:function(){d.style.opacity=1}},iopub:{output:function(m){` +
	`var c=m.content,v=c.data||{};if(m.msg_type==="error")d.textContent=c.evalue;else if(m.msg_type!=="execute_result")return;` +
	`else if(v["image/svg+xml"])d.innerHTML=v["image/svg+xml"];else d.textContent=v["text/plain"]}}},{silent:false,store_history:false})}` +
	`})`

// HTML is the slider.
func (s *Slider) HTML() string {
	steps, err := json.Marshal(s.steps)
	if err != nil {
		panic(err) // numbers can be written
	}
	first := ""
	if len(s.steps) > 0 {
		first = fmt.Sprint(s.steps[0])
	}
	return fmt.Sprintf(`<div class="drtmx-slider" data-drtmx-slider="%d"><label>%s <input type="range" min="0" max="%d" value="0" step="1" style="display:inline-block;vertical-align:middle;width:240px"></label> <output style="display:inline">%s</output><div style="margin-top:6px"></div><script>`+sliderScript+`</script></div>`,
		s.id, html.EscapeString(s.label), max(len(s.steps)-1, 0), first, s.id, steps, s.id)
}

// SimpleRender is for the kernel.
func (s *Slider) SimpleRender() Bundle {
	return Bundle{"text/html": s.HTML(), "text/plain": fmt.Sprintf("slider %s: %v", s.label, s.steps)}
}
