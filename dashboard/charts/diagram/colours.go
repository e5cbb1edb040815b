package diagram

import "drtmx/dashboard/charts/palette"

func milestoneColour(id string) string { l, _ := palette.Milestones.Of(id); return l.Colour }

func milestoneWords(id string) string { l, _ := palette.Milestones.Of(id); return l.Label }

func phaseColour(id string) string { l, _ := palette.Phases.Of(id); return l.Colour }

func phaseName(id string) string { l, _ := palette.Phases.Of(id); return l.Label }
