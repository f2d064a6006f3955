import { badRequest } from "@runplane/api"
import type { RunDescriptor } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { storedDescriptor } from "../event-log/runs/NewRun.ts"
import { DISCOVERY_SOURCE } from "../event-log/runs/RunRepository.ts"
import type { StoredRun } from "../event-log/runs/RunRow.ts"

/**
 * The descriptor of a run like this one: the stored one, without the session's id and the idempotency key, which belong
 * to the original alone (docs/reference/http.md#clone). Fails when the run was stored without a descriptor.
 */
export const cloneDescriptor = (run: StoredRun, tags: ReadonlyArray<string> | undefined) => {
  const stored = storedDescriptor(run.record.metadata)
  if (stored === undefined) return Effect.fail(badRequest("run does not have an execution request in metadata"))
  const { sessionId, ...session } = stored.session
  const { idempotencyKey, ...execution } = stored.execution ?? {}
  return Effect.succeed<RunDescriptor>({
    ...stored,
    session: { ...session, ...(session.metadata !== undefined && { metadata: ownMetadata(session.metadata) }) },
    execution: { ...execution, ...(tags !== undefined && { tags }) }
  })
}

/**
 * The metadata that is true of the clone too: not the address at which somebody cancels the session of the original,
 * nor how that session was found, which would let another descriptor claim the clone.
 */
const ownMetadata = ({ cancelCallback, earlierRunId, ...metadata }: Schema.JsonObject): Schema.JsonObject => {
  if (metadata["source"] !== DISCOVERY_SOURCE) return metadata
  const { discoveredAt, source, ...rest } = metadata
  return rest
}
