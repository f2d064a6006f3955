import type { Run } from "@runplane/api"
import { queryValue } from "../query/QueryCompletion.ts"

const PREFIX = "gate:"

/** The gate of a run by its tag `gate:<id>`; undefined for other runs. */
export const gateIdOf = ({ tags = [] }: Pick<Run, "tags">): string | undefined =>
  tags.find((tag) => tag.startsWith(PREFIX))?.slice(PREFIX.length)

/** The search for the runs of a gate, or of one of its cases. */
export const gateSearch = (gateId: string, name?: string): string =>
  `tags:${queryValue(PREFIX + gateId)}${name === undefined ? "" : ` metadata.gate.case:${queryValue(name)}`}`

/** Runs that a gate launched. */
export const ANY_GATE = "has:metadata.gate.case"

export const gatePage = (gateId: string): string => `/gates/${encodeURIComponent(gateId)}`

/** The runs that a search finds, archived ones included. */
export const runsPage = (q: string): string => `/runs?${new URLSearchParams({ q, archived: "true" }).toString()}`

export const stabilityPage = (q: string): string => `/stability?${new URLSearchParams({ q }).toString()}`

/** The search for all runs of a scenario. */
export const scenarioSearch = (scenario: string): string => `scenario:${queryValue(scenario)}`
