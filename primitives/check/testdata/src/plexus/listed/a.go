package listed

import "time"

//plexus:allow PX001 listed, so accepted
var accepted = time.Now

var acceptedOnTheLine = time.Now //plexus:allow PX001 listed, so accepted
