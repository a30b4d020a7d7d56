/** The venues of the data file, all of them invented. */

import { type Feature, isFeature } from './features.js'
import data from './venues.json' with { type: 'json' }

export interface Venue {
  readonly id: string
  readonly name: string
  readonly city: string
  /** Seats. */
  readonly capacity: number
  /** In euros. */
  readonly pricePerDay: number
  readonly features: readonly Feature[]
}

export const venues: readonly Venue[] = data.map((venue) => ({ ...venue, features: venue.features.filter(isFeature) }))
