package charts

import (
	"encoding/json"
	"fmt"
)

// What go-echarts has no options for.

// axisTicks are the ticks of an X axis that has its own, with what stands at them: echarts
// takes the places, texts are for the caller.
type axisTicks struct {
	CustomValues []float64 `json:"customValues"`
	Texts        []string  `json:"texts,omitempty"`
}

func (a Axis) echartsTicks() (label, tick axisTicks) {
	label.CustomValues, tick.CustomValues = a.Ticks, a.Ticks
	for _, v := range a.Ticks {
		label.Texts = append(label.Texts, a.tickLabel(v))
	}
	return label, tick
}

// withTicks puts the axis' own ticks into an option, where it is data.
func (c *Chart) withTicks(option string) string {
	if c.x.Ticks == nil {
		return option
	}
	var o map[string]json.RawMessage
	var axes []map[string]json.RawMessage
	if json.Unmarshal([]byte(option), &o) != nil || json.Unmarshal(o["xAxis"], &axes) != nil || len(axes) != 1 {
		return option // the caller changed the chart: its ticks are the caller's
	}
	label, tick := c.x.echartsTicks()
	for key, v := range map[string]axisTicks{"axisLabel": label, "axisTick": tick} {
		own := map[string]any{}
		if old := axes[0][key]; old != nil {
			if json.Unmarshal(old, &own) != nil {
				return option
			}
		}
		own["customValues"] = v.CustomValues
		if v.Texts != nil {
			own["texts"], own["hideOverlap"] = v.Texts, true
		}
		axes[0][key] = marshalled(own)
	}
	o["xAxis"] = marshalled(axes)
	return string(marshalled(o))
}

func marshalled(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("charts: " + err.Error()) // it was JSON before
	}
	return b
}

// dressing is the script that does in a notebook or a file what the page does itself: names of
// Y axes begin at the picture's edge, not outside, and the axis' own ticks are written in full.
func (c *Chart) dressing() string {
	js := `(function(c){var o=c.getOption(),p={};if(o.yAxis)p.yAxis=o.yAxis.map(function(y){return y.type==="category"?{nameTextStyle:{align:"left"}}:{nameGap:17,nameTextStyle:{align:"left",padding:[0,0,0,-54]}}});`
	if c.x.Ticks != nil {
		label, _ := c.x.echartsTicks()
		js += fmt.Sprintf(`var v=%s,t=%s;p.xAxis=[{axisLabel:{customValues:v,hideOverlap:true,formatter:function(x){var i=v.indexOf(x);return i<0?x:t[i]}},axisTick:{customValues:v}}];`,
			marshalled(label.CustomValues), marshalled(label.Texts))
	}
	js += `function spread(){var taken=[];return function(p){if(!p.dataIndex)taken=[];var r=p.labelRect,y=r.y;while(taken.some(function(t){return t.x<r.x+r.width&&r.x<t.x+t.width&&t.y<y+r.height&&y<t.y+t.height}))y+=r.height;taken.push({x:r.x,y:y,width:r.width,height:r.height});return{dy:y-r.y}}}var m=-Infinity;o.series.forEach(function(s){s.data.forEach(function(d){if(d&&d.value&&d.value[0]>m)m=d.value[0]})});p.series=o.series.map(function(s){return s.name!=="thesis"?{}:{labelLayout:spread(),data:s.data.map(function(d){return Object.assign({},d,{label:{position:d.value[0]>0.85*m?"left":"right"}})})}});`
	return js + `c.setOption(p)})(goecharts_chart);`
}
