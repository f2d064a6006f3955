import { createHash } from "node:crypto"
import {
  answersOf,
  contextIdOf,
  evaluationsOf,
  hasMessage,
  isFinal,
  isLastWord,
  isoTime,
  isStopped,
  noticePath,
  payloadTypeName,
  policyLines,
  type RemoteAgent,
  type RemoteEvent,
  type RemoteReply,
  type TurnContent,
  takesEvaluations,
  taskOfEvent,
  turnMessage,
  turnMessageId,
  usageOfReply
} from "@runplane/domain"
import { decodePayload } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { SqlError } from "effect/sql/SqlError"
import { RemoteAgents } from "../../remote/RemoteAgents.ts"
import type { RemoteFailure } from "../../remote/RemoteHttp.ts"
import type { ItemRow } from "../ItemRows.ts"
import type { SeatSession } from "../SeatSession.ts"
import { type TurnRow, TurnRows } from "./TurnRows.ts"

const NOTHING_YET: RemoteReply = {}

/** Bytes of the token of notices, which the row has as a hash alone. */
const TOKEN_BYTES = 32

export const tokenSha256 = (token: string): string => createHash("sha256").update(token).digest("hex")

/** The address of the service for the notices of agents; empty without one. */
export const NoticeAddress = Context.Reference<string>("runplane/launcher/NoticeAddress", { defaultValue: () => "" })

const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest()

/** The agent of a turn, and its position in the session. */
export interface Addressed {
  readonly agent: RemoteAgent
  readonly sessionId: string
  readonly participant: string
}

/** A turn with what its agent is sent. */
export interface Turn extends Addressed {
  readonly content: TurnContent
  readonly traceparent: string | undefined
}

const readJson = Schema.decodeUnknownOption(Schema.JsonObject)

/** What an agent is sent about an item, as the session is now. */
export const turnContentOf = ({ facts, row, rules, view }: SeatSession, item: ItemRow): TurnContent => {
  const subject = view.messages[item.subject - 1]
  const payloadType = payloadTypeName(row.modeName, subject?.statement.type ?? "")
  const isEarly = takesEvaluations(view)
  const decoded =
    subject?.payload === undefined || payloadType === undefined ? {} : decodePayload(payloadType, subject.payload)
  return {
    mode: view.mode,
    proposal: Option.getOrElse(readJson(decoded), () => ({})),
    evaluations: evaluationsOf(view, subject?.statement.proposalId ?? ""),
    policyInWords: facts.sessionRules === undefined ? [] : policyLines(facts.sessionRules),
    allowedActs: answersOf(view.mode, rules.acts).filter((act) => isLastWord(act) || isEarly),
    proposalHash: item.proposalHash,
    deadline: item.deadlineUnixMs === undefined ? undefined : isoTime(item.deadlineUnixMs)
  }
}

const contextOf = ({ participant, sessionId }: Addressed) => contextIdOf(sessionId, participant)
const messageIdOf = ({ participant, sessionId }: Addressed, { item, phase }: TurnRow) =>
  turnMessageId(sha1, { sessionId, participant, turn: item, phase })

/** Where the agent of a turn sends notices; undefined where its card offers none, or the service has no address. */
const makeNotices = Effect.gen(function* () {
  const rows = yield* TurnRows
  const random = yield* SecureRandom.SecureRandom
  const address = (yield* NoticeAddress).replace(/\/+$/, "")
  return Effect.fnUntraced(function* ({ agent }: Turn, { item }: TurnRow) {
    if (agent.interface.push !== true || address === "") return undefined
    const token = Hex.encode(yield* random.randomBytes(TOKEN_BYTES))
    yield* rows.noteToken(item, tokenSha256(token))
    return { id: item, url: `${address}${noticePath(item)}`, token }
  })
})

/**
 * The exchange with the agent of a turn. Each call goes one step on from the row: an answer that is lost is looked for
 * at the agent before its message is sent again, under the same id.
 */
