package control

import _ "plexus/engine/flow" // want `PX013: plexus/engine/control may not import plexus/engine/flow`
