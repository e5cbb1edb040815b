package engine

import "drtmx/engine/experiment"

// Check says whether Set would accept the change.
func (s *System) Check(k experiment.Knobs) error {
	_, err := s.Accept(k)
	return err
}