export const makeTurnCalls = Effect.gen(function* () {
  const { calls } = yield* RemoteAgents
  const rows = yield* TurnRows
  const noticesOf = yield* makeNotices

  /** Follows a stream to its end, or to that of the task. It shows which task it is; `get` reads the answer. */
  const follow = Effect.fnUntraced(function* (row: TurnRow, events: Stream.Stream<RemoteEvent, RemoteFailure>) {
    let known = row.isReceived ? row.taskId : undefined
    let message: RemoteEvent["message"]
    const followed = yield* Effect.result(
      events.pipe(
        Stream.tap((event) => {
          const taskId = taskOfEvent(event)
          if (event.message !== undefined && taskId === undefined) {
            message = event.message
            return rows.noteReceived(row.item, undefined)
          }
          if (taskId === undefined || taskId === known) return Effect.void
          known = taskId
          return rows.noteReceived(row.item, taskId)
        }),
        Stream.takeUntil(
          ({ message, statusUpdate, task }) =>
            message !== undefined || isStopped(task?.status?.state ?? statusUpdate?.status?.state)
        ),
        Stream.runDrain
      )
    )
    if (message !== undefined) return { message } satisfies RemoteReply
    // What is known of the task is read next, whatever broke the stream.
    if (Result.isFailure(followed) && known === undefined) return yield* followed.failure
    return NOTHING_YET
  })

  /** Sends the message of the phase. The reply has the state of the task where that is settled. */
  const send = Effect.fnUntraced(function* (turn: Turn, row: TurnRow) {
    const { agent, content, traceparent } = turn
    const message = turnMessage(content, {
      contextId: contextOf(turn),
      messageId: messageIdOf(turn, row),
      phase: row.phase,
      taskId: row.phase === "repair" ? row.repairedTaskId : row.taskId,
      traceparent
    })
    yield* rows.noteSend(row.item)
    const sending = { traceparent, notices: yield* noticesOf(turn, row) }
    // The stream of a follow-up may begin with the state before it.
    if (agent.interface.streaming && row.phase !== "input") {
      return yield* follow(row, calls.stream(agent, message, sending))
    }
    const reply = yield* calls.send(agent, message, { ...sending, waits: row.phase === "input" })
    yield* rows.noteReceived(row.item, reply.task?.id)
    return reply
  })

  /** The task of a message whose answer is lost; undefined where the agent shows none. */
  const lookUp = Effect.fnUntraced(function* (turn: Addressed, row: TurnRow) {
    const messageId = messageIdOf(turn, row)
    const listed = yield* Effect.result(calls.list(turn.agent, contextOf(turn)))
    // An agent that has no list cannot show the task.
    if (Result.isFailure(listed)) return listed.failure.kind === "away" ? yield* listed.failure : undefined
    const found = listed.success.find((task) => hasMessage(task, messageId))
    if (found !== undefined) yield* rows.noteReceived(row.item, found.id)
    return found
  })

  const get = ({ agent }: Turn, { item, phase }: TurnRow, taskId: string) =>
    calls.get(agent, taskId).pipe(
      Effect.map((task): RemoteReply => ({ task })),
      Effect.catchTag(
        "RemoteFailure",
        (failure): Effect.Effect<RemoteReply, RemoteFailure | SqlError> =>
          failure.kind === "not-found" && phase !== "input"
            ? Effect.as(rows.forgetTask(item), NOTHING_YET)
            : Effect.fail(failure)
      )
    )

  /** One step of the exchange: what the agent answers now. A reply without task and message says nothing yet. */
  const exchange = Effect.fn("TurnCalls.exchange")(function* (turn: Turn, row: TurnRow) {
    const { isReceived, phase, sends, taskId } = row
    if (isReceived && taskId !== undefined) return yield* get(turn, row, taskId)
    if (sends === 0) return yield* send(turn, row)
    if (phase === "input" && taskId !== undefined) {
      const reply = yield* get(turn, row, taskId)
      const isThere = reply.task !== undefined && hasMessage(reply.task, messageIdOf(turn, row))
      const waits = reply.task?.status?.state === "TASK_STATE_INPUT_REQUIRED"
      if (waits && !isThere) return yield* send(turn, row)
      yield* rows.noteReceived(row.item, undefined)
      return reply
    }
    const found = yield* lookUp(turn, row)
    // A list has no artifacts.
    return found === undefined ? yield* send(turn, row) : yield* get(turn, row, found.id)
  })

  return {
    exchange: Effect.fnUntraced(function* (turn: Turn, row: TurnRow) {
      const reply = yield* exchange(turn, row)
      const usage = usageOfReply(reply)
      if (usage !== undefined) yield* rows.noteUsage(row, usage)
      return reply
    }),

    /** Waits on the stream of a task that was read and goes on, where the agent has streams. */
    watch: Effect.fnUntraced(function* ({ agent, traceparent }: Turn, row: TurnRow) {
      if (!agent.interface.streaming || row.taskId === undefined) return
      yield* Effect.ignore(follow(row, calls.subscribe(agent, row.taskId, traceparent)))
    }),

    /** Cancels the task of a turn that is over, once; an agent that does not answer is left alone. */
    cancel: Effect.fn("TurnCalls.cancel")(function* (turn: Addressed, row: TurnRow) {
      const { agent } = turn
      const taskId = row.taskId ?? (row.sends === 0 ? undefined : (yield* lookUp(turn, row))?.id)
      if (taskId === undefined) return
      const state = (yield* calls.get(agent, taskId)).status?.state
      if (!isFinal(state)) yield* calls.cancel(agent, taskId)
    })
  }
})
