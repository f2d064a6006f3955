import {
  ControlPlaneApi,
  DEFAULT_WAIT_MS,
  messageNotFound,
  notArchived,
  runNotFound,
  runQueryFields
} from "@runplane/api"
import type { RunId } from "@runplane/domain"
import { withBudgetRetry } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import type { SqlError } from "effect/sql/SqlError"
import { RunStateReader } from "../event-log/projection/RunStateReader.ts"
import { AcceptedMessages } from "../event-log/runs/AcceptedMessages.ts"
import { ARTIFACTS_PER_READ, type ArtifactPosition, ArtifactRepository } from "../event-log/runs/ArtifactRepository.ts"
import { endOfReading, type RunGone } from "../event-log/runs/RunGone.ts"
import { RunRepository } from "../event-log/runs/RunRepository.ts"
import { asCaller } from "../platform/http/CurrentCaller.ts"
import { jsonPages, jsonText, type TextPage } from "../platform/http/JsonAnswer.ts"
import { orUnavailable } from "../platform/http/OutageAnswers.ts"
import { orSearchRefused } from "../platform/http/SearchAnswers.ts"
import { RunDocuments } from "../queries/runs/RunDocuments.ts"
import { RunList } from "../queries/runs/RunList.ts"
import { Runs } from "../runs/Runs.ts"

/** Messages read from the database at a time, fewer when they are large; an answer of more is sent piece by piece. */
export const MESSAGES_PER_READ = 1_000

/** The `runs` group; stored JSON goes out as it is. */
export const RunsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "runs",
  Effect.fnUntraced(function* (handlers) {
    const accepted = yield* AcceptedMessages
    const artifacts = yield* ArtifactRepository
    const documents = yield* RunDocuments
    const states = yield* RunStateReader
    const repository = yield* RunRepository
    const lists = yield* RunList
    const runs = yield* Runs

    const found = <A>(reference: string, query: Effect.Effect<A | undefined, SqlError>) =>
      Effect.flatMap(query, (value) =>
        value === undefined ? Effect.fail(runNotFound(reference)) : Effect.succeed(value)
      )
    const resolve = (reference: string) => found(reference, repository.resolve(reference))

    type Page = TextPage<SqlError | RunGone>
    /** Reads on; a run that is gone by the last of the pages is not listed in part. */
    const readOn = <E>(runId: RunId, page: Effect.Effect<Page, E>): Effect.Effect<Page, E | SqlError | RunGone> =>
      Effect.tap(page, ({ next }) => (next === undefined ? endOfReading(runId, repository.status(runId)) : Effect.void))

    const messages = (runId: RunId, after: number): Effect.Effect<Page, SqlError> =>
      Effect.map(documents.messages(runId, after, MESSAGES_PER_READ), ({ isCut, rows }) => {
        const last = rows.at(-1)
        const isEnd = last === undefined || (!isCut && rows.length < MESSAGES_PER_READ)
        const text = listed(rows, after === 0, isEnd)
        return isEnd ? { text } : { text, next: readOn(runId, messages(runId, last.ordinal)) }
      })

    /** A run has no messages either when no agent has sent one, or when it has left the database. */
    const firstMessages = Effect.fnUntraced(function* (runId: RunId) {
      const page = yield* messages(runId, 0)
      if (page.text !== "[]" || (yield* repository.find(runId))?.record.storage !== "archive") return page
      return yield* notArchived(runId, "messages")
    })

    const acceptedMessage = Effect.fnUntraced(function* (runId: RunId, messageId: string) {
      const message = yield* accepted.find(runId, messageId)
      if (message !== undefined) return message
      const isCold = (yield* repository.find(runId))?.record.storage === "archive"
      return yield* isCold ? notArchived(runId, "messages") : messageNotFound(runId, messageId)
    })

    const listArtifacts = (runId: RunId, after: ArtifactPosition | undefined): Effect.Effect<Page, SqlError> =>
      Effect.map(artifacts.page(runId, after, ARTIFACTS_PER_READ), ({ isCut, rows }) => {
        const last = rows.at(-1)
        const isEnd = last === undefined || (!isCut && rows.length < ARTIFACTS_PER_READ)
        const text = listed(rows, after === undefined, isEnd)
        return isEnd ? { text } : { text, next: readOn(runId, listArtifacts(runId, last)) }
      })

    return handlers.handleAll({
      create: ({ payload }) => withBudgetRetry(asCaller((caller) => runs.create(payload, caller))),
      validate: ({ payload }) => runs.validate(payload),
      list: ({ query }) => orUnavailable(Effect.map(orSearchRefused(runQueryFields)(lists.list(query)), jsonPages)),
      get: ({ params, query }) =>
        orUnavailable(
          Effect.map(
            query.wait === undefined
              ? runs.read(params.id)
              : runs.readEnded(params.id, query.timeoutMs ?? DEFAULT_WAIT_MS),
            jsonText
          )
        ),
      state: ({ params }) =>
        orUnavailable(Effect.map(found(params.id, states.current(params.id)), ({ state }) => jsonText(state))),
      metrics: ({ params }) => orUnavailable(Effect.map(found(params.id, documents.metrics(params.id)), jsonText)),
      artifacts: ({ params }) =>
        orUnavailable(Effect.flatMap(resolve(params.id), (id) => Effect.map(listArtifacts(id, undefined), jsonPages))),
      messages: ({ params }) =>
        orUnavailable(Effect.flatMap(resolve(params.id), (id) => Effect.map(firstMessages(id), jsonPages))),
      message: ({ params }) =>
        orUnavailable(Effect.flatMap(resolve(params.id), (id) => acceptedMessage(id, params.messageId))),
      cancel: ({ params, payload }) => asCaller((caller) => runs.cancel(params.id, payload.reason, caller)),
      suspend: ({ params, payload }) => asCaller((caller) => runs.suspend(params.id, payload.reason, caller)),
      resume: ({ params, payload }) => asCaller((caller) => runs.resume(params.id, payload.reason, caller)),
      abandon: ({ params, payload }) => asCaller((caller) => runs.abandon(params.id, payload.reason, caller))
    })
  })
)

/** A part of a JSON array. */
const listed = (rows: ReadonlyArray<{ readonly json: string }>, isFirst: boolean, isLast: boolean): string => {
  const opening = isFirst ? "[" : rows.length === 0 ? "" : ","
  return `${opening}${rows.map(({ json }) => json).join(",")}${isLast ? "]" : ""}`
}
