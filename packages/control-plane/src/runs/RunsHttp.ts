import { ControlPlaneApi, runNotFound } from "@runplane/api"
import type { RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import type { SqlError } from "effect/sql/SqlError"
import { currentCaller } from "../http/CurrentCaller.ts"
import { jsonPages, jsonText, type TextPage } from "../http/JsonAnswer.ts"
import { ARTIFACTS_PER_READ, type ArtifactPlace, ArtifactRepository } from "./ArtifactRepository.ts"
import { RunDocuments } from "./RunDocuments.ts"
import { RunRepository } from "./RunRepository.ts"
import { Runs } from "./Runs.ts"

/** Messages read from the database at a time; an answer of more is sent piece by piece. */
export const MESSAGES_PER_READ = 1_000

/** The `runs` group (http-details sections 4.1 to 4.6 and 4.10); stored JSON goes out as it is. */
export const RunsHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "runs",
  Effect.fn(function* (handlers) {
    const artifacts = yield* ArtifactRepository
    const documents = yield* RunDocuments
    const repository = yield* RunRepository
    const runs = yield* Runs

    const found = <A>(reference: string, query: Effect.Effect<A | undefined, SqlError>) =>
      Effect.flatMap(Effect.orDie(query), (value) =>
        value === undefined ? Effect.fail(runNotFound(reference)) : Effect.succeed(value)
      )
    const resolve = (reference: string) => found(reference, repository.resolve(reference))

    const messages = (runId: RunId, after: number): Effect.Effect<TextPage<SqlError>, SqlError> =>
      Effect.map(documents.messages(runId, after, MESSAGES_PER_READ), (page) => {
        const opening = after === 0 ? "[" : page.length === 0 ? "" : ","
        const text = opening + page.map(({ json }) => json).join(",")
        const last = page.at(-1)
        if (last === undefined || page.length < MESSAGES_PER_READ) return { text: `${text}]` }
        return { text, next: messages(runId, last.ordinal) }
      })

    const listArtifacts = (
      runId: RunId,
      after: ArtifactPlace | undefined
    ): Effect.Effect<TextPage<SqlError>, SqlError> =>
      Effect.map(artifacts.page(runId, after, ARTIFACTS_PER_READ), (page) => {
        const opening = after === undefined ? "[" : page.length === 0 ? "" : ","
        const text = opening + page.map(({ json }) => json).join(",")
        const last = page.at(-1)
        if (last === undefined || page.length < ARTIFACTS_PER_READ) return { text: `${text}]` }
        return { text, next: listArtifacts(runId, last) }
      })

    return handlers.handleAll({
      create: ({ payload }) => Effect.flatMap(currentCaller, (who) => runs.create(payload, who)),
      validate: ({ payload }) => runs.validate(payload),
      // The records of a page are ours already: checking up to 200 of them against the schema again is not worth its time.
      list: ({ query }) => Effect.map(runs.list(query), (page) => HttpServerResponse.jsonUnsafe(page)),
      get: ({ params }) => runs.get(params.id),
      state: ({ params }) => Effect.map(found(params.id, documents.state(params.id)), jsonText),
      metrics: ({ params }) => Effect.map(found(params.id, documents.metrics(params.id)), jsonText),
      artifacts: ({ params }) =>
        Effect.flatMap(resolve(params.id), (id) => Effect.map(Effect.orDie(listArtifacts(id, undefined)), jsonPages)),
      messages: ({ params }) =>
        Effect.flatMap(resolve(params.id), (id) => Effect.map(Effect.orDie(messages(id, 0)), jsonPages)),
      cancel: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (who) => runs.cancel(params.id, payload.reason, who)),
      suspend: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (who) => runs.suspend(params.id, payload.reason, who)),
      resume: ({ params, payload }) =>
        Effect.flatMap(currentCaller, (who) => runs.resume(params.id, payload.reason, who))
    })
  })
)
