/** All checks, in the order of their areas. */

import type { Check } from '../check.js'
import { accessChecks } from './access.js'
import { cardChecks } from './card.js'
import { equivalenceChecks } from './equivalence.js'
import { errorChecks } from './errors.js'
import { hardeningChecks } from './hardening.js'
import { listingChecks } from './listing.js'
import { messageChecks } from './messages.js'
import { pushChecks } from './push.js'
import { pushConfigChecks } from './push-configs.js'
import { stateChecks } from './states.js'
import { streamChecks } from './streams.js'
import { versionChecks } from './versions.js'

export const checks: readonly Check[] = [
  ...cardChecks,
  ...stateChecks,
  ...messageChecks,
  ...listingChecks,
  ...accessChecks,
  ...errorChecks,
  ...equivalenceChecks,
  ...streamChecks,
  ...pushConfigChecks,
  ...pushChecks,
  ...versionChecks,
  ...hardeningChecks,
]
