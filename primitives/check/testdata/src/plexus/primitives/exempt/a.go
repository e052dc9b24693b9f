package exempt

import "time"

//plexus:allow PX001 // want `PX000: exemption without a reason`
var refusedWithoutReason = time.Now

var refusedUnknown = 1 //plexus:allow PX999 whatever // want `PX000: exemption from an unknown rule "PX999"`

var refusedStale = 1 //plexus:allow PX001 no clock here // want `PX000: exemption from PX001 without a finding`

//plexus:allow PX001 the package is not listed // want `PX000: no exemptions in plexus/primitives/exempt`
var refusedHere = time.Now
