package replayer

import "github.com/anvil-sim/anvil/replayer/tape"

type chain struct {
	its []*tape.Interaction
}
