/** All planted defects. */

import { accessDefects } from './access.js'
import { cardDefects } from './card.js'
import type { Defect } from './defect.js'
import { envelopeDefects } from './envelopes.js'
import { equivalenceDefects } from './equivalence.js'
import { errorDefects } from './errors.js'
import { hardeningDefects } from './hardening.js'
import { listingDefects } from './listing.js'
import { messageDefects } from './messages.js'
import { pushDefects } from './push.js'
import { pushConfigDefects } from './push-configs.js'
import { stateDefects } from './states.js'
import { streamDefects } from './streams.js'
import { versionDefects } from './versions.js'

export const defects: readonly Defect[] = [
  ...cardDefects,
  ...stateDefects,
  ...messageDefects,
  ...listingDefects,
  ...accessDefects,
  ...errorDefects,
  ...envelopeDefects,
  ...equivalenceDefects,
  ...streamDefects,
  ...pushConfigDefects,
  ...pushDefects,
  ...versionDefects,
  ...hardeningDefects,
]
