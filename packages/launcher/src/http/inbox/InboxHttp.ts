import { LauncherApi, launcherError } from "@runplane/api"
import { isUuid } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { NO_PEOPLE_DATABASE, People } from "../../people/People.ts"
import { itemNotFound, notOpen, passkeyError, personForbidden, questionError, returnError } from "./AnswerErrors.ts"
import { makeInboxCalls } from "./InboxCalls.ts"
import { makeInboxStream } from "./InboxStream.ts"
import { assignedAnswer, itemAnswer, listedItem, mayNotText, questionAnswer } from "./ItemAnswers.ts"
import { orAway } from "./OrAway.ts"
import { submitAnswer } from "./SubmitAnswer.ts"

/** The questions to people, and their answers (docs/reference/people.md#answering). */
export const InboxHttp = HttpApiBuilder.group(
  LauncherApi,
  "inbox",
  Effect.fnUntraced(function* (handlers) {
    const people = yield* People
    const { caller, nonceOf, passkeyPage, runOf, writer } = yield* makeInboxCalls
    const stream = yield* makeInboxStream
    const withPeople =
      people === undefined ? Effect.fail(launcherError("INVALID_CONFIG", NO_PEOPLE_DATABASE)) : Effect.succeed(people)

    return handlers.handleAll({
      list: ({ query, request }) =>
        Effect.gen(function* () {
          const { inbox } = yield* withPeople
          const { person, readsAll } = yield* caller(request)
          const { cursor, limit, scope, seat, state: states = ["open"] } = query
          if (scope === "all" && !readsAll) {
            return yield* launcherError("FORBIDDEN", "scope=all needs the role viewer, operator or admin")
          }
          const after = cursor === undefined || !isUuid(cursor) ? undefined : yield* inbox.positionOf(cursor)
          if (cursor !== undefined && after === undefined) {
            return yield* launcherError("VALIDATION_ERROR", "cursor is not one of this list", { field: "cursor" })
          }
          const rows = yield* inbox.list(person, { states, seat, after, limit, scope })
          const last = rows.length === limit ? rows.at(-1) : undefined
          return {
            data: rows.map(listedItem),
            limit,
            ...(last !== undefined && { nextCursor: last.id })
          }
        }).pipe(orAway),

      stream: ({ headers, query: { heartbeatMs }, request }) =>
        Effect.gen(function* () {
          const { changes } = yield* withPeople
          return yield* stream(changes, request, { heartbeatMs, lastEventId: headers["last-event-id"] })
        }).pipe(orAway),

      show: ({ params: { id }, request }) =>
        Effect.gen(function* () {
          const { inbox } = yield* withPeople
          const known = yield* caller(request)
          // A person has seen an item that it reads by itself, and that it could answer by its role.
          const isSeen = known.mayNot === undefined
          const shown = yield* inbox.show(known.person, id, { scope: known.readsAll ? "all" : "own", isSeen })
          if (shown === undefined) return yield* itemNotFound(id)
          const run = yield* runOf(shown.row.session_id)
          return itemAnswer(shown, known, { run, nonce: yield* nonceOf(request, id) })
        }).pipe(orAway),

      challenge: ({ headers, params: { id }, request }) =>
        Effect.gen(function* () {
          const { inbox, proofs } = yield* withPeople
          const person = yield* writer(request, id, headers["x-page-nonce"])
          const shown = yield* inbox.show(person, id, { scope: "own", isSeen: false })
          if (shown === undefined) return yield* itemNotFound(id)
          if (shown.right !== "answer") return yield* personForbidden(mayNotText(shown.right))
          if (shown.row.state !== "open") return yield* notOpen(shown.row.state)
          const page = yield* passkeyPage(request)
          const { known, nonce } = yield* Effect.catchTag(
            proofs.challenge(person.id, id, page),
            "PasskeyRefused",
            ({ why }) => Effect.fail(passkeyError(why))
          )
          return { nonce, rpId: page.rpId, passkeys: known.map(({ credentialId }) => credentialId) }
        }).pipe(orAway),

      answer: ({ headers, params: { id }, payload: { basis, passkey, proposalHash, ...content }, request }) =>
        Effect.gen(function* () {
          const people = yield* withPeople
          const person = yield* writer(request, id, headers["x-page-nonce"])
          const signed = passkey && { assertion: passkey, page: yield* passkeyPage(request) }
          return yield* submitAnswer(people, id, person, { content, proposalHash, basis, passkey: signed })
        }).pipe(orAway),

      question: ({ headers, params: { id }, payload: { text }, request }) =>
        Effect.gen(function* () {
          const { questions } = yield* withPeople
          const person = yield* writer(request, id, headers["x-page-nonce"])
          const all = yield* Effect.catchTag(questions.submit(id, person, text), "QuestionRefused", ({ why }) =>
            Effect.fail(questionError(why, id))
          )
          return { id, questions: all.map(questionAnswer) }
        }).pipe(orAway),

      return: ({ headers, params: { id }, payload: { reason, to }, request }) =>
        Effect.gen(function* () {
          const { inbox, returns } = yield* withPeople
          const person = yield* writer(request, id, headers["x-page-nonce"])
          yield* Effect.catchTag(returns.submit(id, person, { to, reason }), "ReturnRefused", ({ why }) =>
            Effect.fail(returnError(why, { id, to: to ?? "" }))
          )
          const shown = yield* inbox.show(person, id, { scope: "own", isSeen: false })
          if (shown === undefined) return yield* itemNotFound(id)
          return { id, ...assignedAnswer(shown) }
        }).pipe(orAway)
    })
  })
)
