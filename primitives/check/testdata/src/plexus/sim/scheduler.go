package sim

func acceptedInTheScheduler() { go func() {}() }
