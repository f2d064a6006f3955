import { RunDescriptor, RunId, textAt } from "@runplane/domain"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** A run to be inserted; the values that `GET /runs` filters by have columns of their own. */
export interface NewRun {
  readonly id: RunId
  readonly mode: RunDescriptor["mode"]
  readonly modeName: string
  readonly runtimeKind: string
  readonly runtimeVersion: string | undefined
  readonly sessionId: string
  readonly traceId: string
  readonly spanId: string
  /** The span of the caller, as a W3C `traceparent`. */
  readonly traceParent: string | undefined
  readonly idempotencyKey: string | undefined
  readonly sourceKind: string | undefined
  readonly sourceRef: string | undefined
  readonly scenarioRef: string | undefined
  readonly environment: string | undefined
  readonly policyVersion: string | undefined
  readonly tags: ReadonlyArray<string>
  readonly metadata: Schema.JsonObject
  readonly searchText: string
  /** The start of a run that begins as `running`, because it has no session to wait for. */
  readonly runningSince?: string | undefined
}

export interface RunIdentity {
  readonly id: string
  readonly sessionId: string
  readonly traceId: string
  readonly spanId: string
  readonly traceParent?: string | undefined
}

/** The tag that every run of mode `sandbox` carries. */
const SANDBOX_TAG = "sandbox"

/** The run of a descriptor, with its metadata (docs/reference/runs.md#run-metadata). */
export const newRun = (descriptor: RunDescriptor, identity: RunIdentity): NewRun => {
  const { execution, session } = descriptor
  const given = session.metadata ?? {}
  const tags = tagsOf(descriptor)
  const run = {
    id: RunId.make(identity.id),
    mode: descriptor.mode,
    modeName: session.modeName,
    runtimeKind: descriptor.runtime.kind,
    runtimeVersion: descriptor.runtime.version,
    sessionId: identity.sessionId,
    traceId: identity.traceId,
    spanId: identity.spanId,
    traceParent: identity.traceParent,
    idempotencyKey: execution?.idempotencyKey,
    sourceKind: textAt(given, "source"),
    sourceRef: textAt(given, "sourceRef"),
    scenarioRef: textAt(given, "scenarioRef"),
    environment: textAt(given, "environment"),
    policyVersion: session.policyVersion,
    tags,
    metadata: {
      ...given,
      ...(execution?.requester !== undefined && { requester: { ...execution.requester } }),
      executionRequest: { ...descriptor, session: { ...session, sessionId: identity.sessionId } }
    }
  }
  return { ...run, searchText: searchTextOf(run) }
}

// It was accepted once, maybe under other rules.
const decodeDescriptor = Schema.decodeUnknownOption(RunDescriptor, { disableChecks: true })

/** The descriptor of a stored run; undefined when it was stored without one. */
export const storedDescriptor = (metadata: Schema.JsonObject): RunDescriptor | undefined =>
  Option.getOrUndefined(decodeDescriptor(metadata["executionRequest"]))

const tagsOf = ({ execution, mode }: RunDescriptor): ReadonlyArray<string> => {
  const tags = execution?.tags ?? []
  return mode === "sandbox" && !tags.includes(SANDBOX_TAG) ? [...tags, SANDBOX_TAG] : tags
}

/**
 * What the `search` filter looks through (docs/reference/runs.md#list-runs), one value a line so that no match spans
 * two of them. The database folds it (docs/reference/search.md#folding). A change of the tags of a run writes this text
 * again.
 */
export const searchTextOf = (
  run: Pick<NewRun, "environment" | "id" | "policyVersion" | "scenarioRef" | "sourceRef" | "tags">
): string =>
  [run.id, run.scenarioRef, run.environment, run.sourceRef, run.policyVersion, ...run.tags]
    .filter((value) => value !== undefined)
    .join("\n")
