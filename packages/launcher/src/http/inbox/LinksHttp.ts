import { LauncherApi, launcherError, rateLimitExceeded } from "@runplane/api"
import { codeMail, MAX_SENT_CODES, maskedAddress, SHOWN_HASH_SIGNS } from "@runplane/domain"
import { makeWrongCredentials } from "@runplane/server"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { HttpApiBuilder } from "effect/http-api"
import { Directory } from "../../catalog/Directory.ts"
import type { SignedIn } from "../../people/Answers.ts"
import type { FoundLink } from "../../people/links/LinkRows.ts"
import type { LinkRefused } from "../../people/links/Links.ts"
import { Mailer } from "../../people/notices/Mailer.ts"
import { NO_PEOPLE_DATABASE, People } from "../../people/People.ts"
import { itemNotFound } from "./AnswerErrors.ts"
import { itemAnswer } from "./ItemAnswers.ts"
import { codesSpent, linkError, linkWithdrawn } from "./LinkErrors.ts"
import { orAway } from "./OrAway.ts"
import { submitAnswer } from "./SubmitAnswer.ts"

/** The answers of persons without a sign-in (docs/reference/people.md#links). No error and no log line has a token. */
export const LinksHttp = HttpApiBuilder.group(
  LauncherApi,
  "links",
  Effect.fnUntraced(function* (handlers) {
    const people = yield* People
    const directory = yield* Directory
    const mailer = yield* Mailer
    const random = yield* SecureRandom.SecureRandom
    const spendWrong = yield* makeWrongCredentials
    const withPeople =
      people === undefined ? Effect.fail(launcherError("INVALID_CONFIG", NO_PEOPLE_DATABASE)) : Effect.succeed(people)

    /** Tokens that are guessed spend the budget of wrong credentials. */
    const refuse = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.fnUntraced(function* ({ why }: LinkRefused) {
        if (why._tag === "unknown" && (yield* spendWrong(request)) !== undefined) return yield* rateLimitExceeded()
        return yield* linkError(why)
      })

    /** The person of a link, as the directory has it now. */
    const personOf = Effect.fnUntraced(function* ({ person: id, scenarioRef }: FoundLink) {
      const all = yield* directory.peopleOf(scenarioRef)
      const found = Object.hasOwn(all, id) ? all[id] : undefined
      if (found?.link === undefined || found.code === undefined) return yield* linkWithdrawn
      const pack = scenarioRef.split("/")[0] ?? ""
      const groups = new Map([[pack, found.groups ?? []]])
      const person: SignedIn = { id, groups: [], packGroups: groups, proof: "link", channel: "link" }
      return { person, codeAddress: found.code }
    })

    return handlers.handleAll({
      read: ({ payload: { token }, request }) =>
        Effect.gen(function* () {
          const { inbox, links } = yield* withPeople
          const link = yield* Effect.catchTag(links.find(token), "LinkRefused", refuse(request))
          const { codeAddress, person } = yield* personOf(link)
          const shown = yield* inbox.show(person, link.item, { scope: "own", isSeen: false })
          if (shown === undefined) return yield* itemNotFound(link.item)
          return {
            person: person.id,
            codeTo: maskedAddress(codeAddress),
            expiresAt: new Date(link.expiresAtUnixMs).toISOString(),
            codesLeft: Math.max(0, MAX_SENT_CODES - link.sentCodes),
            item: itemAnswer(
              shown,
              { person, mayNot: undefined, readsAll: false },
              { run: undefined, nonce: undefined }
            )
          }
        }).pipe(orAway),

      code: ({ payload: { token }, request }) =>
        Effect.gen(function* () {
          const { links } = yield* withPeople
          const link = yield* Effect.catchTag(links.find(token), "LinkRefused", refuse(request))
          const { codeAddress } = yield* personOf(link)
          if (mailer === undefined) return yield* notSent("the service has no mail server")
          const { code, left } = yield* Effect.catchTags(links.newCode(token), {
            LinkRefused: refuse(request),
            CodesSpent: () => Effect.fail(codesSpent)
          })
          const { question, scenarioRef: scenario, seat } = link
          const hash = question.proposalHash.slice(0, SHOWN_HASH_SIGNS)
          const id = yield* random.uuidV4()
          yield* Effect.catchTag(
            mailer.send({ id, to: codeAddress, ...codeMail(code, { seat, scenario, hash }) }),
            "MailRefused",
            ({ isFinal, reason }) =>
              Effect.gen(function* () {
                yield* Effect.logWarning(`a code of ${link.person} for item ${link.item} was not sent: ${reason}`)
                if (!isFinal) yield* links.dropCode(token)
                return yield* notSent(reason)
              })
          )
          return { codeTo: maskedAddress(codeAddress), codesLeft: left }
        }).pipe(orAway),

      answer: ({ payload: { basis, code, proposalHash, token, ...content }, request }) =>
        Effect.gen(function* () {
          const people = yield* withPeople
          const { links } = people
          const found = yield* Effect.catchTag(links.find(token), "LinkRefused", refuse(request))
          const { person } = yield* personOf(found)
          const { item: id } = yield* Effect.catchTag(links.check(token, code), "LinkRefused", refuse(request))
          return yield* submitAnswer(people, id, person, { content, proposalHash, basis })
        }).pipe(orAway)
    })
  })
)

const notSent = (reason: string) => Effect.fail(launcherError("CODE_NOT_SENT", `the code was not sent: ${reason}`))
