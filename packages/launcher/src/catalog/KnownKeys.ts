import { meantName, SEAT_KEYS, TURN_KEYS } from "@runplane/domain"
import { isJsonObject, type Json } from "../common/Json.ts"
import type { PackFault } from "./PackFault.ts"

/**
 * The keys of a block; `free` is a block whose keys are the author's own. A list has the keys of its elements. The key
 * `*` is every other one, a name of the author's.
 */
export type KnownKeys = "free" | { readonly [key: string]: KnownKeys }

const free = "free"

const runtime: KnownKeys = { kind: free, version: free }

const execution: KnownKeys = {
  idempotencyKey: free,
  tags: free,
  requester: { actorId: free, actorType: free }
}

const launch: KnownKeys = {
  people: {
    "*": { ...Object.fromEntries(SEAT_KEYS.map((key) => [key, free] as const)), escalate: { after: free, to: free } }
  },
  a2a: { "*": Object.fromEntries(TURN_KEYS.map((key) => [key, free] as const)) },
  modeName: free,
  modeVersion: free,
  configurationVersion: free,
  policyVersion: free,
  policyHints: {
    type: free,
    description: free,
    threshold: free,
    vetoEnabled: free,
    criticalSeverityVetoes: free,
    vetoThreshold: free,
    vetoRoles: free,
    minimumConfidence: free,
    designatedRoles: free
  },
  ttlMs: free,
  maxSuspendMs: free,
  initiatorParticipantId: free,
  participants: {
    id: free,
    role: free,
    agentRef: free,
    displayName: free,
    description: free,
    transportIdentity: free,
    metadata: free
  },
  shadows: { as: free, agent: free },
  commitments: { id: free, title: free, description: free, requiredRoles: free, policyRef: free },
  contextTemplate: free,
  contextId: free,
  extensions: free,
  kickoffTemplate: {
    from: free,
    to: free,
    kind: free,
    messageType: free,
    payload: free,
    payloadEnvelope: {
      encoding: free,
      json: free,
      text: free,
      base64: free,
      mediaType: free,
      metadata: free,
      proto: { typeName: free, value: free }
    }
  },
  metadataTemplate: free
}

/** The keys of `pack.yaml`. */
export const PACK_KEYS: KnownKeys = {
  apiVersion: free,
  kind: free,
  metadata: { slug: free, name: free, description: free, tags: free }
}

/** The keys of `people.yaml`. */
export const DIRECTORY_KEYS: KnownKeys = {
  people: { "*": { name: free, groups: free, email: free, slack: free, link: free, code: free } }
}

/** The keys of `scenario.yaml`, those that have no effect yet included. */
export const SCENARIO_KEYS: KnownKeys = {
  apiVersion: free,
  kind: free,
  metadata: { pack: free, scenario: free, version: free, name: free, summary: free, tags: free, deprecated: free },
  spec: {
    publish: free,
    runtime,
    inputs: { schema: free },
    launch,
    execution,
    outputs: { expectedDecisionKinds: free, expectedSignals: free }
  }
}
export const TEMPLATE_KEYS: KnownKeys = {
  apiVersion: free,
  kind: free,
  metadata: { slug: free, name: free, scenarioVersion: free, description: free, summary: free, tags: free },
  spec: { defaults: free, overrides: { runtime, launch, execution } }
}

/** Unknown keys of one file that are reported. */
const MAX_REPORTED = 50

/**
 * Keys that the format does not have, the first ones of a file (docs/internals/launch.md#faults). A key that
 * nearly equals a key of the format is a misspelling and an error, because its value is lost. Other keys have no
 * effect. Keys that begin with `_`, `$` or `x-` are the author's own.
 */
export const unknownKeys = (document: Json, known: KnownKeys): ReadonlyArray<PackFault> => {
  const found: Array<PackFault> = []
  for (const fault of strangers(document, known, [])) {
    if (found.push(fault) >= MAX_REPORTED) break
  }
  return found
}

function* strangers(value: Json | undefined, known: KnownKeys, at: ReadonlyArray<string>): Generator<PackFault> {
  if (known === free || value === undefined) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* strangers(item, known, [...at, `${index}`])
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const own = Object.hasOwn(known, key) ? known[key] : known["*"]
      if (own !== undefined) yield* strangers(item, own, [...at, key])
      else if (!/^(_|\$|x-)/.test(key)) yield unknownKey(key, Object.keys(known), at)
    }
  }
}

const unknownKey = (key: string, names: ReadonlyArray<string>, parent: ReadonlyArray<string>): PackFault => {
  const at = [...parent, key]
  const name = at.join(".")
  const meant = meantName(key, names)
  return meant === undefined
    ? { level: "warning", at, message: `${name} is not a key of the format and has no effect: remove it` }
    : { level: "error", at, message: `${name} is not a key of the format: write ${meant}` }
}
