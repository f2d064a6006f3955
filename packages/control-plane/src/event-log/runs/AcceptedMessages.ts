import * as PgClient from "@effect/sql-pg/PgClient"
import type { AcceptedMessage } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { sha256 } from "../../platform/Sha256.ts"
import { messageKeyOf } from "./MessageKey.ts"

/** The accepted messages of sessions, as their frames have them (docs/reference/runs.md#messages). */
export class AcceptedMessages extends Context.Service<
  AcceptedMessages,
  {
    /** Undefined when the log of the run does not have the message, or has only its refusal. */
    readonly find: (runId: RunId, messageId: string) => Effect.Effect<AcceptedMessage | undefined, SqlError>
  }
>()("runplane/control-plane/AcceptedMessages") {
  static readonly layer = Layer.effect(
    AcceptedMessages,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const isAccepted = sql.literal("f.kind = 'stream-envelope' AND f.payload ->> 'ambient' = 'false'")

      const find = Effect.fn("AcceptedMessages.find")(function* (runId: RunId, messageId: string) {
        // By the key of the message: only of a message that is there the frames of the run are searched.
        const [known] = yield* sql`
          SELECT FROM outbound_messages
          WHERE run_id = ${runId}::uuid AND message_id = ${messageKeyOf(messageId)} AND accepted`
        if (known === undefined) return undefined
        const [frame] = yield* sql<FrameRow>`
          SELECT f.ts, f.payload #>> '{envelope,messageType}' AS type, f.payload #>> '{envelope,sender}' AS sender,
                 f.payload #>> '{envelope,payloadBase64}' AS payload,
                 f.payload #> '{envelope,redacted}' IS NOT NULL AS redacted,
                 (SELECT count(*)::int FROM raw_events f WHERE f.run_id = found.run_id AND f.seq <= found.seq
                  AND ${isAccepted}) AS ordinal
          FROM (SELECT f.run_id, f.seq FROM raw_events f
                WHERE f.run_id = ${runId}::uuid AND ${isAccepted}
                  AND f.payload #>> '{envelope,messageId}' = ${messageId} ORDER BY f.seq LIMIT 1) AS found
          JOIN raw_events f ON f.run_id = found.run_id AND f.seq = found.seq`
        return frame && messageOf(messageId, frame)
      })
      return AcceptedMessages.of({ find })
    })
  )
}

interface FrameRow {
  readonly ts: Date
  readonly type: string | null
  readonly sender: string | null
  /** Null where the database refused the bytes, empty where they were erased. */
  readonly payload: string | null
  readonly redacted: boolean
  readonly ordinal: number
}

const messageOf = (messageId: string, { ordinal, payload, redacted, sender, ts, type }: FrameRow): AcceptedMessage => ({
  messageId,
  messageType: type ?? "",
  sender: sender ?? "",
  ordinal,
  ...(payload !== null &&
    payload !== "" &&
    !redacted && { payloadSha256: Buffer.from(sha256(Buffer.from(payload, "base64"))).toString("hex") }),
  receivedAt: ts.toISOString()
})
